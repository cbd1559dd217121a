import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../oracles/run/port.ts';
import { agent, agentNames, type Provider } from '../../src/agent/index.ts';
import { CustomResourceDefinition } from '../../src/api/generated/apiextensions-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { applyObject } from '../../src/kube/apply/apply-object.ts';
import { until } from '../../src/kube/apply/until.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { isJsonObject } from '../../src/object/json.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';

const DAY_MS = 86_400_000;
const VERSION = '0.1.0';

/** Where the webhooks of a program on this machine are served, and who vouches for them. */
export interface WebhookPlace {
  readonly port: number;
  /** With tls.crt and tls.key. */
  readonly certDirectory: string;
  readonly caBundle: string;
}

/** A place on loopback with a certificate below `directory`. */
export async function webhookPlace(directory: string, name = 'agent'): Promise<WebhookPlace> {
  const validity = { now: new Date(), validityMs: DAY_MS };
  const authority = await CertificateAuthority.create({ commonName: 'agent webhooks', ...validity });
  const { certificatePem, keys } = await authority.issue({
    kind: 'serving',
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  const certDirectory = join(directory, `${name}-webhooks`);
  await mkdir(certDirectory, { recursive: true });
  await writeFile(join(certDirectory, 'tls.crt'), certificatePem);
  await writeFile(join(certDirectory, 'tls.key'), keys.privateKeyPem, { mode: 0o600 });
  const caBundle = Buffer.from(authority.certificatePem).toString('base64');
  return { port: await freePort(), certDirectory, caBundle };
}

export const webhookFlags = ({ port, certDirectory }: WebhookPlace): readonly string[] => [
  `--webhook-port=${port}`,
  '--webhook-bind-address=127.0.0.1',
  `--webhook-cert-dir=${certDirectory}`,
];

/** What `slipway render agent` renders for a cluster. */
export const renderedAgent = (signer: 'cert-manager' | 'service-ca' = 'cert-manager'): readonly KubeObject[] =>
  agent
    .repositoryFiles({ image: 'example.com/slipway:1', signer, version: VERSION })
    .filter(({ isForCluster }) => isForCluster)
    .flatMap(({ objects }) => objects);

/**
 * The same with its webhooks on this machine, where no Service leads to; without the objects of cert-manager. Both
 * providers are in one place unless told otherwise.
 */
export const placedAgent = (bootstrap: WebhookPlace, controlPlane = bootstrap): readonly KubeObject[] =>
  renderedAgent()
    .filter(({ apiVersion }) => !apiVersion.startsWith('cert-manager.io/'))
    .map((object) => {
      const { 'cluster.x-k8s.io/provider': label } = object.metadata.labels ?? {};
      const place = label === agentNames('bootstrap').label ? bootstrap : controlPlane;
      return placed(object as unknown as JsonObject, place) as unknown as KubeObject;
    });

/** Every `clientConfig` with a Service gets a URL. */
function placed<T>(value: T, place: WebhookPlace): T {
  if (Array.isArray(value)) return value.map((item: unknown) => placed(item, place)) as T;
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    const service = key === 'clientConfig' && isJsonObject(item) ? item['service'] : undefined;
    const path = isJsonObject(service) ? service['path'] : undefined;
    if (typeof path !== 'string') return [key, placed(item, place)];
    return [key, { url: `https://127.0.0.1:${place.port}${path}`, caBundle: place.caBundle }];
  });
  return Object.fromEntries(entries) as T;
}

/** As `kubectl apply` does, in order; definitions are waited for. */
export async function applyAll(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  const target = { client, mapper: createRestMapper(client, new SystemClock()) };
  for (const object of objects) {
    await applyObject(target, object, { force: true });
    if (object.kind === 'CustomResourceDefinition') await established(client, object.metadata.name);
  }
}

const established = (client: KubeClient, name: string): Promise<unknown> =>
  until({ client, kind: CustomResourceDefinition, key: { name } }, (crd) => isTrue(crd, 'Established'), {
    clock: new SystemClock(),
    timeoutMs: 30_000,
  });

/** The user that a provider is for the API server. */
export function accountOf(provider: Provider) {
  const { namespace, account } = agentNames(provider);
  return { namespace, name: account, user: `system:serviceaccount:${namespace}:${account}` };
}
