import type { LabAddress } from '../address/address-plan.ts';
import type { NodeSettings } from '../node/registration/node-object.ts';
import type { ClusterSetup } from '../setup/lab-options.ts';

const CONTROL_PLANE = 'node-role.kubernetes.io/control-plane';

export interface PlannedNode {
  /** 1–253: the last part of its address. */
  readonly index: number;
  readonly settings: NodeSettings;
  /** Of a machine that has one already, and that of the index unless given. */
  readonly address?: LabAddress;
  /** Where it has everything; in the folder of its cluster unless given. */
  readonly root?: string;
}

/** Pure: the nodes that a setup asks for, with their roles. */
export function plannedNodes({ nodes = 0, controlPlane = 0, workers = 0, cloudProvider }: ClusterSetup) {
  const external = cloudProvider === undefined ? {} : { cloudProvider };
  const named = (count: number, prefix: string, role: Omit<NodeSettings, 'name'>): readonly NodeSettings[] =>
    Array.from({ length: count }, (_, at) => ({ name: `${prefix}-${at + 1}`, ...role, ...external }));
  const all = [
    ...named(controlPlane, 'cp', {
      labels: { [CONTROL_PLANE]: '', 'node-role.kubernetes.io/master': '' },
      taints: [{ key: CONTROL_PLANE, effect: 'NoSchedule' }],
    }),
    ...named(workers + nodes, 'w', { labels: { 'node-role.kubernetes.io/worker': '' } }),
  ];
  return all.map((settings, at): PlannedNode => ({ index: at + 1, settings }));
}
