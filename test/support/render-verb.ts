import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KubeObject } from '../../src/api/object.ts';
import type { ExitCode, VerbContext } from '../../src/app/verb.ts';
import { renderVerb } from '../../src/app/verbs/render.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { parseYaml } from '../../src/object/yaml.ts';
import { scratchDirectory } from './scratch.ts';

const SDK = pathToFileURL(resolve('src/sdk/index.ts')).href;

/** A definition in a file, as partners write them. */
const providerText = (metadata: string, name: string): string => `
import { defineProvider } from '${SDK}';
export default defineProvider({
  name: '${name}',
  displayName: 'Acme Cloud',
  architectures: ['amd64'],
  providerID: { scheme: 'acme', format: '{id}', pattern: /^acme:\\/\\/.+$/ },
  secrets: ['ACME_TOKEN'],
  connect: () => ({ client: undefined, clusterId: 'test' }),
  capabilities: {
    instances: { declare: () => ({}), describe: async () => ({ state: 'unmanaged' }) },
    ${metadata}
  },
});
`;
/** Machines can find out who they are. */
const METADATA =
  "metadata: { declare: () => ({ addresses: ['169.254.169.254'], paths: { instanceId: '/id' } }) },";

export interface Ran {
  readonly code: ExitCode;
  readonly text: string;
  readonly json: unknown;
  readonly hints: readonly string[];
}

/** Runs the verb in a folder, with `--flag=value` words. */
export const render = (folder: string, ...words: readonly string[]): Promise<Ran> => renderWith({}, folder, words);

/** The same with variables of the environment; `hints` are known when it fails, too. */
export async function renderWith(
  env: VerbContext['env'],
  folder: string,
  words: readonly string[],
  hints: string[] = [],
): Promise<Ran> {
  const results: { readonly text: string; readonly json: unknown }[] = [];
  const context: VerbContext = {
    output: {
      result: (text, json) => void results.push({ text, json }),
      hint: (text) => void hints.push(text),
      show: () => assert.fail('there is no journey'),
    },
    clock: new SystemClock(),
    signal: new AbortController().signal,
    folder,
    env,
  };
  const flags = new Map(
    words
      .filter((word) => word.startsWith('--'))
      .map((word) => {
        const [name = '', value = 'true'] = word.slice(2).split('=');
        return [name, value] as const;
      }),
  );
  const positionals = words.filter((word) => !word.startsWith('--'));
  const code = await renderVerb.run(context, { flags, env }, positionals);
  const [{ text, json } = { text: '', json: undefined }] = results;
  return { code, text, json, hints };
}

/** A project of a partner. */
export async function projectWith(metadata = METADATA, name = 'acme') {
  const scratch = await scratchDirectory();
  await writeFile(join(scratch.path, 'provider.ts'), providerText(metadata, name));
  return scratch;
}

export const documentsOf = (text: string): readonly KubeObject[] =>
  text
    .split(/^---$/m)
    .slice(1)
    .map((document) => parseYaml(document) as KubeObject);

export const filesIn = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
};
