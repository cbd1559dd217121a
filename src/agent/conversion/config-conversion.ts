import {
  OpenshiftAssistedConfigTemplateV1alpha1,
  OpenshiftAssistedConfigV1alpha1,
} from '../../api/agent/bootstrap-v1alpha1.ts';
import {
  type CommonConfigSpec,
  OpenshiftAssistedConfig,
  type OpenshiftAssistedConfigSpec,
  OpenshiftAssistedConfigTemplate,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import type { TemplateMeta } from '../../api/cluster-api/core-v1beta2.ts';
import { lossless, type Ways } from './conversion-data.ts';

type HubStatus = NonNullable<OpenshiftAssistedConfig['status']>;
type SpokeStatus = NonNullable<OpenshiftAssistedConfigV1alpha1['status']>;

/** Fields that v1alpha1 lacks are left out; whatever nobody knows is kept. */
export function configSpecToSpoke(spec: OpenshiftAssistedConfigSpec): CommonConfigSpec {
  const {
    preBootstrapCommands: _pre,
    postBootstrapCommands: _post,
    bootstrapCommandSentinelDir: _directory,
    postBootstrapKubeconfigPath: _path,
    nodeRegistration,
    ...common
  } = spec;
  if (nodeRegistration === undefined) return common;
  const { providerID, ...registration } = nodeRegistration;
  // Then v1alpha1 has nothing to say about it; one that was empty before stays.
  const isEmptied = providerID !== undefined && Object.keys(registration).length === 0;
  return isEmptied ? common : { ...common, nodeRegistration: registration };
}

/** The hub wants no metadata rather than one that says nothing. */
export function metadataToHub(metadata: TemplateMeta | undefined): { readonly metadata?: TemplateMeta } {
  const isEmpty = Object.keys(metadata ?? {}).length === 0;
  return metadata === undefined || isEmpty ? {} : { metadata };
}

/** V1. What v1alpha1 alone has is left out. */
function statusToHub(status: SpokeStatus): HubStatus {
  const {
    infraEnvRef: _infraEnv,
    agentRef: _agent,
    failureReason: _reason,
    failureMessage: _message,
    ready,
    dataSecretName = '',
    observedGeneration,
    conditions,
    ...others
  } = status;
  const isCreated = dataSecretName !== '' || ready === true;
  return {
    ...others,
    ...(isCreated && { initialization: { dataSecretCreated: true } }),
    ...(dataSecretName !== '' && { dataSecretName }),
    ...(observedGeneration !== undefined && observedGeneration > 0 && { observedGeneration }),
    ...(conditions !== undefined && { v1beta1Conditions: conditions }),
  };
}

/** V2. */
function statusToSpoke(status: HubStatus): SpokeStatus {
  const { conditions: _conditions, initialization, dataSecretName = '', v1beta1Conditions, ...others } = status;
  return {
    ...others,
    ready: initialization?.dataSecretCreated === true,
    ...(dataSecretName !== '' && { dataSecretName }),
    ...(v1beta1Conditions !== undefined && { conditions: v1beta1Conditions }),
  };
}

const CONFIG: Ways<OpenshiftAssistedConfig, OpenshiftAssistedConfigV1alpha1> = {
  toHub({ status, ...others }) {
    const hub = status === undefined ? {} : statusToHub(status);
    return { ...others, ...(Object.keys(hub).length > 0 && { status: hub }) };
  },
  toSpoke({ spec, status = {}, ...others }) {
    return {
      ...others,
      ...(spec !== undefined && { spec: configSpecToSpoke(spec) }),
      status: statusToSpoke(status),
    };
  },
};

/** V7. */
const TEMPLATE: Ways<OpenshiftAssistedConfigTemplate, OpenshiftAssistedConfigTemplateV1alpha1> = {
  toHub({ spec, ...others }) {
    if (spec?.template === undefined) return { ...others, ...(spec !== undefined && { spec }) };
    const { metadata, ...template } = spec.template;
    return { ...others, spec: { ...spec, template: { ...metadataToHub(metadata), ...template } } };
  },
  toSpoke({ spec: whole, ...others }) {
    if (whole?.template === undefined) return { ...others, ...(whole !== undefined && { spec: whole }) };
    const { spec, ...template } = whole.template;
    const common = spec === undefined ? {} : { spec: configSpecToSpoke(spec) };
    return { ...others, spec: { ...whole, template: { ...template, ...common } } };
  },
};

/** OpenshiftAssistedConfig v1alpha1 and v1alpha2 (V1, V2, V3, X8). */
export const configConversion = lossless(OpenshiftAssistedConfig, OpenshiftAssistedConfigV1alpha1, CONFIG);

/** OpenshiftAssistedConfigTemplate v1alpha1 and v1alpha2 (V7, X8). */
export const templateConversion = lossless(
  OpenshiftAssistedConfigTemplate,
  OpenshiftAssistedConfigTemplateV1alpha1,
  TEMPLATE,
);
