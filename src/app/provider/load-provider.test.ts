import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CommandError } from '../failures.ts';
import { loadProvider } from './load-provider.ts';

const SDK = new URL('../../sdk/index.ts', import.meta.url).href;

/** A right definition, with whatever else a test wants in it. */
const definition = (more = ''): string => `import { defineProvider } from '${SDK}';

export default defineProvider({
  name: 'acme',
  displayName: 'Acme Cloud',
  architectures: ['amd64'],
  providerID: { scheme: 'acme', format: '{id}', pattern: /^acme:\\/\\/.+$/ },
  ccm: { external: false },
  connect: () => ({ client: 1, clusterId: 'c1' }),
  capabilities: {},
  ${more}
});
`;

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'slipway-load-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<string> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
  return path;
}

/** The message with which a definition is refused. */
async function refusal(path: string): Promise<CommandError> {
  try {
    await loadProvider(folder, path);
  } catch (thrown) {
    assert.ok(thrown instanceof CommandError, String(thrown));
    assert.equal(thrown.exitCode, 2);
    assert.doesNotMatch(thrown.message, /^\s+at /m);
    return thrown;
  }
  return assert.fail('it was loaded');
}

describe('loadProvider', () => {
  it('loads a file, seen from the folder of the user', async () => {
    const { definition: loaded, file, shown } = await loadProvider(folder, await write('a/acme.ts', definition()));
    assert.deepEqual([loaded.name, file, shown], ['acme', join(folder, 'a/acme.ts'), 'a/acme.ts']);
  });

  it('loads the definition of a folder: the one that slipway.yaml names, or the usual ones', async () => {
    await write('project/other.ts', definition());
    await write('project/provider.ts', 'export default 3;');
    await write('project/slipway.yaml', 'spec:\n  definition: ./other.ts\n');
    await write('plain/provider.mjs', definition());
    assert.equal((await loadProvider(folder, 'project')).shown, 'project/other.ts');
    assert.equal((await loadProvider(folder, 'plain')).shown, 'plain/provider.mjs');
  });

  it('loads the example, which imports the package by its name', async () => {
    const root = join(import.meta.dirname, '../../..');
    assert.equal((await loadProvider(root, 'examples/acme-cloud')).definition.name, 'acme-cloud');
  });

  it('takes a definition of another copy of the package', async () => {
    const brand =
      "Object.defineProperty({ name: 'foreign' }, Symbol.for('slipway.dev/provider-definition'), { value: true })";
    const { definition: loaded } = await loadProvider(
      folder,
      await write('foreign.ts', `export default ${brand};`),
    );
    assert.equal(loaded.name, 'foreign');
  });

  const WRONG: readonly { name: string; path: string; text: string; code: string; says: RegExp }[] = [
    {
      name: 'a syntax error in TypeScript',
      path: 'syntax.ts',
      text: 'const a: number = 1;\nexport default {\n  b: 1,,\n};\n',
      code: 'SW2102',
      says: /^syntax\.ts:3:8: Unexpected token/,
    },
    {
      name: 'a syntax error in JavaScript',
      path: 'syntax.mjs',
      text: 'export default {\n  b: 1,,\n};\n',
      code: 'SW2102',
      says: /^syntax\.mjs:2:8: Unexpected token/,
    },
    {
      name: 'an enum',
      path: 'enum.ts',
      text: 'enum A { B }\nexport default A;\n',
      code: 'SW2102',
      says: /^enum\.ts:1:1: .*leaving out the types/,
    },
    {
      name: 'a package that is not installed',
      path: 'package.ts',
      text: "import { defineProvider } from 'slipway-not-here/sdk';\nexport default defineProvider({});\n",
      code: 'SW2102',
      says: /^package\.ts:1:32: it imports 'slipway-not-here', which is not there: run npm install/,
    },
    {
      name: 'a file that is not there',
      path: 'import.ts',
      text: "export { default } from './nope.ts';\n",
      code: 'SW2102',
      says: /^import\.ts:1:25: it imports nope\.ts, which is not there: correct the path/,
    },
    {
      name: 'a name that is not exported',
      path: 'name.ts',
      text: "import { nope } from 'node:path';\nexport default nope;\n",
      code: 'SW2102',
      says: /^name\.ts:1:10: .*does not provide an export named 'nope'/,
    },
    {
      name: 'a file that throws',
      path: 'throws.ts',
      text: "const a = '';\nthrow new Error(`no cloud${a}`);\n",
      code: 'SW2102',
      says: /^throws\.ts:2:7: it threw while it was loaded: no cloud/,
    },
    {
      name: 'no default export',
      path: 'named.ts',
      text: definition().replace('export default', 'export const acme ='),
      code: 'SW2103',
      says: /^named\.ts: it has no default export: write export default acme$/,
    },
    {
      name: 'another default export',
      path: 'literal.ts',
      text: "export default { name: 'acme' };\n",
      code: 'SW2103',
      says: /^literal\.ts: it exports by default something that defineProvider did not make: write export default define/,
    },
    {
      name: 'a folder without a definition',
      path: 'empty/readme.md',
      text: '',
      code: 'SW2101',
      says: /no definition in empty: looked for provider\.ts, provider\.js, provider\.mjs/,
    },
    {
      name: 'a project that names a file which is not there',
      path: 'wrong/slipway.yaml',
      text: 'spec: {definition: gone.ts}\n',
      code: 'SW2101',
      says: /no definition in wrong: looked for gone\.ts, which slipway\.yaml names/,
    },
    {
      name: 'a project that is not YAML',
      path: 'torn/slipway.yaml',
      text: 'spec: [',
      code: 'SW2101',
      says: /^torn\/slipway\.yaml is not YAML/,
    },
  ];
  for (const { name, path, text, code, says } of WRONG) {
    it(`refuses ${name} with one message and no stack`, async () => {
      await write(path, text);
      const isSource = /\.m?ts$|\.mjs$/.test(path);
      const error = await refusal(isSource ? path : dirname(path));
      assert.equal(error.code, code);
      assert.match(error.message, says);
    });
  }

  const OTHERS: readonly { name: string; path: string; text: string; wayOn: string }[] = [
    { name: 'text', path: 'others/README.md', text: '# Acme', wayOn: 'Name a file such as provider.ts' },
    { name: 'JSON', path: 'others/package.json', text: '{}', wayOn: 'Name a file such as provider.ts' },
    { name: 'no extension', path: 'others/provider', text: '', wayOn: 'Name a file such as provider.ts' },
    {
      name: 'a project',
      path: 'beside/slipway.yaml',
      text: 'spec: {definition: acme.ts}\n',
      wayOn: 'Did you mean beside/acme.ts?',
    },
  ];
  for (const { name, path, text, wayOn } of OTHERS) {
    it(`experience/X10: says that a file of ${name} is no definition, and what to give`, async () => {
      await write('beside/acme.ts', definition());
      const { code, message } = await refusal(await write(path, text));
      assert.equal(code, 'SW2103');
      const what = `${path} is not the definition of a provider, which is a module: a .ts, .js or .mjs file. ${wayOn}`;
      assert.equal(message.slice(0, what.length), what);
    });
  }

  it('experience/X10: says so of a file that slipway.yaml names', async () => {
    await write('named/README.md', '# Acme');
    await write('named/slipway.yaml', 'spec: {definition: README.md}\n');
    for (const path of ['named', 'named/slipway.yaml']) {
      const { code, message } = await refusal(path);
      assert.equal(code, 'SW2103');
      assert.match(message, /is not the definition of a provider/);
    }
  });

  it('refuses a path that names nothing', async () => {
    const error = await refusal('nowhere');
    assert.equal(error.code, 'SW2101');
    assert.match(error.message, /^the definition nowhere cannot be read: there is no such file or folder/);
  });

  it('onboarding/R84: lists problems in the order of the source', async () => {
    await write('order.ts', definition("secrets: ['not ok'],\n  tags: { maxkey: 3 },\n  aaa: 1,"));
    const { message } = await refusal('order.ts');
    assert.deepEqual(message.match(/order\.ts:\d+:\d+/g), ['order.ts:11:13', 'order.ts:12:11', 'order.ts:13:3']);
  });

  it('onboarding/R84: names the file that makes the definition, not the one that was given', async () => {
    await write('made/definition.ts', definition('tags: { maxkey: 3 },'));
    await write('made/provider.ts', "export { default } from './definition.ts';\n");
    assert.match((await refusal('made')).message, /\n {2}made\/definition\.ts:11:11 {2}SW2110/);
  });

  it('onboarding/R84: lists everything that is wrong in a definition, each with its place', async () => {
    await write('wrong.ts', definition("tags: { maxkey: 3 },\n  secrets: ['ok', 'not ok'],"));
    const error = await refusal('wrong.ts');
    assert.equal(error.code, 'SW2104');
    assert.deepEqual(
      error.message.split('\n').map((line) => line.trim().split('  ').slice(0, 2).join(' ')),
      [
        'the definition has 2 problems (npx slipway lint wrong.ts shows more):',
        'wrong.ts:11:11 SW2110',
        'wrong.ts:12:19 SW2122',
      ],
    );
  });
});
