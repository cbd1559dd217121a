import { type Node, Node as NodeKind } from '../../api/generated/core-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { createManager, type Manager } from '../../kube/manager/create-manager.ts';
import type { LabClock } from '../clock/lab-clock.ts';
import type { LateTransport } from './late-transport.ts';
import { type Heartbeat, startHeartbeat } from './registration/heartbeat.ts';
import type { NodeFactsProvider } from './registration/node-facts.ts';
import { type NodeSettings, newNode } from './registration/node-object.ts';
import { type RegisteredNode, registerNode } from './registration/register-node.ts';
import type { WayIn } from './registration/way-in.ts';
import { mirrorPods } from './static-pods/mirror-pods.ts';
import type { StaticPodSource } from './static-pods/static-pod-source.ts';

export interface EntryOptions {
  readonly settings: NodeSettings;
  readonly way: WayIn;
  readonly clock: LabClock;
  readonly real: Clock;
  readonly log: Log;
}

export interface EntryParts {
  readonly late: LateTransport;
  readonly facts: NodeFactsProvider;
  readonly staticPods: StaticPodSource;
  /** Of plugins, to be run as the node. */
  readonly controllers: readonly Controller[];
}

/** What a node does in its cluster besides running pods: registers, beats, and shows its static pods. */
export class NodeEntry implements AsyncDisposable {
  readonly #options: EntryOptions;
  readonly #parts: EntryParts;
  readonly #stack = new AsyncDisposableStack();
  #registered: RegisteredNode | undefined;
  #heartbeat: Heartbeat | undefined;
  #manager: Manager | undefined;
  #isPartitioned = false;
  #isSilent = false;

  constructor(options: EntryOptions, parts: EntryParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** As the server has it, as it registered, or as it would. */
  get node(): Node {
    const { settings } = this.#options;
    const { system, capacity, allocatable } = this.#parts.facts();
    const known = this.#seen ?? this.#registered?.node;
    if (known !== undefined) return known;
    const status = { capacity: { ...capacity }, allocatable: { ...capacity, ...allocatable } };
    return { apiVersion: 'v1', kind: 'Node', ...newNode(settings, system), status };
  }

  get #seen(): Node | undefined {
    const informer = this.#manager?.cache.informer(NodeKind);
    return informer?.isSynced === true ? informer.get({ name: this.#options.settings.name }) : undefined;
  }

  async start(signal: AbortSignal): Promise<void> {
    const { settings, way, clock, real, log } = this.#options;
    const { late, facts, staticPods, controllers } = this.#parts;
    const hold = (reason: string) => clock.hold(reason);
    const registered = await registerNode({ settings, facts, way, clock, real, log, hold, signal });
    this.#registered = registered;
    this.#stack.use(registered);
    late.found(registered.transport);
    registered.partition(this.#isPartitioned);
    const { client, version, wasAdopted } = registered;
    const common = { settings, facts, version, client, clock, log };
    const heartbeat = startHeartbeat({ ...common, seen: () => this.#seen, isReported: !wasAdopted });
    this.#heartbeat = this.#stack.use(heartbeat);
    if (this.#isSilent) await heartbeat.stopHeartbeat();
    const manager = createManager({
      name: 'kubelet',
      kube: registered.transport,
      fieldManager: 'slipway/lab',
      hostname: settings.name,
      clock,
      log,
      selfCheck: false,
      cache: {
        byKind: {
          pods: { fields: `spec.nodeName=${settings.name}` },
          nodes: { fields: `metadata.name=${settings.name}` },
        },
      },
      // The API server may be away for as long as it likes.
      controllers: { cacheSyncTimeoutMs: FOR_EVER_MS },
      signal,
    });
    const mirrors = mirrorPods({ node: settings.name, source: staticPods });
    for (const controller of [mirrors, ...controllers]) manager.add(controller);
    this.#manager = manager;
    const showing = manager.start(signal).catch((error: unknown) => {
      if (!signal.aborted) log.error({ err: error }, 'Static pods are not shown any more');
    });
    this.#stack.defer(() => showing);
  }

  async stopHeartbeat(): Promise<void> {
    this.#isSilent = true;
    await this.#heartbeat?.stopHeartbeat();
  }

  resumeHeartbeat(): void {
    this.#isSilent = false;
    this.#heartbeat?.resume();
  }

  partition(isOn: boolean): void {
    this.#isPartitioned = isOn;
    this.#registered?.partition(isOn);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

const FOR_EVER_MS = 365 * 24 * 3_600_000;
