import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { issueUser, writeSecret } from '../../oracles/certs.ts';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { createInstanceDirectory, ensureOwnDirectory } from '../../oracles/run/instance-directory.ts';
import { CONTROLLER_MANAGER_USER, startKubeControllerManager } from '../../oracles/run/kube-controller-manager.ts';
import { SCHEDULER_USER, startKubeScheduler } from '../../oracles/run/kube-scheduler.ts';
import { freePort } from '../../oracles/run/port.ts';
import { readKeys } from '../../src/apiserver/identity-file.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { kubeconfig } from '../../src/pki/kubeconfig.ts';
import { instancesDirectory } from './kubernetes.ts';
import { oracleFile } from './needs-oracle.ts';

export interface RealControllersOptions {
  /** Of an API server of ours that keeps its data: its keys are read from there. */
  readonly dataDir: string;
  readonly url: string;
  /** Their names in kube-controller-manager. */
  readonly controllers: readonly string[];
  readonly extraArguments?: readonly string[];
}

/** kube-controller-manager and kube-scheduler at an API server of ours, each as the user that it is everywhere. */
export async function startRealControllers(options: RealControllersOptions): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  await ensureOwnDirectory(instancesDirectory());
  const directory = await createInstanceDirectory(instancesDirectory());
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const guard = parts.use(new ExitGuard(directory));
  const certificates = await writeKeys(options.dataDir, directory);
  const configOf = async (userName: string): Promise<string> => {
    const { authority } = certificates;
    const credential = await issueUser(authority, { name: userName, groups: [], now: new Date() });
    const file = join(directory, `${userName.replaceAll(':', '-')}.kubeconfig`);
    const authorityPem = authority.certificatePem;
    const config = kubeconfig({ server: options.url, authorityPem, clusterName: 'lab', userName, credential });
    await writeSecret(file, JSON.stringify(config));
    return file;
  };
  const shared = { directory, guard, certificates, startTimeoutMs: 60_000, stopTimeoutMs: 2000 };
  const { controllers, extraArguments = [] } = options;
  const manager = {
    ...shared,
    file: oracleFile('kube-controller-manager'),
    serverUrl: options.url,
    kubeconfigFile: await configOf(CONTROLLER_MANAGER_USER),
    extraArguments: [`--controllers=${controllers.join(',')}`, ...extraArguments],
  };
  const scheduler = {
    ...shared,
    file: oracleFile('kube-scheduler'),
    kubeconfigFile: await configOf(SCHEDULER_USER),
    pickPort: freePort,
  };
  parts.use(await startKubeScheduler(scheduler));
  parts.use(await startKubeControllerManager(manager));
  return parts.move();
}

/** What the server signs with, as the files that real programs read. */
async function writeKeys(dataDir: string, directory: string) {
  const kept = readKeys(dataDir);
  if (kept === undefined) throw new Error(`no keys of an API server in ${dataDir}`);
  const name = new X509Certificate(kept.authorityPem).subject.replace(/^CN=/, '');
  const authority = CertificateAuthority.load(name, kept.authorityPem, kept.authorityKeyPem);
  const now = new Date();
  const serving = await authority.issue({
    kind: 'serving',
    commonName: 'kube-scheduler',
    dnsNames: [],
    ipAddresses: ['127.0.0.1'],
    now,
    validityMs: 3_600_000,
  });
  const file = (name: string) => join(directory, name);
  const files = {
    authorityCertificate: file('ca.crt'),
    authorityKey: file('ca.key'),
    serviceAccountKey: file('service-account.key'),
    servingCertificate: file('serving.crt'),
    servingKey: file('serving.key'),
  };
  await writeSecret(files.authorityCertificate, kept.authorityPem);
  await writeSecret(files.authorityKey, kept.authorityKeyPem);
  await writeSecret(files.serviceAccountKey, kept.tokenKeyPem);
  await writeSecret(files.servingCertificate, serving.certificatePem);
  await writeSecret(files.servingKey, serving.keys.privateKeyPem);
  return {
    authority,
    admin: await issueUser(authority, { name: 'admin', groups: ['system:masters'], now }),
    files,
  };
}

/** Kinds that kube-scheduler insists on watching, and that our server does not have: nobody uses them here. */
export const DYNAMIC_RESOURCES = [
  ['ResourceClaim', 'resourceclaims', 'Namespaced'],
  ['ResourceSlice', 'resourceslices', 'Cluster'],
  ['DeviceClass', 'deviceclasses', 'Cluster'],
]
  .map(
    ([kind, plural, scope]) => `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ${plural}.resource.k8s.io
  annotations: { api-approved.kubernetes.io: unapproved }
spec:
  group: resource.k8s.io
  scope: ${scope}
  names: { kind: ${kind}, plural: ${plural}, singular: ${kind?.toLowerCase()}, listKind: ${kind}List }
  versions:
    - name: v1
      served: true
      storage: true
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`,
  )
  .join('---');
