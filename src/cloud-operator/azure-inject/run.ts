import { chmod, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { messageOf, SlipwayError, userError } from '../../base/errors.ts';
import type { ExitCode } from '../../kube/manager/exit-code.ts';
import { switchFlag, textFlag } from '../../kube/manager/flag-makers.ts';
import { type Flag, flagHelp, type ParsedFlags, parseFlags } from '../../kube/manager/flag-parser.ts';
import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { JsonProblem, parseJsonBytes } from '../../object/json-text.ts';
import { goJson } from '../../object/validation/go-text.ts';
import { type AzureCredentials, checkCredentials, injectCredentials } from './inject.ts';

/** One run, and what it runs in. */
export interface AzureInjectProgram {
  /** Without the interpreter and the name of the program. */
  readonly argv: readonly string[];
  readonly stdout: (text: string) => void;
  /** Messages. */
  readonly stderr: (text: string) => void;
  /** How it is called, for the help and in front of messages. */
  readonly usage?: string;
}

/** A variable of whoever starts it is not meant for this program. */
const NO_ENVIRONMENT = {};

const AZURE_INJECT_NAME = 'azure-config-credentials-injector';

export const AZURE_INJECT_FLAGS: readonly Flag[] = [
  textFlag(
    'cloud-config-file-path',
    '/tmp/cloud-config/cloud.conf',
    'The cloud configuration without credentials.',
  ),
  textFlag(
    'output-file-path',
    '/tmp/merged-cloud-config/cloud.conf',
    'Where the configuration with credentials goes.',
  ),
  textFlag('creds-path', '/etc/azure/credentials', 'The folder with the files of the Secret.'),
  switchFlag(
    'disable-identity-extension-auth',
    'false',
    'Turns managed identities off where the configuration says something about them.',
  ),
  textFlag(
    'enable-azure-workload-identity',
    'false',
    'Accepted and without effect: the files of the Secret tell.',
  ),
  textFlag('v', '0', 'Accepted and without effect.'),
];

/** 0 when the file is written, 1 when something is missing or cannot be read, 2 for flags that do not fit. */
export async function runAzureInject(program: AzureInjectProgram): Promise<ExitCode> {
  const { usage = AZURE_INJECT_NAME } = program;
  const flags = parseFlags(AZURE_INJECT_FLAGS, program.argv, NO_ENVIRONMENT);
  if (flags.isHelp) {
    program.stdout(flagHelp(usage, AZURE_INJECT_FLAGS, { asksEnvironment: false }));
    return 0;
  }
  if (flags.problems.length > 0) {
    program.stderr(`${usage}: ${flags.problems.join('\n')}\n--help lists all flags\n`);
    return 2;
  }
  try {
    for (const warning of await inject(flags)) program.stderr(`${usage}: ${warning}\n`);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof SlipwayError)) throw thrown;
    program.stderr(`${usage}: ${messageOf(thrown)}\n`);
    return 1;
  }
}

async function inject({ values }: ParsedFlags): Promise<readonly string[]> {
  const source = String(values.get('cloud-config-file-path'));
  await checkIsThere(source);
  const folder = String(values.get('creds-path'));
  const credentials = await readCredentials(folder);
  naming(folder, () => checkCredentials(credentials));
  const { config, warnings } = injectCredentials(await readConfig(source), credentials, {
    disableIdentityExtension: values.get('disable-identity-extension-auth') === true,
  });
  await writeAtOnce(String(values.get('output-file-path')), goJson(config));
  return warnings;
}

/** Before credentials are read: without a configuration there is nothing to put them into. */
async function checkIsThere(path: string): Promise<void> {
  try {
    await stat(path);
  } catch (thrown) {
    if (isMissing(thrown)) throw fileProblem('cloud config', path, thrown);
  }
}

async function readCredentials(folder: string): Promise<AzureCredentials> {
  const clientId = await readIfThere(join(folder, 'azure_client_id'));
  if (clientId === undefined) throw userError('FileUnreadable', `azure_client_id is missing in ${folder}`);
  return {
    clientId,
    clientSecret: await readIfThere(join(folder, 'azure_client_secret')),
    federatedTokenFile: await readIfThere(join(folder, 'azure_federated_token_file')),
    tenantId: await readIfThere(join(folder, 'azure_tenant_id')),
  };
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    if (isMissing(thrown)) return undefined;
    throw fileProblem('credential', path, thrown);
  }
}

async function readConfig(path: string): Promise<JsonObject> {
  try {
    const { value } = parseJsonBytes(await readFile(path));
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (thrown instanceof JsonProblem) {
      throw userError('FileUnreadable', `cloud config ${path} is not JSON: ${thrown.message}`, { cause: thrown });
    }
    throw fileProblem('cloud config', path, thrown);
  }
  throw userError('FileUnreadable', `cloud config ${path} is not a JSON object`);
}

/** Whoever reads the file finds all of it or nothing, also after a kill. */
async function writeAtOnce(path: string, text: string): Promise<void> {
  const fresh = join(dirname(path), `.${basename(path)}.new`);
  try {
    await writeFile(fresh, text, { mode: 0o644 });
    // The mask of the process must not keep the program from reading it, which runs as another user.
    await chmod(fresh, 0o644);
    await rename(fresh, path);
  } catch (thrown) {
    await rm(fresh, { force: true });
    throw fileProblem('result', path, thrown);
  }
}

function naming(folder: string, check: () => void): void {
  try {
    check();
  } catch (thrown) {
    if (!(thrown instanceof SlipwayError)) throw thrown;
    throw userError(thrown.reason, `${folder}: ${messageOf(thrown)}`, { cause: thrown });
  }
}

const isMissing = (thrown: unknown): boolean => codeOf(thrown) === 'ENOENT';

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'unknown error';

function fileProblem(what: string, path: string, cause: unknown): SlipwayError {
  const why = isMissing(cause) ? 'there is no such file or folder' : codeOf(cause);
  const verb = what === 'result' ? 'write' : 'read';
  return userError('FileUnreadable', `cannot ${verb} the ${what} ${path}: ${why}`, { cause });
}
