import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { messageOf } from '../../../base/errors.ts';
import type { LabAddress } from '../../address/address-plan.ts';
import { VolumeProblem } from '../volumes/pod-volumes.ts';
import type { PodEvents } from './pod-events.ts';
import { holdTime, type PodParts, podTitle } from './pod-parts.ts';
import { retryDelayMs } from './restart-backoff.ts';

/** What all containers of a pod share: its address (X4) and its volumes. */
export class PodSandbox {
  readonly #parts: PodParts;
  readonly #events: PodEvents;
  readonly #changed: () => void;
  #address: LabAddress | undefined;
  #isOfPool = false;
  #state: 'missing' | 'busy' | 'ready' = 'missing';
  #isOver = false;
  #failures = 0;
  #retryAtMs = 0;
  #told = '';
  #shown: unknown;

  constructor(parts: PodParts, events: PodEvents, changed: () => void) {
    this.#parts = parts;
    this.#events = events;
    this.#changed = changed;
  }

  get address(): LabAddress | undefined {
    return this.#address;
  }

  /** Containers may start. */
  get isReady(): boolean {
    return this.#state === 'ready';
  }

  /** The address that a pod of an earlier life has, and keeps; one that another lab gave it says nothing here. */
  recover({ metadata, spec, status }: Pod): void {
    const api = status?.podIP;
    const { addresses } = this.#parts;
    if (api === undefined || api === '' || spec.hostNetwork === true || !addresses.owns(api)) return;
    // A static pod, or a pod of another node, may have been faster.
    if (!addresses.pods.keep(api, metadata.uid)) return;
    this.#address = { api, wire: addresses.toWire(api) };
    this.#isOfPool = true;
  }

  /** Lays out what is missing; when to ask again, in lab milliseconds, or undefined when it says so itself. */
  prepare(pod: Pod): number | undefined {
    if (this.#state === 'ready') this.#refresh(pod);
    if (this.#state !== 'missing') return undefined;
    if (this.#parts.clock.now().getTime() < this.#retryAtMs) return this.#retryAtMs;
    this.#state = 'busy';
    void this.#setUp(pod).then((isReady) => {
      this.#state = isReady ? 'ready' : 'missing';
      this.#changed();
    });
    return undefined;
  }

  /** The pod with the addresses that its status may not have yet. */
  addressed(pod: Pod): Pod {
    const { api: hostIP } = this.#parts.node.address;
    const podIP = this.#address?.api;
    const own = podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] };
    return { ...pod, status: { ...pod.status, hostIP, hostIPs: [{ ip: hostIP }], ...own } };
  }

  /**
   * Gives the address back. A node without power may never hear what becomes of its pods; a pod that is still there when
   * the power comes back takes its address again, since nobody gets it before all others were given out.
   */
  release(): void {
    if (this.#isOfPool && this.#address !== undefined) this.#parts.addresses.pods.release(this.#address.api);
    this.#isOfPool = false;
  }

  /** Takes everything away; tried until it is done. */
  async tearDown(pod: Pod, signal: AbortSignal): Promise<void> {
    const { clock, volumes, log, hostPorts } = this.#parts;
    this.#isOver = true;
    await hostPorts?.close(pod.metadata.uid ?? '');
    this.release();
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        using _hold = holdTime(this.#parts, `volumes of pod ${podTitle(pod)}`);
        return await volumes.tearDown(pod.metadata.uid ?? '');
      } catch (error) {
        log.warn({ err: error, pod: podTitle(pod) }, 'Cannot take the volumes of a pod away');
      }
      await clock.sleep(retryDelayMs(failures), signal).catch(() => {});
    }
  }

  async #setUp(pod: Pod): Promise<boolean> {
    const { clock, volumes, hostPorts } = this.#parts;
    using _hold = holdTime(this.#parts, `volumes of pod ${podTitle(pod)}`);
    try {
      const address = this.#takeAddress(pod);
      this.#shown = shownOf(pod);
      // First of all, so that nothing is opened for a pod that has been torn down meanwhile.
      await hostPorts?.open(pod, address);
      // Nobody would take away what is laid out now.
      if (this.#isOver) return false;
      await volumes.setUp(this.addressed(pod));
      return true;
    } catch (error) {
      this.#failures++;
      this.#retryAtMs = clock.now().getTime() + retryDelayMs(this.#failures);
      this.#tell(error instanceof VolumeProblem ? error.reason : 'FailedCreatePodSandBox', messageOf(error));
      return false;
    }
  }

  /** Volumes may show labels and annotations, which change while the pod runs. */
  #refresh(pod: Pod): void {
    const shown = shownOf(pod);
    if (isDeepStrictEqual(shown, this.#shown)) return;
    this.#shown = shown;
    this.#parts.volumes.setUp(this.addressed(pod)).catch((error: unknown) => {
      this.#parts.log.warn({ err: error, pod: podTitle(pod) }, 'Cannot refresh the volumes of a pod');
    });
  }

  #takeAddress({ metadata, spec }: Pod): LabAddress {
    const { node, addresses } = this.#parts;
    if (spec.hostNetwork === true) this.#address = node.address;
    if (this.#address !== undefined) return this.#address;
    this.#isOfPool = true;
    return (this.#address = addresses.pods.take(metadata.uid));
  }

  /** Once per problem: it is tried often. */
  #tell(reason: string, message: string): void {
    if (this.#told === message) return;
    this.#told = message;
    this.#events.warning(reason, message);
  }
}

/** What volumes may show of a pod that changes. */
const shownOf = ({ metadata: { labels = {}, annotations = {} } }: Pod) => ({ labels, annotations });
