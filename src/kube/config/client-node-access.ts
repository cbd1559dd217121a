import { resolve } from 'node:path';
import { type Clock, SystemClock } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { runProgram } from './exec-process.ts';
import { type ReadFile, readTextFile } from './file-text.ts';
import { resolveAccess } from './kubeconfig.ts';
import { ProblemList } from './problem-list.ts';
import { type Environment, isProgramFile } from './surroundings.ts';

/** What is used of a `KubeConfig` of @kubernetes/client-node; only its shape, so that nobody has to install it. */
export interface ClientNodeConfig {
  getCurrentContext(): string;
  getContextObject(name: string): { readonly namespace?: string | undefined } | null;
  getCurrentCluster(): ClientNodeCluster | null;
  getCurrentUser(): ClientNodeUser | null;
}

export interface ClientNodeCluster {
  readonly server: string;
  readonly caData?: string | undefined;
  readonly caFile?: string | undefined;
  readonly skipTLSVerify?: boolean | undefined;
  readonly tlsServerName?: string | undefined;
  readonly proxyUrl?: string | undefined;
}

export interface ClientNodeUser {
  readonly certData?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyData?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly token?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly impersonateUser?: string | undefined;
  readonly exec?: unknown;
  readonly authProvider?: unknown;
}

export interface ClientNodeOptions {
  readonly env: Environment;
  readonly clock?: Clock;
  readonly readFile?: ReadFile;
}

/** The access that a client-node `KubeConfig` stands for; checked like a file, so `InvalidKubeconfig` tells all problems. */
export function fromClientNode(kc: ClientNodeConfig, options: ClientNodeOptions): Promise<ClusterAccess> {
  const name = kc.getCurrentContext();
  const namespace = kc.getContextObject(name)?.namespace;
  const cluster = kc.getCurrentCluster();
  const user = kc.getCurrentUser();
  const content = defined({
    'current-context': name,
    contexts: [{ name, context: defined({ cluster: 'cluster', user: 'user', namespace }) }],
    clusters: cluster === null ? [] : [{ name: 'cluster', cluster: clusterEntry(cluster) }],
    users: user === null ? [] : [{ name: 'user', user: userEntry(user) }],
  });
  const file = {
    path: 'client-node KubeConfig',
    content,
    lineOf: () => undefined,
    resolvePath: (path: string) => resolve(path),
  };
  const around = {
    env: options.env,
    clock: options.clock ?? new SystemClock(),
    readFile: options.readFile ?? readTextFile,
    isProgram: isProgramFile,
    run: runProgram,
    isTerminal: false,
    stderr: (text: string) => void process.stderr.write(text),
  };
  return resolveAccess({ files: [file], problems: new ProblemList(), around });
}

const clusterEntry = (cluster: ClientNodeCluster): JsonObject =>
  defined({
    server: cluster.server,
    'certificate-authority-data': cluster.caData,
    'certificate-authority': cluster.caFile,
    'insecure-skip-tls-verify': cluster.skipTLSVerify,
    'tls-server-name': cluster.tlsServerName,
    'proxy-url': cluster.proxyUrl,
  });

function userEntry(user: ClientNodeUser): JsonObject {
  const tokenFile = tokenFileOf(user.authProvider);
  return defined({
    'client-certificate-data': user.certData,
    'client-certificate': user.certFile,
    'client-key-data': user.keyData,
    'client-key': user.keyFile,
    token: user.token,
    username: user.username,
    password: user.password,
    as: user.impersonateUser,
    exec: user.exec,
    ...(tokenFile === undefined ? { 'auth-provider': user.authProvider } : { tokenFile }),
  });
}

/** Inside a pod client-node writes the token file as a provider of its own. */
function tokenFileOf(provider: unknown): string | undefined {
  const config = isJsonObject(provider) && provider['name'] === 'tokenFile' ? provider['config'] : undefined;
  const path = isJsonObject(config) ? config['tokenFile'] : undefined;
  return typeof path === 'string' ? path : undefined;
}

/** Without the fields that are not there; the rest as it would come from a file. */
const defined = (fields: Readonly<Record<string, unknown>>): JsonObject =>
  JSON.parse(JSON.stringify(fields)) as Record<string, Json>;
