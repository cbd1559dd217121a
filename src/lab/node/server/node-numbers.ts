import type { Pod } from '../../../api/generated/core-v1-types.ts';

/** Processor time and memory of one container. */
export interface ContainerUsage {
  readonly pod: Pod;
  readonly container: string;
  readonly cpuMs: number;
  readonly rssBytes: number;
}

export interface NodeIdentity {
  readonly name: string;
  readonly startedAt: Date;
}

const NANOSECONDS_PER_MS = 1_000_000;

/** Pure: the answer to `/stats/summary` (N42): what was used by the processes of containers, and their sum. */
export function statsSummary(node: NodeIdentity, usages: readonly ContainerUsage[], now: Date): object {
  const time = now.toISOString();
  const numbers = (some: readonly ContainerUsage[]) => ({
    cpu: { time, usageCoreNanoSeconds: sum(some.map(({ cpuMs }) => cpuMs)) * NANOSECONDS_PER_MS },
    memory: {
      time,
      rssBytes: sum(some.map(({ rssBytes }) => rssBytes)),
      workingSetBytes: sum(some.map(({ rssBytes }) => rssBytes)),
    },
  });
  const pods = [...Map.groupBy(usages, ({ pod }) => pod)].map(([{ metadata, status }, containers]) => ({
    podRef: { name: metadata.name, namespace: metadata.namespace, uid: metadata.uid },
    startTime: status?.startTime ?? null,
    containers: containers.map((usage) => ({ name: usage.container, ...numbers([usage]) })),
    ...numbers(containers),
  }));
  const startTime = node.startedAt.toISOString();
  return { node: { nodeName: node.name, startTime, ...numbers(usages) }, pods };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Pure: what `/metrics` tells of pods and containers, in the text form of Prometheus (N42). */
export function podMetrics(pods: readonly Pod[]): string {
  const statuses = pods.flatMap(({ status }) => status?.containerStatuses ?? []);
  const count = (state: 'running' | 'terminated' | 'waiting'): number =>
    statuses.filter((status) => status.state?.[state] !== undefined).length;
  const running = pods.filter(({ status }) => status?.phase === 'Running').length;
  return [
    '# HELP kubelet_running_pods Number of pods that have a running pod sandbox',
    '# TYPE kubelet_running_pods gauge',
    `kubelet_running_pods ${running}`,
    '# HELP kubelet_running_containers Number of containers by state',
    '# TYPE kubelet_running_containers gauge',
    `kubelet_running_containers{container_state="running"} ${count('running')}`,
    `kubelet_running_containers{container_state="exited"} ${count('terminated')}`,
    `kubelet_running_containers{container_state="created"} ${count('waiting')}`,
    '',
  ].join('\n');
}
