import type { Certificates } from '../certs.ts';
import { httpStatus } from './http-status.ts';
import { type PickPort, withFreePort } from './port.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

/** The user its kubeconfig must belong to: the API server's own bootstrap policy gives that user its rights. */
export const SCHEDULER_USER = 'system:kube-scheduler';

export interface KubeSchedulerOptions extends ProcessOptions {
  readonly file: string;
  readonly directory: string;
  /** Of SCHEDULER_USER. */
  readonly kubeconfigFile: string;
  readonly certificates: {
    readonly authority: Pick<Certificates['authority'], 'certificatePem'>;
    readonly files: Pick<Certificates['files'], 'servingCertificate' | 'servingKey'>;
  };
  readonly pickPort: PickPort;
  readonly extraArguments?: readonly string[] | undefined;
}

/** A kube-scheduler on loopback, ready when `/readyz` says that it has seen what there is. */
export function startKubeScheduler(options: KubeSchedulerOptions): Promise<RunningProcess> {
  const tls = { ca: options.certificates.authority.certificatePem };
  return withFreePort(options.pickPort, (port) =>
    startProcess(
      {
        name: 'kube-scheduler',
        file: options.file,
        arguments: kubeSchedulerArguments(port, options),
        directory: options.directory,
        isReady: async (signal) => (await httpStatus(`https://127.0.0.1:${port}/readyz`, signal, tls)) === 200,
      },
      options,
    ),
  );
}

function kubeSchedulerArguments(port: number, options: KubeSchedulerOptions): string[] {
  const { certificates, kubeconfigFile, extraArguments = [] } = options;
  return [
    `--kubeconfig=${kubeconfigFile}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${certificates.files.servingCertificate}`,
    `--tls-private-key-file=${certificates.files.servingKey}`,
    '--leader-elect=false',
    ...extraArguments,
  ];
}
