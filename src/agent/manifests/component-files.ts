import { agentDefinitions } from '../../api/agent/definitions.schema.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/object.ts';
import { roleFor } from '../../kube/rbac/component-roles.ts';
import {
  type ConfigurationOptions,
  type WebhookTrust,
  webhookConfigurations,
  withConversion,
} from '../../kube/webhook/webhook-configurations.ts';
import { localWebhooks } from '../program/local-webhooks.ts';
import { agentNeeds } from '../program/needs.ts';
import type { Provider } from '../provider.ts';
import { managerDeployment } from './manager-deployment.ts';
import { type AgentNames, agentNames } from './names.ts';

/** Who signs the certificate of the webhooks, and tells the API server (agent/P2). */
export const WEBHOOK_SIGNERS = ['cert-manager', 'service-ca'] as const;
export type WebhookSigner = (typeof WEBHOOK_SIGNERS)[number];

export interface ComponentOptions {
  readonly image: string;
  readonly signer: WebhookSigner;
}

/** What must be there before what. */
const KIND_ORDER: readonly string[] = [
  'Namespace',
  'CustomResourceDefinition',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'Issuer',
  'Certificate',
  'Deployment',
  'ValidatingWebhookConfiguration',
];

/** Everything that installs one provider, in one order, with the label that clusterctl finds it by (agent/P2, agent/P6). */
export function componentObjects(provider: Provider, { image, signer }: ComponentOptions): readonly KubeObject[] {
  const names = agentNames(provider);
  const { namespace, account } = names;
  const labels = labelsOf(names);
  const configuration: ConfigurationOptions = {
    name: names.configuration,
    address: { service: { namespace, name: names.service } },
    trust: trustOf(signer),
    labels,
  };
  const webhooks = localWebhooks([provider]);
  // A kind of one version has nothing to convert.
  const converted = (crd: KubeObject): KubeObject =>
    webhooks.convertedDefinitions.includes(crd.metadata.name)
      ? injected(withConversion(crd, configuration), names, signer)
      : crd;
  const objects: readonly KubeObject[] = [
    namespaceOf(names),
    ...definitionsOf(provider).map(converted),
    ...roleFor({ name: account, namespace, needs: agentNeeds(provider), labels }),
    serviceOf(names, signer),
    ...(signer === 'cert-manager' ? certificateOf(names) : []),
    managerDeployment(provider, names, image),
    ...webhookConfigurations(webhooks, configuration).map((one) => injected(one, names, signer)),
  ];
  return objects.map((object) => labelled(object, labels)).toSorted((a, b) => rank(a) - rank(b));
}

/**
 * The definitions of a provider that runs where the API server cannot ask it. Only the stored version is served: nobody
 * converts the others, and an object that was written in one of them would be kept wrong.
 */
export const plainDefinitions = (provider: Provider): readonly KubeObject[] =>
  definitionsOf(provider)
    .map(withoutOtherVersions)
    .map((crd) => labelled(crd, labelsOf(agentNames(provider))));

function withoutOtherVersions(object: KubeObject): CustomResourceDefinition {
  // One of ours, which has what each of them has.
  const crd = object as CustomResourceDefinition;
  const versions = crd.spec.versions.map((version) => ({ ...version, served: version.storage }));
  return { ...crd, spec: { ...crd.spec, versions } };
}

const labelsOf = ({ label }: AgentNames) => ({ 'cluster.x-k8s.io/provider': label });

const rank = ({ kind }: KubeObject): number => {
  const at = KIND_ORDER.indexOf(kind);
  return at < 0 ? KIND_ORDER.length : at;
};

/** cert-manager fills in the authority through an annotation that `injected` adds. */
const trustOf = (signer: WebhookSigner): WebhookTrust => (signer === 'service-ca' ? 'service-ca' : 'self-managed');

const definitionsOf = (provider: Provider): readonly KubeObject[] =>
  agentDefinitions().filter(({ metadata }) => metadata.name.endsWith(`.${agentNames(provider).group}`));

const labelled = <T extends KubeObject>(object: T, labels: Readonly<Record<string, string>>): T => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
});

function injected<T extends KubeObject>(
  object: T,
  { namespace, certificate }: AgentNames,
  signer: WebhookSigner,
): T {
  if (signer !== 'cert-manager') return object;
  const annotations = {
    ...object.metadata.annotations,
    'cert-manager.io/inject-ca-from': `${namespace}/${certificate}`,
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

const namespaceOf = ({ namespace, account }: AgentNames): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespace, labels: { 'control-plane': account } },
});

function serviceOf({ namespace, service, account, secret }: AgentNames, signer: WebhookSigner): KubeObject {
  const annotations = { 'service.beta.openshift.io/serving-cert-secret-name': secret };
  const metadata = { name: service, namespace, ...(signer === 'service-ca' && { annotations }) };
  const spec: JsonObject = {
    selector: { 'control-plane': account },
    ports: [{ name: 'webhook', protocol: 'TCP', port: 443, targetPort: 9443 }],
  };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec } as KubeObject;
}

function certificateOf({ namespace, service, secret, issuer, certificate }: AgentNames): readonly KubeObject[] {
  const host = `${service}.${namespace}.svc`;
  const objects: readonly (JsonObject & { readonly kind: string })[] = [
    { kind: 'Issuer', metadata: { name: issuer, namespace }, spec: { selfSigned: {} } },
    {
      kind: 'Certificate',
      metadata: { name: certificate, namespace },
      spec: {
        secretName: secret,
        // A year, renewed fifteen days before its end.
        duration: '8760h',
        renewBefore: '360h',
        commonName: host,
        dnsNames: [host, `${host}.cluster.local`],
        issuerRef: { name: issuer, kind: 'Issuer' },
      },
    },
  ];
  return objects.map((object) => ({ apiVersion: 'cert-manager.io/v1', ...object }) as unknown as KubeObject);
}
