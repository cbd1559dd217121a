import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { placeOf, positionOf } from './source-position.ts';
import { tokensOf } from './source-tokens.ts';

const SOURCE = `import { defineProvider } from 'slipway/sdk';
// name: 'not this one'
const tags = { maxKey: 3 };
const pages = \`connect: \${1}\`;

export default defineProvider<Client>({
  'name': 'acme', /* displayName: */ displayName: "a, b: {c",
  providerID: { scheme: 'acme', pattern: /^acme:\\/\\/[{,}/"]+$/ },
  architectures: ['amd64', [1], 'arm64'],
  tags,
  async connect(context: Context): Promise<void> { return { ccm: 1 }; },
  ccm: { external: a < b },
  capabilities: {
    zones: { declare: () => ({ isolated: true }), list },
    volumes: {
      declare() {
        return { minBytes: 1n };
      },
      get create() {},
    },
    dns: makeDns({ ensure: 1 }),
  },
});
`;

/** The text that a path is found at, with its line. */
function at(path: string): string {
  const { line, column, length } = positionOf(SOURCE, path) ?? assert.fail('nowhere');
  const text = SOURCE.split('\n')[line - 1] ?? '';
  return `${line} ${text.slice(column - 1, column - 1 + length)}`;
}

const CASES: readonly (readonly [string, string])[] = [
  ['name', "7 'name'"],
  ['displayName', '7 displayName'],
  ['providerID.pattern', '8 pattern'],
  ['architectures[0]', "9 'amd64'"],
  ['architectures[2]', "9 'arm64'"],
  ['tags.maxKey', '3 maxKey'],
  ['tags', '10 tags'],
  ['connect', '11 connect'],
  ['ccm.external', '12 external'],
  ['capabilities.zones.declare()', '14 declare'],
  ['capabilities.zones.declare().isolated', '14 isolated'],
  ['capabilities.zones.list', '14 list'],
  ['capabilities.volumes.declare().minBytes', '17 minBytes'],
  ['capabilities.volumes.declare().maxBytes', '16 declare'],
  ['capabilities.volumes.create', '19 create'],
  ['capabilities.dns.ensure', '21 ensure'],
  ['capabilities.routes', '13 capabilities'],
  ['platformName', '6 defineProvider'],
  ['', '6 defineProvider'],
];

describe('the place of a problem', () => {
  for (const [path, want] of CASES) {
    it(`onboarding/R84: is ${want} for ${path === '' ? 'the whole' : path}`, () => assert.equal(at(path), want));
  }

  it('onboarding/R84: is where a spread has it from, and the last one counts', () => {
    const source = `const more = { tags: { maxKey: 3 }, ...more };
const base = { ...more, name: 'A' };
defineProvider({ name: 'b', ...base, ...{ ccm: 1 } });`;
    const lineOf = (path: string) => positionOf(source, path)?.line;
    assert.deepEqual(['name', 'tags.maxKey', 'ccm', 'secrets'].map(lineOf), [2, 1, 3, 3]);
  });

  const ELSEWHERE: readonly { name: string; source: string; path: string; want: string }[] = [
    {
      name: 'a spread from another file may have replaced it',
      source: "defineProvider({ name: 'a', ...imported, ccm: 1 })",
      path: 'name',
      want: 'defineProvider',
    },
    {
      name: 'a spread from another file may not, being before it',
      source: "defineProvider({ ...imported(), name: 'a' })",
      path: 'name',
      want: 'name',
    },
    {
      name: 'a constant of the same name is in a function',
      source: 'const f = () => { const tags = { maxKey: 1 }; }; defineProvider({ tags })',
      path: 'tags.maxKey',
      want: 'tags',
    },
    {
      name: 'only a part of a constant is meant',
      source: 'const all = { maxKey: 1, tags: {} }; defineProvider({ tags: all.tags })',
      path: 'tags.maxKey',
      want: 'tags',
    },
    {
      name: 'a call made it, and others follow',
      source: 'const tags = make()\nconst other = { maxKey: 1 }\ndefineProvider({ tags })',
      path: 'tags.maxKey',
      want: 'tags',
    },
    {
      name: 'a call made the last field, and others follow',
      source: 'defineProvider({ tags: make() }); f({ maxKey: 1 });',
      path: 'tags.maxKey',
      want: 'tags',
    },
    {
      name: 'an asynchronous function says it',
      source: 'defineProvider({ a: async function () { return { b: 1 }; } })',
      path: 'a.b',
      want: 'b',
    },
  ];
  for (const { name, source, path, want } of ELSEWHERE) {
    it(`onboarding/R84: is never a wrong one when ${name}`, () => {
      const { line, column, length } = positionOf(source, path) ?? assert.fail('nowhere');
      const text = source.split('\n')[line - 1] ?? '';
      assert.equal(text.slice(column - 1, column - 1 + length), want);
      assert.ok(line === source.split('\n').length);
    });
  }

  it('onboarding/R84: is that of the call that is meant', () => {
    const source = 'defineProvider({ name: 1 });\nexport default make({ name: 2 });\n';
    assert.deepEqual(positionOf(source, 'name')?.line, 1);
    assert.deepEqual(positionOf(source, 'name', { line: 2, column: 16 }), { line: 2, column: 23, length: 4 });
    assert.equal(positionOf(source, 'name', { line: 9, column: 1 }), undefined);
  });

  it('onboarding/R84: is nowhere in a file that calls nothing', () => {
    assert.equal(positionOf('', 'name'), undefined);
    assert.equal(positionOf('export default 3;', 'name'), undefined);
  });

  it('onboarding/R84: is somewhere in the text, whatever the text is', () => {
    const words = fc.constantFrom(
      'defineProvider',
      '(',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      'name',
      '`',
      "'",
      '/',
      '\n',
      'a',
      '=',
    );
    fc.assert(
      fc.property(
        fc.array(words).map((parts) => `defineProvider({ ${parts.join('')}`),
        (source) => {
          const tokens = tokensOf(source);
          assert.ok(tokens.every(({ start, end }) => start < end && end <= source.length));
          const { line } = positionOf(source, 'name.a[0].a') ?? assert.fail('nowhere');
          assert.ok(line <= source.split('\n').length);
        },
      ),
    );
  });

  it('counts lines and columns from one', () => {
    assert.deepEqual(placeOf('ab\ncd', { start: 4, end: 5 }), { line: 2, column: 2, length: 1 });
  });
});
