import { delimiter, join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { type Clock, SystemClock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import { dnsLabelProblems } from '../../object/names.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { clusterPart, execClusterInfo } from './cluster-section.ts';
import { type RunProgram, runProgram } from './exec-process.ts';
import { accessFromObject, type ExplicitAccess } from './explicit-access.ts';
import { isMissingFile, type ReadFile, readTextFile, unreadableText } from './file-text.ts';
import { inClusterAccess, isInPod, noTokenError } from './in-cluster.ts';
import type { Fields } from './kubeconfig-fields.ts';
import { type KubeconfigFile, parseKubeconfig } from './kubeconfig-file.ts';
import { type MergedKubeconfig, mergeKubeconfigs } from './kubeconfig-merge.ts';
import type { OidcTokens } from './oidc-provider.ts';
import { ProblemList } from './problem-list.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';
import { type Environment, isProgramFile, type Surroundings } from './surroundings.ts';
import { userCredentials } from './user-section.ts';

export interface KubeconfigOptions {
  readonly env: Environment;
  readonly homeDir: string;
  /** Before everything else: what the program was told directly. */
  readonly explicit?: ExplicitAccess;
  /** `--kubeconfig`: this file and no other. */
  readonly kubeconfigFlag?: string;
  /** `--context`: instead of the current one. */
  readonly contextFlag?: string;
  readonly clock?: Clock;
  readonly readFile?: ReadFile;
  /** Whether there is a program at a path. */
  readonly isProgram?: (path: string) => Promise<boolean>;
  readonly run?: RunProgram;
  /** Whether a credential plugin may ask the user at standard input; unless told otherwise, whether that is a terminal. */
  readonly isTerminal?: boolean;
  /** Gets what credential plugins say to their user; our own stderr unless told otherwise. */
  readonly stderr?: (text: string) => void;
  /** Gets renewed OIDC tokens; the kubeconfig is never written (C5). */
  readonly onOidcTokens?: (tokens: OidcTokens) => Promise<void>;
}

/**
 * Finds out which API server to talk to, and as whom (C1): an explicit object; `--kubeconfig`; the files of `KUBECONFIG`,
 * merged; the service account of the pod; `~/.kube/config`. Files are read now, everything in the chosen context is
 * checked, and all problems are thrown together as one `InvalidKubeconfig` (C8); `NoKubeconfig` when there is nothing to
 * read. Nothing is sent to the server.
 */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<ClusterAccess> {
  const around = surroundingsOf(options);
  const { explicit, env, kubeconfigFlag, contextFlag, homeDir } = options;
  if (explicit !== undefined) return accessFromObject(explicit, around.clock);
  if (kubeconfigFlag !== undefined)
    return accessFromFiles(await flagFile(kubeconfigFlag, around), around, contextFlag);
  const list = pathList(env['KUBECONFIG'] ?? '');
  if (list.length > 0) return accessFromFiles(await listedFiles(list, around), around, contextFlag);
  // Somebody who names a context means a file.
  const isPod = isInPod(env) && contextFlag === undefined;
  const pod = isPod ? await inClusterAccess(around) : undefined;
  if (pod !== undefined) return pod;
  const home = join(homeDir, '.kube', 'config');
  const texts = await readFiles([home], around);
  if (texts.length > 0) return accessFromFiles(texts, around, contextFlag);
  if (isPod) throw noTokenError();
  throw userError(
    'NoKubeconfig',
    `there is no kubeconfig: KUBECONFIG is not set, this is no pod, and ${home} does not exist. Set KUBECONFIG, give --kubeconfig, or write that file`,
  );
}

function surroundingsOf(options: KubeconfigOptions): Surroundings {
  return {
    env: options.env,
    clock: options.clock ?? new SystemClock(),
    readFile: options.readFile ?? readTextFile,
    isProgram: options.isProgram ?? isProgramFile,
    run: options.run ?? runProgram,
    isTerminal: options.isTerminal ?? isatty(0),
    stderr: options.stderr ?? ((text) => void process.stderr.write(text)),
    ...(options.onOidcTokens !== undefined && { onOidcTokens: options.onOidcTokens }),
  };
}

const pathList = (value: string): readonly string[] => [
  ...new Set(
    value
      .split(delimiter)
      .filter((path) => path !== '')
      .map((path) => resolve(path)),
  ),
];

interface FileTextOf {
  readonly path: string;
  readonly text: string;
}

async function flagFile(path: string, around: Surroundings): Promise<readonly FileTextOf[]> {
  const texts = await readFiles([resolve(path)], around);
  if (texts.length > 0) return texts;
  throw userError('NoKubeconfig', `--kubeconfig names ${path}, but there is no such file. Name one that exists`);
}

async function listedFiles(paths: readonly string[], around: Surroundings): Promise<readonly FileTextOf[]> {
  const texts = await readFiles(paths, around);
  if (texts.length > 0) return texts;
  throw userError(
    'NoKubeconfig',
    `KUBECONFIG names ${paths.join(', ')}, but no such file exists. Name one that exists, or unset KUBECONFIG to use the default`,
  );
}

/** The files that exist; what is there but cannot be read is a problem. */
async function readFiles(paths: readonly string[], { readFile }: Surroundings): Promise<readonly FileTextOf[]> {
  const problems = new ProblemList();
  const texts: FileTextOf[] = [];
  for (const path of paths) {
    try {
      texts.push({ path, text: await readFile(path) });
    } catch (error) {
      if (!isMissingFile(error)) problems.add(`${path}: cannot be read: ${unreadableText(error)}`);
    }
  }
  if (!problems.isEmpty) throw problems.error('InvalidKubeconfig', 'the kubeconfig');
  return texts;
}

function accessFromFiles(
  texts: readonly FileTextOf[],
  around: Surroundings,
  contextFlag: string | undefined,
): Promise<ClusterAccess> {
  const problems = new ProblemList();
  const files = texts.flatMap(({ path, text }) => parseKubeconfig(path, text, problems) ?? []);
  // What a broken file would have said is unknown, so there is no use in looking for a context.
  if (!problems.isEmpty) throw problems.error('InvalidKubeconfig', 'the kubeconfig');
  return resolveAccess({ files, problems, around, ...(contextFlag !== undefined && { contextFlag }) });
}

export interface ResolveRequest {
  /** At least one. */
  readonly files: readonly KubeconfigFile[];
  readonly problems: ProblemList;
  readonly around: Surroundings;
  readonly contextFlag?: string;
}

/** The access that the chosen context of some files stands for. */
export async function resolveAccess(request: ResolveRequest): Promise<ClusterAccess> {
  const { files, problems, around, contextFlag } = request;
  const merged = mergeKubeconfigs(files, problems);
  const chosen = chosenContext(merged, files, contextFlag);
  if (typeof chosen === 'string') problems.add(chosen);
  const access = typeof chosen === 'string' ? undefined : await contextAccess(merged, chosen, around);
  if (access !== undefined && problems.isEmpty) return access;
  throw problems.error('InvalidKubeconfig', 'the kubeconfig');
}

interface Chosen {
  readonly name: string;
  readonly fields: Fields;
}

function chosenContext(
  { contexts, current }: MergedKubeconfig,
  files: readonly KubeconfigFile[],
  contextFlag: string | undefined,
): Chosen | string {
  const where = files.map(({ path }) => path).join(', ');
  const name = contextFlag ?? current?.name;
  if (name === undefined) {
    return `${where}: current-context is not set; give --context or run "kubectl config use-context". ${known(contexts)}`;
  }
  const fields = contexts.get(name);
  if (fields !== undefined) return { name, fields };
  const line = current?.top.file.lineOf(['current-context']);
  const place = current === undefined ? where : `${current.top.file.path}${line === undefined ? '' : `:${line}`}`;
  const origin = contextFlag === undefined ? `${place}: current-context: there` : `${where}: --context: there`;
  return `${origin} is no context "${name}". ${known(contexts)}`;
}

const SHOWN_NAMES = 20;

function known(entries: ReadonlyMap<string, unknown>): string {
  const names = [...entries.keys()].sort();
  if (names.length === 0) return 'There is none';
  const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : '';
  return `There ${names.length === 1 ? 'is' : 'are'}: ${names.slice(0, SHOWN_NAMES).join(', ')}${more}`;
}

async function contextAccess(
  merged: MergedKubeconfig,
  { name, fields }: Chosen,
  around: Surroundings,
): Promise<ClusterAccess | undefined> {
  const clusterFields = referred(fields, 'cluster', merged.clusters);
  const userFields = referred(fields, 'user', merged.users);
  const namespace = fields.text('namespace');
  if (namespace !== undefined && dnsLabelProblems(namespace).length > 0) {
    fields.problem(
      'namespace',
      `found "${namespace}", which cannot be the name of a namespace; allowed are a-z, 0-9 and "-"`,
    );
  }
  const cluster = clusterFields === undefined ? undefined : await clusterPart(clusterFields, around);
  const clusterInfo = async () =>
    clusterFields === undefined || cluster === undefined ? {} : execClusterInfo(clusterFields, cluster);
  const credentials =
    userFields === undefined ? undefined : await userCredentials(userFields, around, clusterInfo);
  if (cluster === undefined || credentials === undefined) return undefined;
  const proxyUrl = cluster.proxyUrl ?? proxyFromEnvironment(cluster.server, around.env);
  return {
    ...cluster,
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(namespace !== undefined && { namespace }),
    credentials,
    source: `context "${name}" of ${fields.file.path}`,
  };
}

function referred(
  context: Fields,
  key: 'cluster' | 'user',
  entries: ReadonlyMap<string, Fields>,
): Fields | undefined {
  const name = context.text(key);
  const found = name === undefined ? undefined : entries.get(name);
  if (found !== undefined) return found;
  const what = name === undefined ? 'is missing' : `there is no ${key} "${name}"`;
  context.problem(key, `${what}. ${known(entries)}`);
  return undefined;
}
