import { delimiter, isAbsolute, join } from 'node:path';
import type { JsonObject } from '../../object/json.ts';
import { EXEC_API_VERSIONS, type ExecApiVersion } from './exec-credential.ts';
import { ExecPlugin, type InteractiveMode, missingPluginText } from './exec-plugin.ts';
import type { Fields } from './kubeconfig-fields.ts';
import type { Surroundings } from './surroundings.ts';

const MODES = ['Never', 'IfAvailable', 'Always'] as const;

/** Reads the `exec` section of a user (C4). A program that is not there is a problem now, not at the first request. */
export async function execSection(
  fields: Fields,
  around: Surroundings,
  clusterInfo: () => Promise<JsonObject>,
): Promise<ExecPlugin | undefined> {
  const apiVersion = execApiVersion(fields);
  const interactiveMode = mode(fields, apiVersion);
  const env = variables(fields);
  const args = fields.texts('args');
  const installHint = fields.text('installHint');
  const wantsCluster = fields.flag('provideClusterInfo');
  const name = fields.text('command');
  if (name === undefined) fields.problem('command', 'is missing; name the program that prints the credential');
  const command = name === undefined ? undefined : await programPath(fields, name, around);
  const hint = installHint === undefined ? {} : { installHint };
  if (name !== undefined && command === undefined) fields.problem('command', missingPluginText({ name, ...hint }));
  if (name === undefined || command === undefined || apiVersion === undefined || interactiveMode === undefined)
    return undefined;
  const cluster = wantsCluster ? { cluster: clusterInfo } : {};
  return new ExecPlugin({ name, command, args, env, apiVersion, interactiveMode, ...hint, ...cluster }, around);
}

function execApiVersion(fields: Fields): ExecApiVersion | undefined {
  const found = fields.text('apiVersion');
  const known = EXEC_API_VERSIONS.find((version) => version === found);
  if (known !== undefined) return known;
  const allowed = EXEC_API_VERSIONS.join(' or ');
  const what = found === undefined ? 'is missing' : `found "${found}"`;
  const old =
    found?.endsWith('/v1alpha1') === true ? '; v1alpha1 is gone since Kubernetes 1.24, get a newer plugin' : '';
  fields.problem('apiVersion', `${what}; allowed is ${allowed}${old}`);
  return undefined;
}

/** v1 wants to be told; v1beta1 means `IfAvailable`. */
function mode(fields: Fields, apiVersion: ExecApiVersion | undefined): InteractiveMode | undefined {
  const found = fields.text('interactiveMode');
  if (found === undefined && apiVersion === 'client.authentication.k8s.io/v1beta1') return 'IfAvailable';
  const known = MODES.find((allowed) => allowed === found);
  if (known === undefined) {
    const what = found === undefined ? 'is missing' : `found "${found}"`;
    fields.problem('interactiveMode', `${what}; allowed is ${MODES.join(', ')}`);
  }
  return known;
}

function variables(fields: Fields): Record<string, string> {
  const entries = fields.items('env', 'name').flatMap((item): [string, string][] => {
    const name = item.text('name');
    if (name === undefined) item.problem('name', 'is missing; name the environment variable');
    return name === undefined ? [] : [[name, item.text('value') ?? '']];
  });
  return Object.fromEntries(entries);
}

/** A name with a slash is a path relative to the kubeconfig; any other is looked up in PATH. */
async function programPath(
  fields: Fields,
  name: string,
  { env, isProgram }: Surroundings,
): Promise<string | undefined> {
  const isPath = name.includes('/') || isAbsolute(name);
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = isPath ? [fields.file.resolvePath(name)] : folders.map((folder) => join(folder, name));
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return undefined;
}
