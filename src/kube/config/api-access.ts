import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { parseServerUrl } from './cluster-section.ts';
import { accessFromObject } from './explicit-access.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import type { Environment } from './surroundings.ts';

/** What of the process decides how the API server is reached. */
export interface AccessSurroundings {
  readonly env: Environment;
  readonly homeDir: string;
  readonly clock: Clock;
  readonly stderr: (text: string) => void;
}

/** What the flags of a program of OpenShift say about it. Empty texts are what nobody has said. */
export interface ApiPlace {
  readonly kubeconfig: string;
  readonly master: string;
  /** `--apiserver-env-file`. */
  readonly environmentFile: string;
}

/** Throws a userError that says what is wrong with the kubeconfig, the address or the file. */
export async function apiAccess(where: ApiPlace, around: AccessSurroundings): Promise<ClusterAccess> {
  const { kubeconfig, master, environmentFile } = where;
  const env = { ...around.env, ...(await endpointFrom(environmentFile)) };
  // As upstream has it: an address without a kubeconfig is asked without credentials.
  const isBare = kubeconfig === '' && (env['KUBECONFIG'] ?? '') === '';
  if (master !== '' && isBare) return accessFromObject({ url: master }, around.clock);
  const access = await loadKubeconfig({
    ...around,
    env,
    ...(kubeconfig !== '' && { kubeconfigFlag: kubeconfig }),
  });
  if (master === '') return access;
  const server = parseServerUrl(master);
  if (server instanceof URL) return { ...access, server };
  throw userError('InvalidFlags', `--master: ${server}`);
}

const ENDPOINT = ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'];

/** Before the service network is up, a file on the host says where the API server is (ccm O9). */
async function endpointFrom(file: string): Promise<Environment> {
  if (file === '') return {};
  try {
    const values = environmentIn(await readFile(file, 'utf8'));
    return Object.fromEntries([...values].filter(([key, value]) => ENDPOINT.includes(key) && value !== ''));
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return {};
    throw userError('UnreadableFile', `--apiserver-env-file: ${messageOf(cause)}`, { cause });
  }
}

const LINE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/;

/** `KEY=value` per line, with or without quotes; comments and anything else are skipped. Pure. */
export function environmentIn(text: string): ReadonlyMap<string, string> {
  const entries = text.split('\n').flatMap((line) => {
    const [, key, value = ''] = LINE.exec(line) ?? [];
    const [, , quoted] = /^(["'])(.*)\1$/.exec(value) ?? [];
    return key === undefined ? [] : [[key, quoted ?? value] as const];
  });
  return new Map(entries);
}
