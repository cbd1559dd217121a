import { apiVersionOf, type Kind, type KubeObject } from '../../api/object.ts';
import { ClusterOperator, type RelatedObject } from '../../api/openshift/config-v1.ts';
import type { CloudProvider } from '../definition.ts';
import type { OperatorNames } from '../names.ts';

/** Where the operator for credentials looks for what it is asked for. */
export const CREDENTIALS_NAMESPACE = 'openshift-cloud-credential-operator';

type Names = Pick<OperatorNames, 'managedNamespace' | 'operatorNamespace' | 'clusterOperator'>;

/** What must-gather collects whatever the platform is (R55). */
export const usualRelatedObjects = (names: Names): readonly RelatedObject[] => [
  { group: '', resource: 'namespaces', name: names.operatorNamespace },
  { group: ClusterOperator.group, resource: ClusterOperator.plural, name: names.clusterOperator },
  { group: '', resource: 'namespaces', name: names.managedNamespace },
];

export interface RelatedFacts {
  readonly names: Names;
  readonly provider: CloudProvider;
  readonly operands: readonly KubeObject[];
  /** Of the operands. */
  readonly kinds: readonly Kind[];
}

/** Those, every operand, both ConfigMaps, and who is asked for credentials. Pure. */
export function relatedObjects({ names, provider, operands, kinds }: RelatedFacts): readonly RelatedObject[] {
  const { managedNamespace: namespace } = names;
  return [
    ...usualRelatedObjects(names),
    ...operands.flatMap((object) => relatedOperand(object, kinds)),
    ...['cloud-conf', 'ccm-trusted-ca'].map((name) => ({ group: '', resource: 'configmaps', namespace, name })),
    ...(provider.definition.credentials ?? []).map(({ name }) => ({
      group: 'cloudcredential.openshift.io',
      resource: 'credentialsrequests',
      namespace: CREDENTIALS_NAMESPACE,
      name,
    })),
  ];
}

function relatedOperand(object: KubeObject, kinds: readonly Kind[]): readonly RelatedObject[] {
  const kind = kinds.find((one) => one.kind === object.kind && apiVersionOf(one) === object.apiVersion);
  if (kind === undefined) return [];
  const { group, plural: resource } = kind;
  const { namespace, name } = object.metadata;
  return [{ group, resource, ...(namespace !== undefined && { namespace }), name }];
}
