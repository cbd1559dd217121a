import { httpStatus } from './http-status.ts';
import { type PickPort, withFreePort } from './port.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

export interface ClusterApiCoreOptions extends ProcessOptions {
  readonly file: string;
  readonly directory: string;
  readonly kubeconfigFile: string;
  /** Has tls.crt and tls.key: whoever installed the webhooks trusts them. */
  readonly webhookCertDirectory: string;
  /** Where the API server was told to find the webhooks. */
  readonly webhookPort: number;
  readonly pickPort: PickPort;
  readonly extraArguments?: readonly string[] | undefined;
}

/** The core manager of Cluster API on loopback, ready when `/readyz` says that its webhooks answer. */
export function startClusterApiCore(options: ClusterApiCoreOptions): Promise<RunningProcess> {
  return withFreePort(options.pickPort, (port) =>
    startProcess(
      {
        name: 'cluster-api-core',
        file: options.file,
        arguments: clusterApiCoreArguments(port, options),
        directory: options.directory,
        isReady: async (signal) =>
          (await httpStatus(`http://127.0.0.1:${port}/readyz`, signal, { isPlain: true })) === 200,
      },
      options,
    ),
  );
}

/** Without extensions that need kinds nobody installs, and without a rewrite of stored objects (agent/S26). */
function clusterApiCoreArguments(port: number, options: ClusterApiCoreOptions): string[] {
  const { kubeconfigFile, webhookCertDirectory, webhookPort, extraArguments = [] } = options;
  return [
    `--kubeconfig=${kubeconfigFile}`,
    '--leader-elect=false',
    `--health-addr=127.0.0.1:${port}`,
    `--webhook-cert-dir=${webhookCertDirectory}`,
    `--webhook-port=${webhookPort}`,
    '--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields',
    '--insecure-diagnostics',
    '--diagnostics-address=127.0.0.1:0',
    '--feature-gates=ClusterTopology=true,RuntimeSDK=false,MachinePool=false',
    ...extraArguments,
  ];
}
