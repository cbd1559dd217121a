import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { accessFromText } from '../../kube/config/kubeconfig-text.ts';
import type { Environment } from '../../kube/config/surroundings.ts';
import { connect } from '../../kube/transport/connection.ts';
import { retrying } from '../../kube/transport/retrying.ts';
import type { Connection } from '../../kube/transport/transport.ts';

export interface WorkloadConnectionsOptions {
  /** For proxies. */
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Log;
  readonly userAgent: string;
  readonly fieldManager: string;
}

/** Clusters at a time whose connections are kept: those that were asked for last. */
const MOST_CONNECTIONS = 50;

interface Held {
  readonly connection: Connection;
  readonly client: KubeClient;
}

/** The API servers of clusters that were installed, reached with the kubeconfigs that are published for them. */
export class WorkloadConnections implements AsyncDisposable {
  readonly #options: WorkloadConnectionsOptions;
  /** By digest of the kubeconfig: what it holds is a secret. The one that was used last is at the end. */
  readonly #held = new Map<string, Held>();

  constructor(options: WorkloadConnectionsOptions) {
    this.#options = options;
  }

  /** Nothing is sent yet. Rejects with a userError when the text is no kubeconfig that can be used. Bound. */
  readonly connect = async (kubeconfig: string): Promise<KubeClient> => {
    const digest = createHash('sha256').update(kubeconfig).digest('hex');
    const found = this.#held.get(digest) ?? (await this.#open(kubeconfig));
    this.#held.delete(digest);
    this.#held.set(digest, found);
    await this.#forgetOldest();
    return found.client;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { connection } of this.#held.values()) await connection[Symbol.asyncDispose]();
    this.#held.clear();
  }

  async #open(kubeconfig: string): Promise<Held> {
    const { env, clock, log, userAgent, fieldManager } = this.#options;
    const access = await accessFromText(kubeconfig, { env, clock });
    const connection = connect(access, { clock, log, userAgent });
    const transport = retrying(connection.transport, { clock });
    return { connection, client: createClient({ transport, fieldManager, clock, log, userAgent }) };
  }

  async #forgetOldest(): Promise<void> {
    const [oldest] = this.#held.keys();
    if (oldest === undefined || this.#held.size <= MOST_CONNECTIONS) return;
    const held = this.#held.get(oldest);
    this.#held.delete(oldest);
    await held?.connection[Symbol.asyncDispose]();
  }
}
