import type { JsonObject } from '../../api/json.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import { getKey, isJsonObject } from '../../object/json.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { objectAt, textAt } from './admission-request.ts';

/** Objects that say whom an API server believes, by name. */
export interface TrustTargets {
  readonly mutating?: readonly string[];
  readonly validating?: readonly string[];
  readonly definitions?: readonly string[];
}

const clusterKind = (group: string, kind: string): Kind => ({
  group,
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  scope: 'Cluster',
});

const MUTATING = clusterKind('admissionregistration.k8s.io', 'MutatingWebhookConfiguration');
const VALIDATING = clusterKind('admissionregistration.k8s.io', 'ValidatingWebhookConfiguration');
const DEFINITION = clusterKind('apiextensions.k8s.io', 'CustomResourceDefinition');

/** What targets should hold. */
export interface Trust {
  readonly bundlePem: string;
  /** A target that holds this authority already is left as it is, whatever else it holds. */
  readonly enoughPem?: string;
}

/**
 * Puts a bundle into every target that is there; what holds it already is not written. Resolves to whether anything was
 * written. Rejects when one of them could not be read or written: then nobody may show a certificate that needs it.
 * Targets that are not installed are left out.
 */
export async function injectTrust(
  client: Pick<KubeClient, 'live' | 'patch'>,
  { mutating = [], validating = [], definitions = [] }: TrustTargets,
  trust: Trust,
  signal?: AbortSignal,
): Promise<boolean> {
  const options = signal === undefined ? {} : { signal };
  let hasWritten = false;
  const targets: readonly (readonly [Kind, readonly string[]])[] = [
    [MUTATING, mutating],
    [VALIDATING, validating],
    [DEFINITION, definitions],
  ];
  for (const [kind, names] of targets) {
    for (const name of names) {
      const found = await client.live.find(kind, { name }, options);
      const operations = found === undefined ? [] : trustPatch(found, trust);
      if (operations.length === 0) continue;
      await client.patch(kind, { name }, { type: 'json', body: operations }, options);
      hasWritten = true;
    }
  }
  return hasWritten;
}

/** The JSON patch that makes an object hold a bundle; empty when it does. Fails when the object changed meanwhile. */
export function trustPatch(object: KubeObject, { bundlePem, enoughPem }: Trust): readonly JsonObject[] {
  const caBundle = Buffer.from(bundlePem).toString('base64');
  const isEnough = (held: string): boolean =>
    held === caBundle ||
    (enoughPem !== undefined && Buffer.from(held, 'base64').toString('utf8').includes(enoughPem.trim()));
  const paths = configPaths(object).filter(([, config]) => !isEnough(textAt(config, 'caBundle')));
  if (paths.length === 0) return [];
  const { resourceVersion = '' } = object.metadata;
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    ...paths.map(([path]) => ({ op: 'add', path: `${path}/caBundle`, value: caBundle })),
  ];
}

/** Every clientConfig of an object with its path. */
function configPaths(object: KubeObject): readonly (readonly [string, JsonObject])[] {
  // Objects of a client are plain JSON.
  const json = object as unknown as JsonObject;
  const webhooks = getKey(json, 'webhooks');
  if (Array.isArray(webhooks)) {
    return webhooks.map((webhook, at) => [
      `/webhooks/${at}/clientConfig`,
      isJsonObject(webhook) ? objectAt(webhook, 'clientConfig') : {},
    ]);
  }
  const conversion = objectAt(objectAt(json, 'spec'), 'conversion');
  if (textAt(conversion, 'strategy') !== 'Webhook') return [];
  return [['/spec/conversion/webhook/clientConfig', objectAt(objectAt(conversion, 'webhook'), 'clientConfig')]];
}
