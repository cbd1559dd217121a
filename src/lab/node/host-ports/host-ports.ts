import type { Socket } from 'node:net';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf, retryError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { AddressPlan, LabAddress } from '../../address/address-plan.ts';
import type { Frontend } from '../../proxy/service-frontends.ts';
import { TcpFrontend } from '../../proxy/tcp-frontend.ts';
import { UdpFrontend } from '../../proxy/udp-frontend.ts';
import { brokenOff } from '../../tcp/reset.ts';
import { podTitle } from '../kubelet/pod-parts.ts';
import { portForwards } from './port-forwards.ts';

export interface HostPortsOptions {
  readonly node: { readonly name: string; readonly address: LabAddress };
  readonly plan: AddressPlan;
  /** Lab time. */
  readonly clock: Clock;
  readonly real: Clock;
  readonly log: Log;
}

/** Listeners of one pod; `isOver`: those that come late are closed at once. */
interface Opened {
  readonly listeners: AsyncDisposable[];
  isOver: boolean;
}

/** Ports of a node that lead to its pods (X4). Disposing closes every listener and every connection. */
export class HostPorts implements AsyncDisposable {
  readonly #options: HostPortsOptions;
  /** By uid; each leaves with its pod. */
  readonly #opened = new Map<string, Opened>();
  readonly #sockets = new Set<Socket>();
  readonly #stop = new AbortController();

  constructor(options: HostPortsOptions) {
    this.#options = options;
  }

  /**
   * Opens all ports of the node that a pod asks for, or none. Rejects with a retryError `HostPortInUse` when somebody has
   * one of them. A pod whose ports are open is left alone.
   */
  async open(pod: Pod, address: LabAddress): Promise<void> {
    const { uid = '' } = pod.metadata;
    const { node, plan } = this.#options;
    // Where all addresses are one nobody could tell whose packets those are: better a pod without the port than none.
    const isPossible = ({ protocol }: Frontend) => protocol === 'TCP' || plan.mode !== 'ports';
    const wanted = portForwards(pod, node, address).filter(isPossible);
    if (wanted.length === 0 || this.#opened.has(uid) || this.#stop.signal.aborted) return;
    const opened: Opened = { listeners: [], isOver: false };
    this.#opened.set(uid, opened);
    for (const frontend of wanted) {
      try {
        opened.listeners.push(await this.#listen(frontend));
      } catch (error) {
        await this.close(uid);
        const place = `${frontend.protocol} ${frontend.at.port}`;
        const why = `cannot open host port ${place} of node ${node.name} for pod ${podTitle(pod)}: ${messageOf(error)}`;
        throw retryError('HostPortInUse', why);
      }
      if (opened.isOver) return await closeAll(opened);
    }
  }

  /** Nothing happens when the pod has no ports. */
  async close(uid: string): Promise<void> {
    const opened = this.#opened.get(uid);
    if (opened === undefined) return;
    this.#opened.delete(uid);
    opened.isOver = true;
    await closeAll(opened);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error(`node ${this.#options.node.name} has ended`));
    await Promise.all([...this.#opened.keys()].map((uid) => this.close(uid)));
    await Promise.all([...this.#sockets].map(brokenOff));
  }

  #listen(frontend: Frontend): Promise<AsyncDisposable> {
    const tools = {
      ...this.#options,
      nodeAt: () => undefined,
      sockets: this.#sockets,
      signal: this.#stop.signal,
    };
    return frontend.protocol === 'TCP' ? TcpFrontend.open(frontend, tools) : UdpFrontend.open(frontend, tools);
  }
}

async function closeAll({ listeners }: Opened): Promise<void> {
  for (const listener of listeners.splice(0)) await listener[Symbol.asyncDispose]();
}
