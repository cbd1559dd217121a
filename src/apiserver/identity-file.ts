import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SlipwayError, terminalError } from '../base/errors.ts';
import { codeOf, ensureFolder, folderRefusal, writeProblem } from './store/data-folder.ts';

/** What is kept on disk between starts, in one file that only its owner reads. */
export interface KeptKeys {
  readonly authorityPem: string;
  readonly authorityKeyPem: string;
  readonly servingCertificatePem: string;
  readonly servingKeyPem: string;
  readonly tokenKeyPem: string;
  readonly tokenPublicPem: string;
  readonly servingExpires: string;
  readonly hostNames: readonly string[];
}

const TEXTS = [
  'authorityPem',
  'authorityKeyPem',
  'servingCertificatePem',
  'servingKeyPem',
  'tokenKeyPem',
  'tokenPublicPem',
  'servingExpires',
] as const;

const FILE = 'identity.json';

/** The keys of an earlier start; undefined when there are none. Refuses what it did not write, and changes nothing. */
export function readKeys(directory: string): KeptKeys | undefined {
  const file = join(directory, FILE);
  const text = textOf(file);
  if (text === undefined) return undefined;
  const kept = parsed(text);
  if (typeof kept === 'string') throw unusable(file, kept);
  const problem = keyProblem(kept);
  if (problem !== undefined) throw unusable(file, problem);
  return kept;
}

/** Written beside and renamed, so that a crash leaves the old keys or the new ones. */
export function writeKeys(directory: string, kept: KeptKeys): void {
  const temporary = join(directory, `${FILE}.new`);
  try {
    ensureFolder(directory, 0o700);
    writeFileSync(temporary, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(temporary, join(directory, FILE));
  } catch (error) {
    rmSync(temporary, { force: true, recursive: true });
    throw terminalError('DataFolderUnusable', folderRefusal(directory, writeProblem(error)), { cause: error });
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    // Below a file nothing is kept either; whoever writes there will say what is wrong with the folder.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw unusable(file, code === 'EACCES' ? 'no permission to read it' : writeProblem(error), error);
  }
}

/** The keys, or what is wrong; never a piece of the text, which holds keys. */
function parsed(text: string): KeptKeys | string {
  if (text.trim() === '') return 'it is empty';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (typeof value !== 'object' || value === null) return 'it is not a JSON object';
  const fields: Partial<Record<keyof KeptKeys, unknown>> = value;
  const missing = TEXTS.find((name) => typeof fields[name] !== 'string');
  if (missing !== undefined) return `${missing} must be text`;
  const { hostNames } = fields;
  const areNames = Array.isArray(hostNames) && hostNames.every((name) => typeof name === 'string');
  // Every member was looked at above.
  return areNames ? (value as KeptKeys) : 'hostNames must be a list of texts';
}

/** What is wrong with the keys and certificates themselves: found now, not when the first client comes. */
function keyProblem(kept: KeptKeys): string | undefined {
  const { authorityKeyPem, servingKeyPem } = kept;
  return (
    pairProblem('authorityPem', kept.authorityPem, 'authorityKeyPem', authorityKeyPem) ??
    pairProblem('servingCertificatePem', kept.servingCertificatePem, 'servingKeyPem', servingKeyPem) ??
    (attempt(() => createPrivateKey(kept.tokenKeyPem)) ? undefined : 'tokenKeyPem is not a key') ??
    (attempt(() => createPublicKey(kept.tokenPublicPem)) ? undefined : 'tokenPublicPem is not a key')
  );
}

function pairProblem(name: string, pem: string, keyName: string, keyPem: string): string | undefined {
  const certificate = attempt(() => new X509Certificate(pem));
  if (certificate === undefined) return `${name} is not a certificate`;
  const key = attempt(() => createPrivateKey(keyPem));
  if (key === undefined) return `${keyName} is not a key`;
  return certificate.checkPrivateKey(key) ? undefined : `${keyName} is not the key of ${name}`;
}

function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

const unusable = (file: string, why: string, cause?: unknown): SlipwayError =>
  terminalError(
    'IdentityUnusable',
    `the keys of the API server in ${file} cannot be used: ${why}. Put the file back from a copy; or remove it: ` +
      'new keys are made then, and kubeconfigs and tokens of before are refused',
    { cause },
  );
