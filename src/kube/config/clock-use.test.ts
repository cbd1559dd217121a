import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const KUBE = join(import.meta.dirname, '..');

const FORBIDDEN: readonly [string, RegExp][] = [
  ['Date.now', /\bDate\.now\b/],
  ['new Date() of now', /\bnew Date\(\s*\)/],
  ['performance.now', /\bperformance\.now\b/],
  ['Math.random', /\bMath\.random\b/],
  ['random identifiers', /\brandomUUID\b/],
  ['timers', /(?<![.\w#])(setTimeout|setInterval)\s*\(/],
  ['timers of node', /node:timers/],
  ['AbortSignal.timeout', /\bAbortSignal\.timeout\b/],
  ['process.env', /\bprocess\.env\b/],
  ['process.argv', /\bprocess\.argv\b/],
];

/** Code without comments; strings stay, which can only make the check stricter. */
const codeOf = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '');

const sources = readdirSync(KUBE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, code: codeOf(readFileSync(join(KUBE, path), 'utf8')) }));

describe('the time of src/kube', () => {
  for (const [what, pattern] of FORBIDDEN) {
    it(`runtime/C9: comes from the injected clock: nothing uses ${what}`, () => {
      const users = sources.filter(({ code }) => pattern.test(code)).map(({ path }) => path);
      assert.deepEqual(users, []);
    });
  }

  it('is looked for in all of its sources', () => {
    assert.ok(sources.length > 30);
    assert.ok(sources.some(({ path }) => path === join('config', 'exec-process.ts')));
  });

  it('is found in code and not in comments', () => {
    const code = codeOf('/** Date.now */\nconst a = 1; // Date.now\nconst b = Date.now();\n');
    assert.equal(code.match(/Date\.now/g)?.length, 1);
  });
});
