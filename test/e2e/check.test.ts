import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { asUser, cloneTree } from './as-a-user.ts';

/** Mistakes that `npm run check` must find, each with the rule's own message. */
const MISTAKES = [
  {
    name: 'an import that points up',
    text: `import { resolveSettings } from '../app/config.ts';\nexport const settle = resolveSettings;\n`,
    want: /src\/base\/duration\.ts: forbidden edge base → app \(src\/app\/config\.ts\)/,
  },
  {
    name: 'an export that nobody uses',
    text: 'export const nobodyUsesThis = 1;\n',
    want: /Unused exports[^]*nobodyUsesThis +src\/base\/duration\.ts/,
  },
  {
    name: 'an any',
    text: 'export function take(value: any): void {\n  void value;\n}\n',
    want: /typescript\(no-explicit-any\): Unexpected `any`/,
  },
  {
    name: 'a floating promise',
    text: 'export function leak(): void {\n  Promise.resolve(1);\n}\n',
    want: /typescript\(no-floating-promises\): Promises must be awaited/,
  },
  {
    name: 'a type error',
    text: `export const size: number = 'large';\n`,
    want: /error TS2322: Type 'string' is not assignable to type 'number'/,
  },
  {
    name: 'bad formatting',
    text: 'export const  spaced   = 1;\n',
    want: /src\/base\/duration\.ts format[^]*Formatter would have printed the following content/,
  },
];

describe('npm run check', () => {
  const root = mkdtempSync(join(tmpdir(), 'slipway-check-'));
  const clone = join(root, 'clone');
  cloneTree(clone);
  symlinkSync(resolve('node_modules'), join(clone, 'node_modules'));
  after(() => rmSync(root, { recursive: true, force: true }));
  const planted = join(clone, 'src/base/duration.ts');
  const check = () => asUser(process.execPath, ['scripts/check.ts'], { cwd: clone });

  for (const { name, text, want } of MISTAKES) {
    it(`fails for ${name}, with the message of the rule`, async () => {
      cloneTree(clone);
      appendFileSync(planted, `\n${text}`);
      const { code, stdout } = await check();
      assert.equal(code, 1);
      assert.match(stdout, want);
    });
  }

  it('fails for a file that is not TypeScript where one is expected', async () => {
    cloneTree(clone);
    writeFileSync(join(clone, 'src/base/broken.ts'), 'export const = ;\n');
    const { code } = await check();
    rmSync(join(clone, 'src/base/broken.ts'));
    assert.equal(code, 1);
  });

  it('passes without a mistake', async () => {
    cloneTree(clone);
    const { code, stdout } = await check();
    assert.equal(code, 0, stdout);
    assert.match(stdout, /check: 5 passed, 0 failed in /);
  });
});
