import type { Certificates } from '../certs.ts';
import { ETCD_URL } from './etcd.ts';
import { httpStatus } from './http-status.ts';
import { type PickPort, withFreePort } from './port.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

export interface KubeApiserverOptions extends ProcessOptions {
  readonly file: string;
  readonly directory: string;
  readonly certificates: Certificates;
  /** Without it nothing makes ServiceAccounts, and the admission plugin that asks for them would refuse every pod. */
  readonly hasControllerManager: boolean;
  readonly pickPort: PickPort;
  readonly extraArguments?: readonly string[] | undefined;
}

export interface RunningKubeApiserver {
  readonly process: RunningProcess;
  readonly url: string;
}

/** A kube-apiserver with RBAC on loopback, ready when `/readyz` answers the administrator with 200 (oracles/A1). */
export function startKubeApiserver(options: KubeApiserverOptions): Promise<RunningKubeApiserver> {
  const { admin, authority } = options.certificates;
  const tls = { ca: authority.certificatePem, cert: admin.certificatePem, key: admin.keys.privateKeyPem };
  return withFreePort(options.pickPort, async (port) => {
    const url = `https://127.0.0.1:${port}`;
    const program = {
      name: 'kube-apiserver',
      file: options.file,
      arguments: kubeApiserverArguments(port, options),
      directory: options.directory,
      isReady: async (signal: AbortSignal) => (await httpStatus(`${url}/readyz`, signal, tls)) === 200,
    };
    return { process: await startProcess(program, options), url };
  });
}

function kubeApiserverArguments(port: number, options: KubeApiserverOptions): string[] {
  const { files } = options.certificates;
  return [
    `--etcd-servers=${ETCD_URL}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    // Without it the server looks for a default route and ends when there is none (controller-runtime #669).
    '--advertise-address=127.0.0.1',
    // An Endpoints object for the loopback address would be of no use to anybody.
    '--endpoint-reconciler-type=none',
    `--tls-cert-file=${files.servingCertificate}`,
    `--tls-private-key-file=${files.servingKey}`,
    `--client-ca-file=${files.authorityCertificate}`,
    `--kubelet-client-certificate=${files.kubeletClientCertificate}`,
    `--kubelet-client-key=${files.kubeletClientKey}`,
    `--cert-dir=${options.directory}/generated`,
    `--service-account-issuer=https://127.0.0.1:${port}/`,
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--authorization-mode=RBAC',
    '--allow-privileged=true',
    ...(options.hasControllerManager ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...(options.extraArguments ?? []),
  ];
}
