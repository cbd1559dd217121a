import type { ConfigMap } from '../../../api/generated/core-v1-types.ts';
import { keyText } from '../../../api/object.ts';
import type { Infrastructure, Network } from '../../../api/openshift/config-v1.ts';
import { messageOf, userError } from '../../../base/errors.ts';
import type { FeatureGates } from '../../config/feature-gates.ts';
import type { CloudConfigPolicy } from '../../definition.ts';
import type { ConfigMapContent, TextMap } from '../config-map-write.ts';
import { CLOUD_CONF_KEY, USER_NAMESPACE } from '../places.ts';

/** What the cluster says about the cloud config. */
export interface ObservedCloudConfig {
  readonly infra: Infrastructure;
  readonly network: Network;
  readonly gates: FeatureGates;
  /** What operators share. */
  readonly managed?: ConfigMap | undefined;
  /** What the Infrastructure names. */
  readonly user?: ConfigMap | undefined;
}

/** What the cloud config is to be. */
export interface DesiredCloudConfig {
  readonly content: ConfigMapContent;
  /** Whether other operators get it as well (R67). */
  readonly isPublished: boolean;
  /** What it was made of, where there is something. */
  readonly source?: ConfigMap;
  readonly sourceText: string;
  /** What was left out. */
  readonly warnings: readonly string[];
}

/** Throws a userError where only an edit of the source or of the Infrastructure helps. */
export function desiredCloudConfig(policy: CloudConfigPolicy, observed: ObservedCloudConfig): DesiredCloudConfig {
  const { infra, network, gates } = observed;
  // The first that is there (R64).
  const source = policy.sources.map((one) => observed[one]).find((found) => found !== undefined);
  checkBinary(source);
  const place = source === undefined ? userKey(infra) : keyText(source.metadata);
  const given = normalised(source ?? minimal(policy, observed), infra, place);
  const { [CLOUD_CONF_KEY]: sourceText = '', ...others } = given;
  const warnings: string[] = [];
  const context = { infra, network, gates, warn: (message: string) => void warnings.push(message) };
  const text = transformed(sourceText, () => policy.transform?.(sourceText, context));
  const content = { ...carried(source), data: { [CLOUD_CONF_KEY]: text, ...others } };
  checkKeys(policy, content, infra);
  const isPublished = policy.publishManaged?.(gates) ?? false;
  return { content, isPublished, ...(source !== undefined && { source }), sourceText, warnings };
}

/** What is copied as it stands (R66). */
const carried = ({ binaryData, immutable }: ConfigMapContent = {}): ConfigMapContent => ({
  ...(binaryData !== undefined && { binaryData }),
  ...(immutable !== undefined && { immutable }),
});

const userKey = ({ spec }: Infrastructure): string =>
  keyText({ namespace: USER_NAMESPACE, name: spec?.cloudConfig?.name ?? '' });

/** Stands for a ConfigMap that is named and not there (R67). */
function minimal({ minimal: minimalText }: CloudConfigPolicy, { infra, gates }: ObservedCloudConfig) {
  const text = (infra.spec?.cloudConfig?.name ?? '') === '' ? undefined : minimalText?.(gates);
  return text === undefined ? {} : { data: { [CLOUD_CONF_KEY]: text } };
}

/** The text under the key that everybody expects; all others as they are (R65). */
function normalised({ data = {} }: Pick<ConfigMap, 'data'>, { spec }: Infrastructure, place: string): TextMap {
  if (Object.hasOwn(data, CLOUD_CONF_KEY)) return data;
  const { key = '' } = spec?.cloudConfig ?? {};
  if (key === '') return { ...data, [CLOUD_CONF_KEY]: '' };
  if (!Object.hasOwn(data, key))
    throw userError(
      'CloudConfigKeyMissing',
      `key ${key} specified in infra resource does not exist in source configmap ${place}`,
    );
  const { [key]: text = '', ...others } = data;
  return { ...others, [CLOUD_CONF_KEY]: text };
}

/** The server refuses one key in both, for ever. */
function checkBinary(source: ConfigMap | undefined): void {
  if (source?.binaryData === undefined || !Object.hasOwn(source.binaryData, CLOUD_CONF_KEY)) return;
  throw userError(
    'CloudConfigBinary',
    `ConfigMap ${keyText(source.metadata)} has ${CLOUD_CONF_KEY} as binaryData; write it as text under data`,
  );
}

function transformed(sourceText: string, transform: () => string | undefined): string {
  try {
    return transform() ?? sourceText;
  } catch (cause) {
    throw userError('CloudConfigInvalid', `failed to transform cloud config: ${messageOf(cause)}`, { cause });
  }
}

function checkKeys(
  { requiredKeys = [] }: CloudConfigPolicy,
  { data = {}, binaryData = {} }: ConfigMapContent,
  infra: Infrastructure,
): void {
  const keys = [...Object.keys(data), ...Object.keys(binaryData)];
  const missing = requiredKeys.filter((key) => !keys.includes(key));
  if (missing.length === 0) return;
  const isNamed = (infra.spec?.cloudConfig?.name ?? '') !== '';
  const advice = isNamed
    ? `add it to ConfigMap ${userKey(infra)}`
    : 'name a ConfigMap that has it in spec.cloudConfig of Infrastructure cluster';
  throw userError('CloudConfigKeyMissing', `the cloud config lacks ${missing.join(', ')}; ${advice}`);
}
