import { Deployment, type ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { CreateOf } from '../../../api/object.ts';
import { ownedBy } from '../../../object/owner-references.ts';
import { templateHash } from '../pods/template-hash.ts';
import { newSetAnnotations, nextRevision, replicasAnnotations } from './revision.ts';
import { newSetSize } from './rolling.ts';
import { HASH_LABEL, totalSize } from './rollout.ts';

const LONGEST_NAME = 253;

/** Pure: `<deployment>-<hash>`, the first part cut where that would be too long (W3). */
export const replicaSetName = (deployment: string, hash: string): string =>
  `${deployment.slice(0, LONGEST_NAME - hash.length - 1)}-${hash}`;

/** Pure: the ReplicaSet that a Deployment lacks, beside its old ones (W3, W4, W6). */
export function newReplicaSet(
  deployment: Deployment,
  oldSets: readonly ReplicaSet[],
): CreateOf<ReplicaSet, 'spec'> {
  const { spec, status, metadata } = deployment;
  const hash = templateHash(spec.template, status?.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [HASH_LABEL]: hash };
  const annotations = newSetAnnotations(deployment, {}, nextRevision(oldSets));
  const { minReadySeconds } = spec;
  return {
    metadata: {
      name: replicaSetName(metadata.name, hash),
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels,
      annotations: { ...annotations, ...replicasAnnotations(deployment) },
      ...ownedBy(deployment, Deployment),
    },
    spec: {
      replicas: newSetSize(deployment, 0, totalSize(oldSets)),
      ...(minReadySeconds !== undefined && { minReadySeconds }),
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
}
