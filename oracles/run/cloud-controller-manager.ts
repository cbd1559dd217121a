import type { Certificates } from '../certs.ts';
import { httpStatus } from './http-status.ts';
import { type PickPort, withFreePort } from './port.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

export interface CloudControllerManagerOptions extends ProcessOptions {
  /** The oracle `cloud-provider`, or any other program that takes the flags of a cloud controller manager. */
  readonly file: string;
  /** Before the flags, for a program that needs more than its file to be started. */
  readonly words?: readonly string[] | undefined;
  readonly directory: string;
  readonly kubeconfigFile: string;
  /** What the cloud is told at the start. */
  readonly cloudConfigFile: string;
  readonly certificates: {
    readonly authority: Pick<Certificates['authority'], 'certificatePem'>;
    readonly files: Pick<Certificates['files'], 'servingCertificate' | 'servingKey'>;
  };
  readonly pickPort: PickPort;
  readonly extraArguments?: readonly string[] | undefined;
}

/** A cloud controller manager on loopback, ready when `/healthz` answers: whoever that is may read it (ccm/P11). */
export function startCloudControllerManager(options: CloudControllerManagerOptions): Promise<RunningProcess> {
  const tls = { ca: options.certificates.authority.certificatePem };
  return withFreePort(options.pickPort, (port) =>
    startProcess(
      {
        name: 'cloud-controller-manager',
        file: options.file,
        arguments: [...(options.words ?? []), ...cloudControllerManagerArguments(port, options)],
        directory: options.directory,
        isReady: async (signal) => (await httpStatus(`https://127.0.0.1:${port}/healthz`, signal, tls)) === 200,
      },
      options,
    ),
  );
}

function cloudControllerManagerArguments(port: number, options: CloudControllerManagerOptions): string[] {
  const { certificates, kubeconfigFile, cloudConfigFile, extraArguments = [] } = options;
  return [
    '--cloud-provider=fake',
    `--cloud-config=${cloudConfigFile}`,
    `--kubeconfig=${kubeconfigFile}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${certificates.files.servingCertificate}`,
    `--tls-private-key-file=${certificates.files.servingKey}`,
    '--leader-elect=false',
    ...extraArguments,
  ];
}
