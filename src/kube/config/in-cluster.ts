import { isIPv6 } from 'node:net';
import { userError } from '../../base/errors.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { authorityFile, parseServerUrl } from './cluster-section.ts';
import { credentialsOf } from './credential-parts.ts';
import { isMissingFile, unreadableText } from './file-text.ts';
import { authorityProblem } from './pem.ts';
import { ProblemList } from './problem-list.ts';
import type { Environment, Surroundings } from './surroundings.ts';
import { tokenFileAuthorization, tokenOf } from './token-file.ts';

/** Where the kubelet mounts the service account of a pod. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Whether the variables are there that every pod has. */
export const isInPod = (env: Environment): boolean =>
  (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '' && (env['KUBERNETES_SERVICE_PORT'] ?? '') !== '';

/** The address of the API server for a pod; IPv6 in brackets (C1). */
function inClusterServer(env: Environment): string {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  return `https://${isIPv6(host) ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] ?? ''}`;
}

/**
 * The service account of the pod this runs in. Undefined when no token is mounted, so that something else can be tried;
 * throws `InvalidKubeconfig` when it is there but cannot be used.
 */
export async function inClusterAccess(around: Surroundings): Promise<ClusterAccess | undefined> {
  const { env, readFile, clock } = around;
  const problems = new ProblemList();
  const tokenPath = `${FOLDER}/token`;
  const caPath = `${FOLDER}/ca.crt`;
  try {
    tokenOf(await readFile(tokenPath));
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    problems.add(`${tokenPath}: cannot be used: ${unreadableText(error)}`);
  }
  const server = parseServerUrl(inClusterServer(env));
  if (!(server instanceof URL)) problems.add(`KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: ${server}`);
  const problem = await authorityFileProblem(caPath, around);
  if (problem !== undefined) problems.add(`${caPath}: ${problem}`);
  if (!(server instanceof URL) || !problems.isEmpty) {
    throw problems.error('InvalidKubeconfig', 'the service account of this pod');
  }
  const namespace = await namespaceOf(around);
  return {
    server,
    ca: authorityFile(caPath, around),
    insecureSkipTlsVerify: false,
    disableCompression: false,
    credentials: credentialsOf({ authorization: tokenFileAuthorization({ path: tokenPath, readFile, clock }) }),
    ...(namespace !== undefined && { namespace }),
    source: `the service account of this pod (${FOLDER})`,
  };
}

async function authorityFileProblem(path: string, { readFile, clock }: Surroundings): Promise<string | undefined> {
  try {
    return authorityProblem(await readFile(path), clock.now());
  } catch (error) {
    return `cannot be read: ${unreadableText(error)}; a pod gets it from the ConfigMap kube-root-ca.crt`;
  }
}

/** The namespace of the pod; absent outside one. */
async function namespaceOf({ readFile }: Surroundings): Promise<string | undefined> {
  const text = await readFile(`${FOLDER}/namespace`).catch(() => '');
  return text.trim() === '' ? undefined : text.trim();
}

/** In a pod without a token: what to do about it. */
export const noTokenError = () =>
  userError(
    'NoKubeconfig',
    `this is a pod (KUBERNETES_SERVICE_HOST is set), but there is no token in ${FOLDER}; give the pod a serviceAccountName, and automountServiceAccountToken must not be false. Or set KUBECONFIG`,
  );
