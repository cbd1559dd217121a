import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import type { Boot } from '../boot.ts';
import type { ResourceRecord } from '../resources/resource-record.ts';
import type { ConsoleLog } from './console-log.ts';
import type { InstanceFields } from './instance-fields.ts';

type Instance = ResourceRecord<InstanceFields>;

export interface PowerOptions {
  readonly boot: Boot | undefined;
  readonly consoles: ConsoleLog;
  readonly log: Log;
  readonly real: Clock;
  /** The disk of an instance is there: its devices must be, before anything looks for them. */
  readonly onPowered: (instanceId: string) => Promise<void>;
}

interface Switch {
  /** What the instance is, as far as it was told. */
  isOn: boolean;
  wanted: Instance;
  running: Promise<void> | undefined;
}

/** Real time that a node has to come or go before the cloud goes on without it. */
const PATIENCE_MS = 30_000;

/** Only a running instance has power: not one that is about to be. */
export const isPowered = ({ state }: Instance): boolean => state === 'running';

/** Makes instances nodes and takes the nodes away again, one step after the other for each instance (C14). */
export class Power {
  readonly #options: PowerOptions;
  /** By instance; forgotten with it. */
  readonly #switches = new Map<string, Switch>();
  #isStopped = false;

  constructor(options: PowerOptions) {
    this.#options = options;
  }

  /** The instance is to be as its state says. What takes long goes on alone: `settled` waits for it. */
  want(instance: Instance): void {
    const known = this.#switches.get(instance.id) ?? { isOn: false, wanted: instance, running: undefined };
    this.#switches.set(instance.id, known);
    known.wanted = instance;
    // A node that is still starting goes at once: nobody waits for it to be complete first.
    if (known.running !== undefined && known.isOn && !isPowered(instance))
      void this.#switched(known, () => this.#off(instance));
    known.running ??= this.#follow(known).finally(() => {
      known.running = undefined;
    });
  }

  /** Resolves when the instance is as it was last wanted, or takes too long to become so. */
  async settled(instanceId: string): Promise<void> {
    const running = this.#switches.get(instanceId)?.running;
    if (running === undefined) return;
    const onTimeout = () => new Error(`not within ${PATIENCE_MS / 1000} s`);
    try {
      await withDeadline({ clock: this.#options.real, timeoutMs: PATIENCE_MS, onTimeout }, () => running);
    } catch (err) {
      this.#options.log.warn(
        { err, instance: instanceId },
        'Going on without waiting for the node of an instance',
      );
    }
  }

  /** Nothing is begun any more. What goes on is the business of those who run the nodes. */
  stop(): void {
    this.#isStopped = true;
  }

  forget(instanceId: string): void {
    this.#switches.delete(instanceId);
  }

  /** Until it is as wanted; what is wanted may change meanwhile. Never rejects. */
  async #follow(known: Switch): Promise<void> {
    // Also so that a caller has its promise before anything ends.
    await Promise.resolve();
    while (!this.#isStopped && known.isOn !== isPowered(known.wanted)) {
      const { wanted } = known;
      known.isOn = isPowered(wanted);
      await this.#switched(known, () => (known.isOn ? this.#on(wanted) : this.#off(wanted)));
    }
  }

  async #switched({ wanted }: Switch, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (err) {
      this.#options.log.error({ err, instance: wanted.id }, 'Could not switch an instance');
    }
  }

  async #on(instance: Instance): Promise<void> {
    const { boot, consoles, onPowered } = this.#options;
    const { id, name, tags, fields } = instance;
    const print = (line: string) => consoles.print(id, line);
    print(`power on: ${fields.type} in zone ${fields.zone}, image ${fields.imageId ?? 'none'}`);
    const userData = textOf(instance.hidden?.['userData'] ?? '');
    if (userData === undefined) return print('user data is not UTF-8 text: nothing is booted');
    if (boot === undefined) return print('this cloud has no nodes: nothing is booted');
    print(`user data: ${Buffer.byteLength(userData)} bytes`);
    const { zone, privateAddress, hostname, providerID: providerId } = fields;
    const booted = { id, name, zone, providerId, privateAddress, hostname, userData, tags };
    await boot.powerOn(booted, print, () => onPowered(id));
  }

  async #off({ id }: Instance): Promise<void> {
    this.#options.consoles.print(id, 'power off');
    await this.#options.boot?.powerOff(id);
  }
}

/** Undefined for bytes that are no text. */
function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}
