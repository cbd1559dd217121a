import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../../base/errors.ts';
import { isRecord } from '../../object/record.ts';
import { parseYaml } from '../../object/yaml.ts';
import { type DefinitionProblem, problemsOf } from '../../sdk/provider/definition-error.ts';
import { isProviderDefinition, type ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { CommandError } from '../failures.ts';
import { printable, shownPath } from '../journey/plain-text.ts';
import { type ImportFailure, importFailure } from './import-failure.ts';
import { sharingThisPackage } from './own-package.ts';
import { positionOf, type SourcePosition } from './source-position.ts';
import { authorPlace, type StackPlace } from './stack-place.ts';

/** A definition out of a file. */
export interface LoadedProvider {
  readonly definition: ProviderDefinition;
  /** Absolute. */
  readonly file: string;
  /** The same as the user would write it. */
  readonly shown: string;
}

/** What a file that should hold a definition turned out to be. */
export type ProviderFile = Omit<LoadedProvider, 'definition'> &
  (
    | { readonly kind: 'right'; readonly definition: ProviderDefinition }
    | {
        readonly kind: 'wrong';
        readonly problems: readonly DefinitionProblem[];
        /** The call of `defineProvider`, perhaps in a file that the given one imports; that is `file` then. */
        readonly call: StackPlace | undefined;
      }
    | { readonly kind: 'broken'; readonly code: 'SW2102' | 'SW2103'; readonly failure: ImportFailure }
  );

/** In a folder these are looked for, in this order. */
export const PROJECT = 'slipway.yaml';
const FILES = ['provider.ts', 'provider.js', 'provider.mjs'] as const;
export const DEFINITION_FILES: readonly string[] = [PROJECT, ...FILES];
/** What Node imports as a program. */
const MODULE = /\.[cm]?[jt]s$/;

/**
 * Loads the definition of a provider: a file, or a folder with one. Every failure is one message for people.
 *
 * @throws CommandError with exit code 2.
 */
export async function loadProvider(folder: string, path: string): Promise<LoadedProvider> {
  const loaded = await readProvider(folder, path);
  const { kind, file, shown } = loaded;
  switch (kind) {
    case 'right':
      return { definition: loaded.definition, file, shown };
    case 'wrong':
      throw new CommandError('SW2104', 2, problemText(shown, placed(loaded, await sourceOf(file))));
    case 'broken':
      throw new CommandError(loaded.code, 2, failureText(folder, loaded.failure));
  }
}

/** The same, for whoever wants to know everything that is wrong; throws only when there is no file. */
export async function readProvider(folder: string, path: string): Promise<ProviderFile> {
  const file = await providerFile(folder, path);
  const place = { file, shown: shownPath(folder, file) };
  try {
    using _shared = sharingThisPackage();
    const module: unknown = await import(pathToFileURL(file).href);
    return { ...place, ...exportedDefinition(module, file) };
  } catch (thrown) {
    const problems = problemsOf(thrown);
    if (problems !== undefined) {
      const call = authorPlace(thrown, file);
      const where = call?.file ?? file;
      return { file: where, shown: shownPath(folder, where), kind: 'wrong', problems, call };
    }
    return { ...place, kind: 'broken', code: 'SW2102', failure: await importFailure(folder, file, thrown) };
  }
}

/** A problem with where it is; without a position, nothing but its file is known. */
export interface PlacedProblem {
  readonly problem: DefinitionProblem;
  readonly position: SourcePosition | undefined;
}

/** In the order of the source, then of their paths. */
export const placed = (
  { problems, call }: Pick<Extract<ProviderFile, { kind: 'wrong' }>, 'problems' | 'call'>,
  source: string,
): readonly PlacedProblem[] =>
  problems
    .map((problem) => ({
      problem,
      position:
        positionOf(source, problem.path, call) ?? (call && { line: call.line, column: call.column, length: 1 }),
    }))
    .toSorted((a, b) => byPosition(a.position, b.position) || byText(a.problem.path, b.problem.path));

const byPosition = (a: SourcePosition | undefined, b: SourcePosition | undefined): number =>
  (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0);

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** The text of a file; empty when it cannot be read. */
export const sourceOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

function failureText(folder: string, { file, line, column, message, hint }: ImportFailure): string {
  const place = [shownPath(folder, file), line, column].filter((part) => part !== undefined).join(':');
  return `${place}: ${printable(message)}: ${printable(hint)}`;
}

async function providerFile(folder: string, path: string): Promise<string> {
  const place = resolve(folder, path);
  const found = await stat(place).catch((error: unknown) => missingFile(path, error));
  if (!found.isDirectory()) return MODULE.test(place) ? place : otherFile(folder, path);
  const named = await projectDefinition(place, shownPath(folder, join(place, PROJECT)));
  const candidates = named === undefined ? FILES.map((name) => join(place, name)) : [resolve(place, named)];
  for (const candidate of candidates) {
    if ((await stat(candidate).catch(() => undefined))?.isFile() !== true) continue;
    if (MODULE.test(candidate)) return candidate;
    throw notModule(shownPath(folder, candidate), `Correct spec.definition in ${PROJECT}`);
  }
  const where = named === undefined ? FILES.join(', ') : `${named}, which ${PROJECT} names`;
  throw notThere(`there is no definition in ${printable(path)}: looked for ${printable(where)}`);
}

/** The definition may well be beside it: the project and its package name it. */
async function otherFile(folder: string, path: string): Promise<never> {
  const beside = await providerFile(folder, dirname(path)).catch(() => undefined);
  throw notModule(path, beside === undefined ? GIVE : `Did you mean ${printable(shownPath(folder, beside))}?`);
}

const notModule = (path: string, wayOn: string): CommandError =>
  new CommandError(
    'SW2103',
    2,
    `${printable(path)} is not the definition of a provider, which is a module: a .ts, .js or .mjs file. ${wayOn}`,
  );

function missingFile(path: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
  const why = isMissing ? 'there is no such file or folder' : messageOf(error);
  throw notThere(`the definition ${printable(path)} cannot be read: ${why}`);
}

const notThere = (message: string): CommandError => new CommandError('SW2101', 2, `${message}. ${GIVE}`);

const GIVE = 'Name a file such as provider.ts, or the folder that it is in';

/** `spec.definition` of the project; undefined without a project, or when it says nothing about it. */
async function projectDefinition(folder: string, shown: string): Promise<string | undefined> {
  const text = await readFile(join(folder, PROJECT), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const project: unknown = parseYaml(text);
    const spec = isRecord(project) ? project['spec'] : undefined;
    const definition = isRecord(spec) ? spec['definition'] : undefined;
    if (definition === undefined) return undefined;
    if (typeof definition === 'string' && definition !== '') return definition;
  } catch (error) {
    throw notThere(`${shown} is not YAML: ${messageOf(error)}`);
  }
  throw notThere(`${shown}: spec.definition must be the path of a file`);
}

function exportedDefinition(module: unknown, file: string) {
  const exported: unknown = Object(module).default;
  if (isProviderDefinition(exported)) return { kind: 'right', definition: exported } as const;
  const message =
    exported === undefined
      ? 'it has no default export'
      : 'it exports by default something that defineProvider did not make';
  const [named] = Object.entries(Object(module)).find(([, value]) => isProviderDefinition(value)) ?? [];
  const hint = `write export default ${named ?? 'defineProvider({ … })'}`;
  return { kind: 'broken', code: 'SW2103', failure: { file, message, hint } } as const;
}

/** All of them, each with its place. */
function problemText(shown: string, problems: readonly PlacedProblem[]): string {
  const lines = problems.map(({ problem: { code, message, hint }, position }) => {
    const place = position === undefined ? shown : `${shown}:${position.line}:${position.column}`;
    return `  ${place}  ${code}  ${printable(message)}: ${printable(hint)}`;
  });
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return [`the definition has ${count} (npx slipway lint ${shown} shows more):`, ...lines].join('\n');
}
