import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, it } from 'node:test';

const FOUNDATION = ['base', 'api', 'object'];
const LIBRARIES = [...FOUNDATION, 'rpc', 'pki', 'oci'];
const COMPONENTS = [
  'cloud',
  'cloud-operator',
  'storage',
  'machine',
  'network',
  'installer',
  'agent',
  'hardware',
  'onboarding',
];

/** Row may import column (specs/style.md B1, DESIGN §3). Every folder may import itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  api: [],
  object: ['base', 'api'],
  rpc: FOUNDATION,
  pki: FOUNDATION,
  oci: FOUNDATION,
  kube: LIBRARIES,
  apiserver: LIBRARIES,
  sdk: FOUNDATION,
  providers: [...FOUNDATION, 'sdk'],
  ...Object.fromEntries(COMPONENTS.map((component) => [component, [...LIBRARIES, 'kube', 'sdk']])),
  dashboard: [...FOUNDATION, 'kube'],
  lab: [...LIBRARIES, 'kube', 'apiserver'],
  testing: [...FOUNDATION, 'pki', 'kube', 'apiserver', 'sdk', 'lab'],
  app: [...LIBRARIES, 'kube', 'sdk', 'apiserver', 'providers', ...COMPONENTS, 'dashboard', 'lab'],
  cli: ['base', 'api', 'app'],
};

/** Imported from outside only through their `index.ts` (style S5). */
const THROUGH_INDEX = new Set([...COMPONENTS, 'lab', 'dashboard', 'providers']);
/** Node modules without I/O, all that the pure folders may use. */
const PURE_NODE = new Set(['node:util', 'node:assert']);
const PURE = new Set(FOUNDATION);
const BASE_FILES = ['clock', 'duration', 'errors', 'log', 'redaction'];
const FORBIDDEN_NAMES =
  /^(utils?|helpers?|common|misc|shared|types|constants|manager|service|handler)(\.test)?\.ts$/;
// Raise it as the tree grows: a checker that sees nothing passes everything.
const FEWEST_FILES = 30;
const DEEPEST_LEVEL = 3;

/** Time, chance and surroundings of the machine, which a lab is given and never takes (lab T1, A2). */
const MACHINE_WORDS = [
  'setTimeout',
  'setInterval',
  'Date.now',
  'new Date()',
  'Math.random',
  'process.env',
  'process.hrtime',
  'performance.now',
  'node:timers',
  'randomUUID',
];
/** Where it is taken, and why. */
const OF_THE_MACHINE: Readonly<Record<string, string>> = {
  'src/lab/clock/': 'makes the time of the lab out of that of the machine',
  'src/lab/process/preload.ts': 'runs inside of children, which nobody hands anything',
};

interface Import {
  readonly file: string;
  readonly specifier: string;
}

const STATEMENT =
  /(?:^|[\s;}])(?:import|export)\s[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[\s;}])import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

const importsOf = (root: string, file: string): readonly Import[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(STATEMENT)].map((match) => ({
    file,
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
  }));

const sourceFiles = (root: string): readonly string[] => globSync('src/**/*.{ts,tsx}', { cwd: root }).sort();

const isTest = (file: string): boolean => file.endsWith('.test.ts');

const folderOf = (file: string): string => file.split(sep)[1] ?? '';

/** All broken rules of a tree, each as one sentence; an empty list is a good architecture. */
function violations(root: string): readonly string[] {
  const imports = sourceFiles(root).flatMap((file) => importsOf(root, file));
  return imports.flatMap((entry) => importViolations(root, entry));
}

function importViolations(root: string, { file, specifier }: Import): readonly string[] {
  const from = folderOf(file);
  if (isBuiltin(specifier)) {
    const isAllowed = !PURE.has(from) || PURE_NODE.has(specifier) || isTest(file);
    return isAllowed ? [] : [`${file}: ${from} is pure and may not import ${specifier}`];
  }
  if (!specifier.startsWith('.')) return packageViolations(file, specifier);
  const target = relative(root, resolve(root, dirname(file), specifier));
  return edgeViolations(file, target);
}

function packageViolations(file: string, specifier: string): readonly string[] {
  // Definitions bring the validation library; the types that most of the code needs bring nothing (S3).
  const isExport = file === join('src', 'api', 'index.ts');
  const isDefinition = isExport || file.endsWith('.schema.ts') || file.startsWith(join('src', 'api', 'schema'));
  const isKind = folderOf(file) === 'api' && !isDefinition && !isTest(file);
  return isKind ? [`${file}: api types import nothing outside api, not ${specifier}`] : [];
}

function edgeViolations(file: string, target: string): readonly string[] {
  const [from, to] = [folderOf(file), folderOf(target)];
  if (!target.startsWith(`src${sep}`)) return isTest(file) ? [] : [`${file}: imports ${target}, outside src`];
  if (from === to) return from === 'providers' ? crossProvider(file, target) : [];
  // A test may stand on anything, such as a server for the client that it tests.
  const isAllowed = isTest(file) || (MAY_IMPORT[from] ?? []).includes(to);
  return [
    ...(isAllowed ? [] : [`${file}: forbidden edge ${from} → ${to} (${target})`]),
    ...insideViolations(file, target),
  ];
}

/** What a folder keeps to itself. */
function insideViolations(file: string, target: string): readonly string[] {
  const to = folderOf(target);
  if (target.includes(`${sep}internal${sep}`)) return [`${file}: imports ${target}, which is internal to ${to}`];
  const isInside = THROUGH_INDEX.has(to) && !target.endsWith(`${sep}index.ts`);
  return isInside ? [`${file}: imports ${target}; only the index.ts of ${to} is public`] : [];
}

/** Uses of the machine in the lab outside of the places that are for it, each as one sentence. */
function machineViolations(root: string): readonly string[] {
  const isFree = (file: string) => Object.keys(OF_THE_MACHINE).some((place) => slashed(file).startsWith(place));
  const files = sourceFiles(root).filter((file) => folderOf(file) === 'lab' && !isTest(file) && !isFree(file));
  return files.flatMap((file) => {
    const code = withoutComments(readFileSync(join(root, file), 'utf8'));
    return MACHINE_WORDS.filter((word) => usesWord(code, word)).map(
      (word) => `${file}: uses ${word}; take it from the clock or the options of the lab`,
    );
  });
}

const slashed = (file: string): string => file.split(sep).join('/');

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '');

/** However it is spaced, and not as a part of a longer name. */
function usesWord(code: string, word: string): boolean {
  const parts = word.split(/(?<=new)\s|(?=[.()])|(?<=[.()])/).map((part) => part.replace(/[.()]/g, '\\$&'));
  return new RegExp(`(?<![\\w$])${parts.join('\\s*')}(?![\\w$])`).test(code);
}

const crossProvider = (file: string, target: string): readonly string[] =>
  file.split(sep)[2] === target.split(sep)[2] ? [] : [`${file}: providers may not import each other (${target})`];

/** A copy-free tree with the given files, for planting mistakes. */
function planted(files: Readonly<Record<string, string>>): Disposable & { readonly root: string } {
  const root = mkdtempSync(join(tmpdir(), 'slipway-architecture-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true }) };
}

describe('the architecture', () => {
  const root = process.cwd();
  const files = sourceFiles(root);

  it('style/S1: is looked at as a whole, not at a part of it', () => {
    assert.ok(files.length >= FEWEST_FILES, `only ${files.length} files seen, at least ${FEWEST_FILES} expected`);
    const imports = files.flatMap((file) => importsOf(root, file));
    assert.ok(imports.length >= files.length, `only ${imports.length} imports seen in ${files.length} files`);
  });

  it('style/S1: has only the imports that the matrix allows', () => {
    assert.deepEqual(violations(root), []);
  });

  it('style/S1: has a row in the matrix for every folder of src', () => {
    assert.deepEqual(
      [...new Set(files.map(folderOf))].filter((folder) => !Object.hasOwn(MAY_IMPORT, folder)),
      [],
    );
  });

  it('style/S7: imports files that exist, with their extension', () => {
    const broken = files
      .flatMap((file) => importsOf(root, file))
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter(({ file, specifier }) => !existsSync(resolve(root, dirname(file), specifier)));
    assert.deepEqual(broken, []);
  });

  it('style/S8: is at most three folders deep below src', () => {
    const depth = (file: string) =>
      file.split(sep).filter((part) => part !== 'testdata' && part !== 'generated').length - 2;
    assert.deepEqual(
      files.filter((file) => depth(file) > DEEPEST_LEVEL),
      [],
    );
  });

  it('lab/T1, A2: the lab takes time, chance and environment from nobody but its clock and its options', () => {
    assert.deepEqual(machineViolations(root), []);
  });

  it('lab/A1: the cloud and the nodes of the lab do not know each other', () => {
    const inside = (part: string) =>
      files.filter((file) => slashed(file).startsWith(`src/lab/${part}/`) && !isTest(file));
    const crossing = (from: string, to: string) =>
      inside(from)
        .flatMap((file) => importsOf(root, file))
        .filter(({ specifier }) => specifier.includes(`/${to}/`))
        .map(({ file, specifier }) => `${file}: imports ${specifier}`);
    assert.ok(inside('cloud').length > 30 && inside('node').length > 50, 'hardly any file seen');
    assert.deepEqual([...crossing('cloud', 'node'), ...crossing('node', 'cloud')], []);
  });

  it('lab/T1: what may take them from the machine is there', () => {
    const gone = Object.keys(OF_THE_MACHINE).filter((place) => !existsSync(join(root, place)));
    assert.deepEqual(gone, []);
  });

  it('style/S20: has no file with a name that says nothing', () => {
    const isForbidden = (file: string) =>
      FORBIDDEN_NAMES.test(file.split(sep).at(-1) ?? '') && file !== join('src', 'kube', 'manager.ts');
    assert.deepEqual(files.filter(isForbidden), []);
  });

  it('keeps the list of src/base closed', () => {
    const names = files
      .filter((file) => folderOf(file) === 'base' && !isTest(file))
      .map((file) => file.split(sep).at(-1));
    assert.deepEqual(
      names,
      BASE_FILES.map((name) => `${name}.ts`),
    );
  });
});

describe('the architecture test itself', () => {
  const cases = [
    {
      name: 'names the forbidden edge of an import that points up',
      file: 'src/base/clock.ts',
      text: `import { x } from '../app/config.ts';`,
      want: 'src/base/clock.ts: forbidden edge base → app (src/app/config.ts)',
    },
    {
      name: 'sees an import over several lines',
      file: 'src/kube/client.ts',
      text: `import type {\n  X,\n  Y,\n} from '../cloud/index.ts';`,
      want: 'src/kube/client.ts: forbidden edge kube → cloud (src/cloud/index.ts)',
    },
    {
      name: 'sees a re-export',
      file: 'src/sdk/images.ts',
      text: `export { x } from '../kube/client.ts';`,
      want: 'src/sdk/images.ts: forbidden edge sdk → kube (src/kube/client.ts)',
    },
    {
      name: 'sees a dynamic import',
      file: 'src/cloud/index.ts',
      text: `const x = await import('../storage/index.ts');`,
      want: 'src/cloud/index.ts: forbidden edge cloud → storage (src/storage/index.ts)',
    },
    {
      name: 'sees an import for its side effect',
      file: 'src/machine/index.ts',
      text: `import '../lab/index.ts';`,
      want: 'src/machine/index.ts: forbidden edge machine → lab (src/lab/index.ts)',
    },
    {
      name: 'refuses the inside of a component',
      file: 'src/app/components.ts',
      text: `import { x } from '../cloud/node/desired.ts';`,
      want: 'src/app/components.ts: imports src/cloud/node/desired.ts; only the index.ts of cloud is public',
    },
    {
      name: 'refuses what is internal to a foundation folder',
      file: 'src/cloud/index.ts',
      text: `import { x } from '../kube/internal/socket.ts';`,
      want: 'src/cloud/index.ts: imports src/kube/internal/socket.ts, which is internal to kube',
    },
    {
      name: 'refuses I/O in a pure folder',
      file: 'src/object/patch.ts',
      text: `import { readFileSync } from 'node:fs';`,
      want: 'src/object/patch.ts: object is pure and may not import node:fs',
    },
    {
      name: 'refuses I/O in a pure folder, however the module is spelled',
      file: 'src/object/patch.ts',
      text: `import { readFileSync } from 'fs';`,
      want: 'src/object/patch.ts: object is pure and may not import fs',
    },
    {
      name: 'refuses a library in a file of kinds',
      file: 'src/api/core.ts',
      text: `import { z } from 'zod';`,
      want: 'src/api/core.ts: api types import nothing outside api, not zod',
    },
    {
      name: 'refuses one provider in another',
      file: 'src/providers/lab/index.ts',
      text: `import { x } from '../acme/index.ts';`,
      want: 'src/providers/lab/index.ts: providers may not import each other (src/providers/acme/index.ts)',
    },
  ];
  for (const { name, file, text, want } of cases) {
    it(name, () => {
      using tree = planted({ [file]: text });
      assert.deepEqual(violations(tree.root), [want]);
    });
  }

  const machine = [
    { text: 'setTimeout(() => {}, 1);', word: 'setTimeout' },
    { text: 'globalThis.setInterval(f, 1);', word: 'setInterval' },
    { text: 'const now = Date\n  .now();', word: 'Date.now' },
    { text: 'const now = new Date( );', word: 'new Date()' },
    { text: 'const x = Math.random() * 2;', word: 'Math.random' },
    { text: 'const { HOME } = process.env;', word: 'process.env' },
    { text: 'const ms = performance.now();', word: 'performance.now' },
    { text: "import { setImmediate } from 'node:timers/promises';", word: 'node:timers' },
    { text: 'const id = crypto.randomUUID();', word: 'randomUUID' },
  ];
  for (const { text, word } of machine)
    it(`lab/T1: sees ${word} in the lab`, () => {
      using tree = planted({ 'src/lab/cloud/a.ts': text, 'src/lab/clock/b.ts': text, 'src/kube/c.ts': text });
      const want = `src/lab/cloud/a.ts: uses ${word}; take it from the clock or the options of the lab`;
      assert.deepEqual(machineViolations(tree.root), [want]);
    });

  it('lab/T1: takes no comment and no other word for a use', () => {
    const text = `/** No setTimeout here. */\nconst at = new Date(5); // not Date.now()\nclock.timer(resetTimeout); url('http://x');`;
    using tree = planted({ 'src/lab/cloud/a.ts': text, 'src/lab/cloud/a.test.ts': 'setTimeout(f);' });
    assert.deepEqual(machineViolations(tree.root), []);
  });
});
