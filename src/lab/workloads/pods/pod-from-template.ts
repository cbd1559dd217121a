import type { Pod, PodTemplateSpec } from '../../../api/generated/core-v1-types.ts';
import type { Kind, KubeObject } from '../../../api/object.ts';
import { ownedBy } from '../../../object/owner-references.ts';

/** The API server adds five characters to a prefix of a name, and cuts it before if needed. */
const LONGEST_PREFIX = 253;

/** Pure: the pod that a controller makes from its template (W15, W21, W27). */
export function podFromTemplate(owner: KubeObject, kind: Kind, template: PodTemplateSpec) {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const { name, namespace } = owner.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${name.slice(0, LONGEST_PREFIX)}-`,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(finalizers !== undefined && { finalizers }),
      ...ownedBy(owner, kind),
    },
    spec: template.spec ?? { containers: [] },
  } satisfies Omit<Pod, 'metadata'> & { readonly metadata: object };
}
