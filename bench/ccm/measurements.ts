import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { BenchServer } from '../apiserver/servers.ts';
import { initialisedNodes, newNodes, newServices, servedServices } from './cluster.ts';
import type { ContenderName } from './contenders.ts';

/** Something that contenders do, from their start on. */
export interface Measurement {
  readonly name: string;
  readonly count: number;
  readonly delayMs: number;
  /** Most that ours may take of the time of another. */
  readonly targets: Readonly<Partial<Record<ContenderName, number>>>;
  /** One round is enough for those who need many minutes; the table says so. */
  readonly onceFor: readonly ContenderName[];
  readonly prepare: (server: BenchServer, client: KubeClient) => Promise<void>;
  readonly until: (client: KubeClient, signal: AbortSignal) => Promise<void>;
}

const nodes = (count: number, more: Partial<Measurement> = {}): Measurement => ({
  name: `${count.toLocaleString('en')} nodes`,
  count,
  delayMs: 0,
  targets: {},
  onceFor: [],
  prepare: (server, client) => newNodes(server, client, count),
  until: (client, signal) => initialisedNodes(client, count, signal),
  ...more,
});

const SLOW_CLOUD_MS = 200;

const services = (count: number): Measurement => ({
  name: `${count} load balancers, ${SLOW_CLOUD_MS} ms a call`,
  count,
  delayMs: SLOW_CLOUD_MS,
  targets: {},
  onceFor: [],
  prepare: (server, client) => newServices(server, client, count),
  until: (client, signal) => servedServices(client, count, signal),
});

/** At its own limits the framework in Go needs about eight minutes for 5,000 nodes, and always the same ones. */
export const MEASUREMENTS: readonly Measurement[] = [
  nodes(100),
  nodes(1000, { targets: { go: 0.2, 'go, tuned': 1 } }),
  nodes(5000, { onceFor: ['go'], targets: { 'go, tuned': 1 } }),
  services(200),
];

export const QUICK: readonly Measurement[] = [nodes(100), services(20)];
