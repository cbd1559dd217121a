import type { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { domainForScaleDown, domainForScaleUp, isInDomain, isMarked } from './failure-domains.ts';
import { isDeleting, isMachineReady } from './owned-machines.ts';

export interface ScaleFacts {
  readonly desired: number;
  /** All, those on their way out too. */
  readonly machines: readonly Machine[];
  readonly domains: readonly string[];
  readonly isUpToDate: (machine: Machine) => boolean;
  /** Whether there is a cluster that can lose something. */
  readonly isInitialized: boolean;
}

/** One step per reconcile: the event of the Machine brings the next (C12). */
export type ScaleStep =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly failureDomain: string | undefined }
  | { readonly type: 'delete'; readonly machine: Machine }
  | { readonly type: 'wait'; readonly why: string };

/** What brings the number of Machines nearer to the desired one. Machines on their way out do not count (X18). Pure. */
export function scaleStep(facts: ScaleFacts): ScaleStep {
  const { desired, domains, isUpToDate } = facts;
  const staying = facts.machines.filter((machine) => !isDeleting(machine));
  if (staying.length < desired)
    return { type: 'create', failureDomain: domainForScaleUp({ domains, machines: staying, isUpToDate }) };
  if (staying.length === desired) return { type: 'none' };
  const leaving = facts.machines.filter(isDeleting);
  if (leaving.length > 0)
    return { type: 'wait', why: `the next Machine is deleted when ${namesOf(leaving)} ${areOrIs(leaving)} gone` };
  return deletion(staying, facts);
}

function deletion(machines: readonly Machine[], { domains, isInitialized }: ScaleFacts): ScaleStep {
  const domain = domainForScaleDown({ domains, machines });
  const candidates = domain === undefined ? machines : machines.filter((machine) => isInDomain(machine, domain));
  const [machine] = candidates.toSorted(byWhoGoesFirst);
  if (machine === undefined) return { type: 'none' };
  // Then core cannot reach the cluster, or has not found its Nodes: all of them may be members of a healthy etcd.
  if (isInitialized && !isMarked(machine) && !machines.some(isMachineReady))
    return { type: 'wait', why: `no Machine is Ready, so nobody knows which one can go; wait, ${MARK}` };
  const unready = machines.filter((other) => other !== machine && !isMachineReady(other));
  // With one member of etcd away already, taking a healthy one may end the quorum.
  if (!isMachineReady(machine) || unready.length === 0) return { type: 'delete', machine };
  const why = `Machine ${machine.metadata.name} is Ready and is not deleted while ${namesOf(unready)} ${areOrIs(unready)} not`;
  return { type: 'wait', why: `${why}; wait, delete one that is not Ready, ${MARK}` };
}

const MARK = 'or mark the one that goes with the annotation cluster.x-k8s.io/delete-machine';

const byWhoGoesFirst = (a: Machine, b: Machine): number =>
  Number(isMarked(b)) - Number(isMarked(a)) ||
  Number(isMachineReady(a)) - Number(isMachineReady(b)) ||
  compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  compareText(a.metadata.name, b.metadata.name);

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export const namesOf = (machines: readonly Machine[]): string =>
  machines.map(({ metadata: { name } }) => name).join(', ');

const areOrIs = ({ length }: readonly Machine[]): string => (length === 1 ? 'is' : 'are');
