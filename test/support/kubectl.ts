import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { oracleFile } from './needs-oracle.ts';

const TIMEOUT_MS = 30_000;

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real kubectl as the user of a kubeconfig. A non-zero exit is a result, not an error. */
export function kubectl(kubeconfigFile: string, ...kubectlArguments: readonly string[]): Promise<KubectlResult> {
  const { promise, resolve } = Promise.withResolvers<KubectlResult>();
  // Its discovery cache goes to HOME, so it disappears with the instance.
  const options = { timeout: TIMEOUT_MS, env: { HOME: dirname(kubeconfigFile), KUBECONFIG: kubeconfigFile } };
  execFile(oracleFile('kubectl'), kubectlArguments, options, (error, stdout, stderr) => {
    const code = typeof error?.code === 'number' ? error.code : 1;
    resolve({ code: error === null ? 0 : code, stdout, stderr });
  });
  return promise;
}
