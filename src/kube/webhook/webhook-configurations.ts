import type { JsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import { dnsSubdomainProblems } from '../../object/names.ts';
import type { AdmissionType, Registration } from './registration.ts';
import { CONVERSION_PATH, type Webhooks } from './webhooks.ts';

/** Where the API server finds the webhooks. */
export type WebhookAddress =
  | { readonly service: { readonly namespace: string; readonly name: string; readonly port?: number } }
  /** Outside the cluster: `https://host:port`, without a path. */
  | { readonly url: string };

/**
 * Whom the API server believes: certificates in PEM, what OpenShift's service CA puts in, or an authority of our own
 * that `WebhookCertificates` puts in later.
 */
export type WebhookTrust = { readonly caPem: string } | 'service-ca' | 'self-managed';

export interface ConfigurationOptions {
  /** Of both configuration objects. */
  readonly name: string;
  readonly address: WebhookAddress;
  readonly trust: WebhookTrust;
  /** What names of webhooks end with; they need a domain. `webhooks.slipway.dev` unless told otherwise. */
  readonly domain?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const SERVICE_CA: Readonly<Record<string, string>> = { 'service.beta.openshift.io/inject-cabundle': 'true' };
const KINDS = { mutating: 'MutatingWebhookConfiguration', validating: 'ValidatingWebhookConfiguration' } as const;

/** The configuration objects of everything that is registered, sorted, so that the same code gives the same text (W6). */
export function webhookConfigurations(webhooks: Webhooks, options: ConfigurationOptions): readonly KubeObject[] {
  const types: readonly AdmissionType[] = ['mutating', 'validating'];
  return types.flatMap((type) => {
    const registrations = webhooks.registrations.filter((registration) => registration.type === type);
    return registrations.length === 0 ? [] : [configurationOf(type, registrations, options)];
  });
}

function configurationOf(
  type: AdmissionType,
  registrations: readonly Registration[],
  options: ConfigurationOptions,
): KubeObject {
  const { name, labels } = options;
  const annotations = trustAnnotations(options);
  const webhooks = registrations
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map((registration) => webhookOf(registration, options));
  const metadata = {
    name,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
  };
  // The API machinery's own kinds are plain JSON here.
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind: KINDS[type], metadata, webhooks } as KubeObject;
}

function webhookOf(registration: Registration, options: ConfigurationOptions): JsonObject {
  const { type, path, rules, failurePolicy = 'Fail', timeoutSeconds = 10, reinvocationPolicy } = registration;
  const { namespaceSelector, objectSelector, matchConditions } = registration;
  return {
    name: webhookName(registration, options),
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(path, options),
    failurePolicy,
    matchPolicy: 'Equivalent',
    rules: [...rules],
    sideEffects: 'None',
    timeoutSeconds,
    ...(namespaceSelector !== undefined && { namespaceSelector }),
    ...(objectSelector !== undefined && { objectSelector }),
    ...(matchConditions !== undefined && {
      matchConditions: matchConditions.map((condition) => ({ ...condition })),
    }),
    ...(type === 'mutating' && reinvocationPolicy !== undefined && { reinvocationPolicy }),
  };
}

/** Paths are unique, so names made from them are, too. */
function webhookName({ path, name: given }: Registration, options: ConfigurationOptions): string {
  const { domain = 'webhooks.slipway.dev' } = options;
  const label = path
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  const name = given ?? `${label}.${domain}`;
  if (dnsSubdomainProblems(name).length === 0 && name.split('.').length >= 3) return name;
  throw userError('InvalidWebhookName', `"${name}" is no name of a webhook; choose another path or domain`);
}

function clientConfig(path: string, { address, trust }: ConfigurationOptions): JsonObject {
  const caBundle = typeof trust === 'string' ? {} : { caBundle: Buffer.from(trust.caPem).toString('base64') };
  if ('url' in address) return { ...caBundle, url: `${address.url.replace(/\/$/, '')}${path}` };
  const { namespace, name, port = 443 } = address.service;
  return { ...caBundle, service: { namespace, name, path, port } };
}

/** What a definition needs besides its conversion, when OpenShift is to put the authority in. */
const trustAnnotations = ({ trust }: Pick<ConfigurationOptions, 'trust'>) =>
  trust === 'service-ca' ? SERVICE_CA : undefined;

/** The same definition, asking this process for conversions (W6). The input is not written to. */
export function withConversion<T extends KubeObject>(definition: T, options: ConfigurationOptions): T {
  const { annotations } = definition.metadata;
  const added = trustAnnotations(options);
  const { spec } = definition as T & { readonly spec?: JsonObject };
  return {
    ...definition,
    metadata: {
      ...definition.metadata,
      ...(added !== undefined && { annotations: { ...annotations, ...added } }),
    },
    spec: { ...spec, conversion: conversionStanza(options) },
  };
}

const conversionStanza = (options: ConfigurationOptions): JsonObject => ({
  strategy: 'Webhook',
  webhook: { clientConfig: clientConfig(CONVERSION_PATH, options), conversionReviewVersions: ['v1'] },
});
