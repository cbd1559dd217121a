import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { phaseContext } from '../../../test/support/phase-context.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import type { PhaseOutcome } from '../journey/phase.ts';
import { definitionPhase, PROVIDER } from './definition-phase.ts';

interface Ran {
  readonly outcome: PhaseOutcome;
  /** Of the definition that later phases get; undefined when they get none. */
  readonly name: string | undefined;
}

/** Runs the phase in a folder with these files. */
async function ran(path: string | undefined, files: Readonly<Record<string, string>> = {}): Promise<Ran> {
  await using folder = await scratchDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  const { context } = phaseContext(folder.path);
  const outcome = await definitionPhase(path).run(context);
  const name = outcome.health === 'done' ? PROVIDER.get(context).definition.name : undefined;
  if (outcome.health !== 'done') assert.throws(() => PROVIDER.get(context), /nothing was handed over/);
  return { outcome, name };
}

const definition = (fields: string): string => `
import { defineProvider } from 'slipway/sdk';
export default defineProvider({
  displayName: 'Tiny',
  providerID: { scheme: 'tiny', format: '{id}', pattern: /^tiny:\\/\\/.+$/ },
  connect: () => ({ client: undefined, clusterId: 'c' }),
  ${fields}
});
`;
const INSTANCES = "instances: { declare: () => ({}), describe: async () => ({ state: 'unmanaged' }) }";

describe('the definition phase', () => {
  it('takes the example when nobody names another definition', async () => {
    const { outcome, name } = await ran(undefined);
    assert.equal(name, 'acme-cloud');
    assert.partialDeepStrictEqual(outcome, {
      health: 'done',
      detail: 'Acme Cloud: 4 of 12 capabilities, 0 errors',
    });
  });

  it('loads what is named, from a folder that has no packages', async () => {
    const fields = `name: 'tiny', architectures: ['amd64'], capabilities: { ${INSTANCES} }`;
    for (const path of ['provider.ts', '.']) {
      const { outcome, name } = await ran(path, { 'provider.ts': definition(fields) });
      assert.equal(name, 'tiny', JSON.stringify(outcome));
    }
  });

  const failures = [
    {
      of: 'a path that is not there',
      path: 'nope/provider.ts',
      code: 'SW2101',
      cause: /nope\/provider\.ts.* no such file or folder/,
    },
    {
      of: 'a folder without a definition',
      path: '.',
      code: 'SW2101',
      cause: /there is no definition in \.: looked for provider\.ts, /,
    },
    {
      of: 'a file that is no TypeScript',
      path: 'provider.ts',
      text: 'export default {\n',
      code: 'SW2102',
      cause: /provider\.ts:\d+:\d+: /,
    },
    {
      of: 'a file that exports something else',
      path: 'provider.ts',
      text: 'export default { name: 1 };\n',
      code: 'SW2103',
      cause: /provider\.ts.* exports by default .*: write export default defineProvider/,
    },
    {
      of: 'a definition with problems, all of them with their places',
      path: 'provider.ts',
      text: definition("name: 'Bad Name', architectures: ['x86'], capabilities: {}"),
      code: 'SW2104',
      cause:
        /3 problems .*: provider\.ts:7:\d+ SW2114 .*; provider\.ts:7:\d+ SW2113 .*; provider\.ts:7:\d+ SW2121 /,
    },
  ] as const;
  for (const { of, path, code, cause, ...more } of failures) {
    it(`experience/X31: fails with one line that names ${of}`, async () => {
      const { outcome } = await ran(path, 'text' in more ? { 'provider.ts': more.text } : {});
      assert.partialDeepStrictEqual(outcome, { health: 'failed', detail: 'the definition cannot be used', code });
      const told = outcome.health === 'failed' ? (outcome.cause ?? '') : '';
      assert.match(told, cause);
      assert.doesNotMatch(told, /\n/);
    });
  }
});
