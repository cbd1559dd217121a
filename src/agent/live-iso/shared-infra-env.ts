import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { CLUSTER_NAME_LABEL, type Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import { apiVersionOf } from '../../api/object.ts';
import { isJsonObject, type Json } from '../../object/json.ts';
import { childName } from '../../object/name-hash.ts';
import { setOwnerReference } from '../../object/owner-references.ts';
import { semanticEqual } from '../../object/semantic-equality.ts';
import { DEFAULT_ARCHITECTURE, type InfraEnvParts, infraEnvSpec } from '../infra-env/infra-env.ts';
import { architectureName, type IsoIdentity } from './derived-template.ts';

/** On configs that boot from an ISO: the InfraEnv that it is of, which other configs use, too. */
export const SHARED_INFRA_ENV_LABEL = 'bootstrap.cluster.x-k8s.io/infra-env';
/** On InfraEnvs that several configs use: the infrastructure machine template they are for. */
export const MACHINE_TEMPLATE_ANNOTATION = 'bootstrap.cluster.x-k8s.io/machine-template';

/** Pure: the name of the InfraEnv that a config shares; undefined where it boots from ignition, or does not know it yet. */
export const sharedInfraEnvOf = ({ metadata: { labels = {} } }: OpenshiftAssistedConfig): string | undefined =>
  labels[SHARED_INFRA_ENV_LABEL];

export const isShared = ({ metadata: { annotations = {} } }: InfraEnv): boolean =>
  Object.hasOwn(annotations, MACHINE_TEMPLATE_ANNOTATION);

/** Pure: short enough for the label that Agents carry. */
export const sharedInfraEnvName = ({ cluster, template, architecture }: IsoIdentity): string =>
  childName(`${cluster}-${template}`, architectureName(architecture));

/** Pure: one InfraEnv for all machines of a template. It belongs to the ClusterDeployment, so that it outlives them. */
export function sharedInfraEnv(parts: InfraEnvParts, identity: IsoIdentity): InfraEnv {
  const { config, deployment } = parts;
  const bare: InfraEnv = {
    apiVersion: apiVersionOf(InfraEnv),
    kind: InfraEnv.kind,
    metadata: {
      name: sharedInfraEnvName(identity),
      namespace: config.metadata.namespace ?? '',
      labels: { [CLUSTER_NAME_LABEL]: identity.cluster },
      annotations: { [MACHINE_TEMPLATE_ANNOTATION]: identity.template },
    },
    spec: infraEnvSpec(parts),
  };
  return setOwnerReference(deployment, bare, { kind: ClusterDeployment });
}

/** What tells the InfraEnvs of templates apart. */
const marksOf = ({
  metadata: { annotations = {}, labels = {} },
  spec,
}: InfraEnv): readonly (string | undefined)[] => [
  annotations[MACHINE_TEMPLATE_ANNOTATION],
  labels[CLUSTER_NAME_LABEL],
  spec?.cpuArchitecture,
];

/** Pure: what is wrong with an InfraEnv that has the name of one of ours; undefined when it is ours. */
export function notOurs(infraEnv: InfraEnv, wanted: InfraEnv): string | undefined {
  const [has, wants] = [marksOf(infraEnv), marksOf(wanted)];
  if (has.every((mark, at) => mark === wants[at])) return undefined;
  const [template, cluster = ''] = has;
  const found =
    template === undefined ? 'somebody else made it' : `it is for template ${template} of cluster ${cluster}`;
  return `InfraEnv ${infraEnv.metadata.name} has the name of the one for this template, but ${found}; rename the template`;
}

/** Pure: what a shared InfraEnv is for; undefined for one that is not shared. */
export function isoIdentityOf(infraEnv: InfraEnv, { metadata: { name } }: Cluster): IsoIdentity | undefined {
  const template = infraEnv.metadata.annotations?.[MACHINE_TEMPLATE_ANNOTATION];
  if (template === undefined) return undefined;
  return { cluster: name, template, architecture: infraEnv.spec?.cpuArchitecture ?? DEFAULT_ARCHITECTURE };
}

/** What a config says of discovery, and what is not part of its name. */
const SETTINGS = [
  'additionalNTPSources',
  'additionalTrustBundle',
  'ignitionConfigOverride',
  'nmStateConfigLabelSelector',
  'proxy',
  'pullSecretRef',
  'sshAuthorizedKey',
] as const;

/** Pure: the settings that a config wants and the InfraEnv, made for another config of the template, does not have. */
export function ignoredSettings({ spec: has = {} }: InfraEnv, { spec: wants = {} }: InfraEnv): readonly string[] {
  return SETTINGS.filter((name) => !semanticEqual(said(has[name]), said(wants[name])));
}

/** Objects are plain JSON, whatever their type says; one without members says nothing. */
function said(value: unknown): Json | undefined {
  const json = value as Json | undefined;
  return isJsonObject(json) && Object.keys(json).length === 0 ? undefined : json;
}
