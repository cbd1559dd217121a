import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CAPABILITY_METHODS, CAPABILITY_NAMES } from '../capabilities/capabilities.ts';
import { SHAPE_CODES } from './shape.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/reference/provider-definition.md'), 'utf8');
/** What every capability has in common is described once. */
const SHARED = sectionOf('## Capabilities');

function sectionOf(heading: string): string {
  const start = PAGE.indexOf(`${heading}\n`);
  assert.ok(start >= 0, `no section ${heading}`);
  const level = heading.startsWith('###') ? /\n##/ : /\n###? /;
  const rest = PAGE.slice(start + heading.length);
  const end = rest.search(level);
  return end < 0 ? rest : rest.slice(0, end);
}

/** Fields and methods of the interfaces of a file, from its text. */
function namesIn(file: string): readonly string[] {
  const source = readFileSync(join(import.meta.dirname, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const interfaces = [...source.matchAll(/^export interface [^{]+\{([\s\S]*?)^\}/gm)].map(([, body = '']) => body);
  const names = interfaces.flatMap((body) => [
    ...[...body.matchAll(/\breadonly (\w+)\??:/g)].map(([, name = '']) => name),
    ...[...body.matchAll(/^ {2}(\w+)\??\(/gm)].map(([, name = '']) => name),
  ]);
  return [...new Set(names)];
}

const isNamed = (text: string, name: string): boolean => new RegExp(`\`${name}\``).test(text);

describe('the reference of the provider definition', () => {
  it('style/S65: names every field of the definition', () => {
    const names = namesIn('provider-definition.ts');
    assert.ok(names.length > 30, `only ${names.length} fields were found`);
    assert.deepEqual(
      names.filter((name) => !isNamed(PAGE, name)),
      [],
    );
  });

  const files = readdirSync(join(import.meta.dirname, '../capabilities')).filter((name) => name.endsWith('.ts'));
  for (const file of files.filter((name) => !['call.ts', 'capabilities.ts'].includes(name))) {
    const name = file.replace(/\.ts$/, '').replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    it(`style/S65: names every field and method of ${name}, in its section`, () => {
      const names = namesIn(join('../capabilities', file));
      assert.ok(names.includes('declare'));
      const section = `${sectionOf(`### \`${name}\``)}${SHARED}`;
      assert.deepEqual(
        names.filter((one) => !isNamed(section, one)),
        [],
      );
    });
  }

  it('style/S65: names what all capabilities share, and has a section for each of them', () => {
    assert.deepEqual(
      namesIn('../capabilities/call.ts').filter((name) => !isNamed(SHARED, name)),
      [],
    );
    for (const name of CAPABILITY_NAMES) {
      const { required, optional } = CAPABILITY_METHODS[name];
      const section = sectionOf(`### \`${name}\``);
      for (const method of [...required, ...optional]) assert.ok(isNamed(section, method), `${name}.${method}`);
    }
  });

  it('style/S65: names every code that the code of definitions and their lint can give, and no other', () => {
    const folders = ['src/sdk/provider', 'src/app/lint', 'src/app/provider'];
    const sources = folders.flatMap((folder) =>
      readdirSync(join(ROOT, folder))
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'definition-failures.ts')
        .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
    );
    const codesIn = (text: string) => new Set([...text.matchAll(/SW21\d\d/g)].map(([code]) => code));
    const used = codesIn(sources.join('\n'));
    assert.ok(used.has(SHAPE_CODES.unknown));
    assert.deepEqual([...codesIn(PAGE)].toSorted(), [...used].toSorted());
    const explained = codesIn(readFileSync(join(ROOT, 'src/app/provider/definition-failures.ts'), 'utf8'));
    assert.deepEqual([...explained].toSorted(), [...used].toSorted());
  });
});
