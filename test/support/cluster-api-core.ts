import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startClusterApiCore } from '../../oracles/run/cluster-api-core.ts';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { freePort } from '../../oracles/run/port.ts';
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
import { parseYaml } from '../../src/object/yaml.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { adminClient } from './admin-client.ts';
import { oracleFile } from './needs-oracle.ts';
import { scratchDirectory } from './scratch.ts';

const MODULE = join(import.meta.dirname, '../../oracles/cluster-api');
const DAY_MS = 86_400_000;
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 5000;

/** Where the Go module is that the manager was built from: definitions and webhooks of the very same version. */
async function clusterApiModule(): Promise<string> {
  const list = ['list', '-m', '-f', '{{.Dir}}', 'sigs.k8s.io/cluster-api'];
  const { stdout } = await promisify(execFile)('go', list, { cwd: MODULE });
  return stdout.trim();
}

/** Their files have a line of three dashes before each document, and nowhere else. */
export const objectsIn = (file: string): readonly JsonObject[] =>
  readFileSync(file, 'utf8').split(/^---$/m).map(parseYaml).filter(isJsonObject);

interface WebhookPlace {
  readonly url: string;
  readonly caBundle: string;
}

/** Instead of a Service of a cluster: the process on this machine. */
const clientConfig = (path: string, { url, caBundle }: WebhookPlace): JsonObject => ({
  url: `${url}${path}`,
  caBundle,
});

function converted(crd: JsonObject, place: WebhookPlace): JsonObject {
  const webhook = { clientConfig: clientConfig('/convert', place), conversionReviewVersions: ['v1'] };
  return { ...crd, spec: { ...(crd['spec'] as JsonObject), conversion: { strategy: 'Webhook', webhook } } };
}

function placed(configuration: JsonObject, place: WebhookPlace): JsonObject {
  const webhooks = configuration['webhooks'] as readonly JsonObject[];
  return {
    ...configuration,
    webhooks: webhooks.map((webhook) => {
      const { service } = webhook['clientConfig'] as { readonly service: { readonly path: string } };
      return { ...webhook, clientConfig: clientConfig(service.path, place) };
    }),
  };
}

/** The core manager of Cluster API at work on a server. */
export interface RunningCore extends AsyncDisposable {
  readonly directory: string;
}

/** Installs its definitions and webhooks, and starts it. Everything is gone at the end but what is in the server. */
export async function startCore(kubeconfigFile: string): Promise<RunningCore> {
  await using parts = new AsyncDisposableStack();
  const client = await adminClient(parts, kubeconfigFile);
  const mapper = createRestMapper(client, new SystemClock());
  const apply = (object: JsonObject) =>
    applyObject({ client, mapper }, object as unknown as KubeObject, { force: true });
  const scratch = parts.use(await scratchDirectory());
  const guard = parts.use(new ExitGuard(scratch.path));
  const authority = await CertificateAuthority.create({
    commonName: 'webhooks',
    now: new Date(),
    validityMs: DAY_MS,
  });
  const { certificatePem, keys } = await authority.issue({
    kind: 'serving',
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    now: new Date(),
    validityMs: DAY_MS,
  });
  const certificates = join(scratch.path, 'certs');
  await mkdir(certificates);
  await writeFile(join(certificates, 'tls.crt'), certificatePem);
  await writeFile(join(certificates, 'tls.key'), keys.privateKeyPem, { mode: 0o600 });
  const webhookPort = await freePort();
  const place = {
    url: `https://127.0.0.1:${webhookPort}`,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
  };
  const folder = join(await clusterApiModule(), 'core/config');
  const crds = globSync('*.yaml', { cwd: join(folder, 'crd/bases') }).flatMap((file) =>
    objectsIn(join(folder, 'crd/bases', file)),
  );
  for (const crd of crds) await apply(converted(crd, place));
  for (const crd of crds) await established(client, (crd as unknown as KubeObject).metadata.name);
  parts.use(
    await startClusterApiCore({
      file: oracleFile('cluster-api-core'),
      directory: scratch.path,
      kubeconfigFile,
      webhookCertDirectory: certificates,
      webhookPort,
      pickPort: freePort,
      guard,
      startTimeoutMs: START_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
    }),
  );
  for (const one of objectsIn(join(folder, 'webhook/manifests.yaml'))) await apply(placed(one, place));
  const all = parts.move();
  return { directory: scratch.path, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

const established = (client: KubeClient, name: string): Promise<unknown> =>
  until({ client, kind: CustomResourceDefinition, key: { name } }, (crd) => isTrue(crd, 'Established'), {
    clock: new SystemClock(),
    timeoutMs: 30_000,
  });
