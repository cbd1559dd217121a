import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCertificates } from '../../oracles/certs.ts';
import { startCloudControllerManager } from '../../oracles/run/cloud-controller-manager.ts';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { createInstanceDirectory, ensureOwnDirectory } from '../../oracles/run/instance-directory.ts';
import { freePort } from '../../oracles/run/port.ts';
import { instancesDirectory } from './kubernetes.ts';
import { oracleFile } from './needs-oracle.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Sources compile at the start, beside two API servers that start as well. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5000;

export interface Program {
  readonly file: string;
  readonly words: readonly string[];
}

/** The framework in Go. */
export const goProgram = (): Program => ({ file: oracleFile('cloud-provider'), words: [] });

/** Ours, from its sources, with the provider that a file defines. */
export const slipwayProgram = (providerFile: string): Program => ({
  file: join(ROOT, 'node_modules', '.bin', 'node'),
  words: [
    '--conditions=slipway-source',
    join(ROOT, 'src', 'cli', 'main.ts'),
    'run',
    'cloud-controller-manager',
    '--provider',
    providerFile,
  ],
});

export interface CloudControllerOptions {
  readonly kubeconfig: string;
  /** What the cloud is told at the start. */
  readonly cloudConfig: object;
  readonly flags: readonly string[];
}

export interface RunningCloudController extends AsyncDisposable {
  readonly pid: number;
  /** What it has written so far. */
  readonly logFile: string;
}

/** Starts a cloud controller manager with a directory of its own, which goes with it. Why it did not start is in the error. */
export async function startCloudController(
  program: Program,
  options: CloudControllerOptions,
): Promise<RunningCloudController> {
  const base = instancesDirectory();
  await ensureOwnDirectory(base);
  const directory = await createInstanceDirectory(base);
  await using parts = new AsyncDisposableStack();
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const guard = parts.use(new ExitGuard(directory));
  const cloudConfigFile = join(directory, 'cloud.json');
  await writeFile(cloudConfigFile, JSON.stringify(options.cloudConfig));
  const { pid } = parts.use(
    await startCloudControllerManager({
      ...program,
      directory,
      guard,
      cloudConfigFile,
      kubeconfigFile: options.kubeconfig,
      certificates: await createCertificates(directory, new Date()),
      pickPort: freePort,
      startTimeoutMs: START_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      extraArguments: options.flags,
    }),
  );
  const running = parts.move();
  return {
    pid,
    logFile: join(directory, 'cloud-controller-manager.log'),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
