import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { FAILURES } from '../failures.ts';
import type { Finding } from './finding.ts';
import { lintProvider } from './lint-provider.ts';

interface Parts {
  readonly fields?: string;
  readonly capabilities?: string;
  readonly example?: string;
}

const METADATA =
  "metadata: { declare: () => ({ addresses: ['169.254.169.254'], paths: { instanceId: '/id' } }) },";
const ZONES = 'zones: { declare: () => ({ isolated: true }), list },';
const INSTANCES = 'instances: { declare: () => ({}), describe: list, describeMany: list },';

/** A definition without a single finding, or with what is given in place of its parts. */
const source = ({ fields = '', capabilities, example = "example: 'acme://1'" }: Parts): string => `
import { defineProvider } from 'slipway/sdk';
const list = async () => [];
export default defineProvider({
  name: 'acme',
  displayName: 'Acme Cloud',
  architectures: ['amd64'],
  providerID: { scheme: 'acme', format: '{id}', pattern: /^acme:\\/\\/.+$/, ${example} },
  connect: () => ({ client: 1, clusterId: 'c1' }),
  ${fields}
  capabilities: {
    ${capabilities ?? `${INSTANCES} ${ZONES} ${METADATA}`}
  },
});
`;

async function lint(folder: { readonly path: string }, text: string) {
  await writeFile(join(folder.path, 'provider.ts'), text);
  return lintProvider(folder.path, 'provider.ts');
}

/** The text that a finding is about. */
function meant(text: string, { line = 0, column = 1, length = 0 }: Finding): string | undefined {
  return text.split('\n')[line - 1]?.slice(column - 1, column - 1 + length);
}

const VOLUMES = `{ declare: () => ({ minBytes: 1n, maxBytes: 2n, stepBytes: 1n, nameLength: 9, sharing: 'never', growsOnline: false }),
  create: list, describe: list, list, remove: list }`;
const BALANCERS = `{ declare: () => ({ protocols: ['TCP'], healthChecks: ['tcp'], sourceRanges: false,
  preservesClientAddress: false, sessionAffinity: false, scopes: ['public'] }),
  find: list, ensure: list, setBackends: list, remove: list }`;

const WARNINGS: readonly { name: string; given: Parts; code: string; at: string }[] = [
  {
    name: 'instances that cannot be asked for many at once',
    given: { capabilities: `instances: { declare: () => ({}), describe: list }, ${ZONES} ${METADATA}` },
    code: 'SW2151',
    at: 'instances',
  },
  {
    name: 'instances without zones',
    given: { capabilities: `${INSTANCES} ${METADATA}` },
    code: 'SW2152',
    at: 'instances',
  },
  { name: 'no metadata', given: { capabilities: `${INSTANCES} ${ZONES}` }, code: 'SW2153', at: 'capabilities' },
  {
    name: 'load balancers that are open to everybody',
    given: { capabilities: `${INSTANCES} ${ZONES} ${METADATA} loadBalancers: ${BALANCERS},` },
    code: 'SW2154',
    at: 'sourceRanges',
  },
  { name: 'a form of provider IDs without an example', given: { example: '' }, code: 'SW2155', at: 'providerID' },
  { name: 'a key that is too long', given: { fields: 'tags: { maxKey: 48 },' }, code: 'SW2156', at: 'maxKey' },
  {
    name: 'volumes that cannot be attached',
    given: { capabilities: `${INSTANCES} ${ZONES} ${METADATA} volumes: ${VOLUMES},` },
    code: 'SW2157',
    at: 'volumes',
  },
  {
    name: 'a storage class without volumes',
    given: { fields: "storage: { defaultClass: { name: 'ssd' } }," },
    code: 'SW2158',
    at: 'storage',
  },
  {
    name: 'ingress by load balancers that there are none of',
    given: { fields: "ingress: { strategy: 'LoadBalancerService' }," },
    code: 'SW2159',
    at: 'strategy',
  },
];

describe('lint of a provider', () => {
  for (const { name, given, code, at } of WARNINGS) {
    it(`experience/X41: warns of ${name}, at its place, and of nothing else`, async () => {
      await using folder = await scratchDirectory();
      const text = source(given);
      const { findings } = await lint(folder, text);
      assert.deepEqual(
        findings.map((finding) => [finding.code, finding.severity]),
        [[code, 'warning']],
      );
      const [finding] = findings;
      assert.ok(finding !== undefined && finding.why !== '' && finding.fix !== '');
      assert.equal(meant(text, finding), at);
    });
  }

  it('experience/X41: finds nothing in the example, nor in what needs no change', async () => {
    await using folder = await scratchDirectory();
    assert.deepEqual((await lint(folder, source({}))).findings, []);
    const root = join(import.meta.dirname, '../../..');
    assert.deepEqual((await lintProvider(root, 'examples/acme-cloud')).findings, []);
  });

  it('experience/X41: lists errors by file, line and column, each with what, why and fix', async () => {
    await using folder = await scratchDirectory();
    const text = source({ fields: 'ccm: { extern: 1 }, tags: { maxkey: 1 },', example: 'example: 3' });
    const { findings, files } = await lint(folder, text);
    assert.equal(files, 1);
    assert.deepEqual(
      findings.map((finding) => [finding.file, finding.line, finding.code]),
      [
        ['provider.ts', 8, 'SW2112'],
        ['provider.ts', 10, 'SW2110'],
        ['provider.ts', 10, 'SW2110'],
      ],
    );
    assert.ok((findings[1]?.column ?? 0) < (findings[2]?.column ?? 0));
    for (const { message, why, fix } of findings) {
      assert.ok(message !== '' && why !== '' && fix !== '');
      assert.doesNotMatch(why, /\.$|^[A-Z]/);
    }
  });

  it('experience/X41: takes a file that cannot be loaded for one with an error, where that is', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'client.ts'), 'export const a = ;\n');
    const { findings, sources } = await lint(folder, "import './client.ts';\n");
    assert.partialDeepStrictEqual(findings, [
      { file: 'client.ts', line: 1, column: 18, severity: 'error', code: 'SW2102' },
    ]);
    assert.deepEqual([...sources.keys()], ['client.ts']);
  });

  const elsewhere: readonly { name: string; files: Record<string, string>; want: readonly unknown[] }[] = [
    {
      name: 'the call of defineProvider, where another file makes the definition',
      files: {
        'provider.ts': "export { default } from './definition.ts';\n",
        'definition.ts': source({ fields: 'tags: { maxkey: 1 },' }),
      },
      want: ['definition.ts', 10, 11],
    },
    {
      name: 'the call under another name, and the one that failed',
      files: {
        'provider.ts': `import { defineProvider as define } from 'slipway/sdk';
const other = () => define({ tags: { maxkey: 1 } });
${source({ fields: 'tags: { maxkey: 1 },' })
  .replace(/^.*sdk';$/m, '')
  .replace('defineProvider', 'define')}`,
      },
      want: ['provider.ts', 12, 11],
    },
    {
      name: 'the field that a constant of another file is in',
      files: {
        'provider.ts': `import { tags } from './tags.ts';
export const unused = () => { const tags = { maxkey: 0 }; return tags; };
${source({ fields: 'tags,' })}`,
        'tags.ts': 'export const tags = { maxkey: 1 };\n',
      },
      want: ['provider.ts', 12, 3],
    },
    {
      name: 'the file alone of a warning about a definition that another file makes',
      files: {
        'provider.ts': "export { default } from './definition.ts';\n",
        'definition.ts': source({ example: '' }),
      },
      want: ['provider.ts', undefined, undefined],
    },
    {
      name: 'the import of a file that is not there',
      files: { 'provider.ts': [source({}), "import './nope.ts';\n"].join('') },
      want: ['provider.ts', 15, 8],
    },
    {
      name: 'the file alone when Node does not tell which import has a mistake',
      files: { 'provider.ts': "import './client.mjs';\n", 'client.mjs': 'export const a = { b: 1,, };\n' },
      want: ['provider.ts', undefined, undefined],
    },
    {
      name: 'the file alone when Node refuses an import, and no line of ours',
      files: { 'provider.ts': "import './data.json';\n", 'data.json': '{}' },
      want: ['provider.ts', undefined, undefined],
    },
    {
      name: 'the line that calls a package which throws',
      files: {
        'provider.ts': "import { open } from './node_modules/cloud/index.mjs';\n\nopen();\n",
        'node_modules/cloud/index.mjs': "export const open = () => { throw new Error('no cloud'); };\n",
      },
      want: ['provider.ts', 3, 1],
    },
  ];
  for (const { name, files, want } of elsewhere) {
    it(`experience/X41: points to ${name}`, async () => {
      await using folder = await scratchDirectory();
      await mkdir(join(folder.path, 'node_modules/cloud'), { recursive: true });
      for (const [path, text] of Object.entries(files)) await writeFile(join(folder.path, path), text);
      const { findings } = await lintProvider(folder.path, 'provider.ts');
      assert.deepEqual(
        findings.map(({ file, line, column }) => [file, line, column]),
        [want],
      );
    });
  }

  it('experience/X41: lists what is at one place in the order of the paths, whatever the codes', async () => {
    await using folder = await scratchDirectory();
    const empty = ["import { defineProvider } from 'slipway/sdk';", 'export default defineProvider({});'].join(
      '\n',
    );
    const { findings } = await lint(folder, empty);
    assert.deepEqual(
      findings.map(({ message }) => message.split(' ')[0]),
      ['architectures', 'capabilities', 'ccm.external', 'connect', 'displayName', 'name', 'providerID'],
    );
  });

  it('experience/X41: reports a file without a definition', async () => {
    await using folder = await scratchDirectory();
    assert.partialDeepStrictEqual((await lint(folder, 'export const a = 1;\n')).findings, [
      { file: 'provider.ts', code: 'SW2103', severity: 'error' },
    ]);
  });

  it('experience/X10: explains every code that a definition can earn', async () => {
    const used = WARNINGS.map(({ code }) => code);
    assert.deepEqual(
      used.filter((code) => !Object.hasOwn(FAILURES, code)),
      [],
    );
  });
});
