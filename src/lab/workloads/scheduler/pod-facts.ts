import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { keyText } from '../../../api/object.ts';
import { type Affinities, affinitiesOf } from './affinity-terms.ts';
import { type HostPort, hostPortsOf } from './host-ports.ts';
import { podRequests, type Resources, scoredRequests } from './requests.ts';
import { type Countable, type SpreadConstraints, setUidOf, spreadConstraintsOf } from './spread-constraints.ts';

/** A claim that a pod wants to use. */
export interface ClaimUse {
  readonly name: string;
  /** Made for this pod, from a volume that it describes itself. */
  readonly isEphemeral: boolean;
}

/** What a scheduler has to know about a pod, read once per version of the pod. */
export interface PodFacts extends Countable {
  readonly pod: Pod;
  readonly uid: string;
  /** `default/web`. */
  readonly key: string;
  readonly priority: number;
  readonly requests: Resources;
  readonly scored: Resources;
  readonly hostPorts: readonly HostPort[];
  readonly affinities: Affinities;
  readonly spread: SpreadConstraints;
  readonly claims: readonly ClaimUse[];
}

export function podFacts(pod: Pod): PodFacts {
  const { name, namespace = '', uid = '', labels, deletionTimestamp } = pod.metadata;
  return {
    pod,
    uid,
    key: keyText({ namespace, name }),
    namespace,
    labels: { ...labels },
    priority: pod.spec.priority ?? 0,
    isTerminating: deletionTimestamp !== undefined,
    setUid: setUidOf(pod),
    requests: podRequests(pod),
    scored: scoredRequests(pod),
    hostPorts: hostPortsOf(pod),
    affinities: affinitiesOf(pod),
    spread: spreadConstraintsOf(pod),
    claims: claimsOf(pod),
  };
}

const claimsOf = ({ metadata, spec }: Pod): readonly ClaimUse[] =>
  (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }): readonly ClaimUse[] => {
    if (persistentVolumeClaim !== undefined)
      return [{ name: persistentVolumeClaim.claimName, isEphemeral: false }];
    return ephemeral === undefined ? [] : [{ name: `${metadata.name}-${name}`, isEphemeral: true }];
  });
