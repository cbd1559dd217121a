import type { Certificates } from '../certs.ts';
import { httpStatus } from './http-status.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

/** The user its kubeconfig must belong to: the API server's own bootstrap policy gives that user its rights. */
export const CONTROLLER_MANAGER_USER = 'system:kube-controller-manager';

/** What our suites rely on; the rest would only cost start time. Names of v1.36 (oracles/K3). */
const CONTROLLERS = [
  'namespace-controller',
  'serviceaccount-controller',
  'garbage-collector-controller',
  'clusterrole-aggregation-controller',
  'root-ca-certificate-publisher-controller',
  'deployment-controller',
  'replicaset-controller',
  'daemonset-controller',
  'job-controller',
  'endpointslice-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'persistentvolume-binder-controller',
  'persistentvolume-attach-detach-controller',
  'persistentvolume-expander-controller',
  'persistentvolumeclaim-protection-controller',
  'persistentvolume-protection-controller',
  'certificatesigningrequest-signing-controller',
  'certificatesigningrequest-approving-controller',
];

export interface KubeControllerManagerOptions extends ProcessOptions {
  readonly file: string;
  readonly directory: string;
  readonly serverUrl: string;
  /** Of CONTROLLER_MANAGER_USER. */
  readonly kubeconfigFile: string;
  readonly certificates: {
    readonly authority: Pick<Certificates['authority'], 'certificatePem'>;
    readonly admin: Certificates['admin'];
    readonly files: Pick<Certificates['files'], 'authorityCertificate' | 'authorityKey' | 'serviceAccountKey'>;
  };
  readonly extraArguments?: readonly string[] | undefined;
}

/** A kube-controller-manager without a port of its own, ready when it has made a first ServiceAccount (oracles/K4). */
export function startKubeControllerManager(options: KubeControllerManagerOptions): Promise<RunningProcess> {
  const { admin, authority } = options.certificates;
  const tls = { ca: authority.certificatePem, cert: admin.certificatePem, key: admin.keys.privateKeyPem };
  // The namespace `default` is as new as the server is, so no namespace has to be made for the question.
  const proof = `${options.serverUrl}/api/v1/namespaces/default/serviceaccounts/default`;
  const program = {
    name: 'kube-controller-manager',
    file: options.file,
    arguments: kubeControllerManagerArguments(options),
    directory: options.directory,
    isReady: async (signal: AbortSignal) => (await httpStatus(proof, signal, tls)) === 200,
  };
  return startProcess(program, options);
}

function kubeControllerManagerArguments(options: KubeControllerManagerOptions): string[] {
  const { certificates, kubeconfigFile, extraArguments = [] } = options;
  return [
    `--kubeconfig=${kubeconfigFile}`,
    `--authentication-kubeconfig=${kubeconfigFile}`,
    `--authorization-kubeconfig=${kubeconfigFile}`,
    '--leader-elect=false',
    '--secure-port=0',
    `--service-account-private-key-file=${certificates.files.serviceAccountKey}`,
    `--root-ca-file=${certificates.files.authorityCertificate}`,
    `--cluster-signing-cert-file=${certificates.files.authorityCertificate}`,
    `--cluster-signing-key-file=${certificates.files.authorityKey}`,
    '--use-service-account-credentials=true',
    `--controllers=${CONTROLLERS.join(',')}`,
    ...extraArguments,
  ];
}
