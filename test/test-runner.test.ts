import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, it } from 'node:test';

interface Ended {
  readonly code: number;
  readonly stdout: string;
}

/** Runs `scripts/test.ts` on a tree that holds just the given test files. */
async function runTests(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const root = mkdtempSync(join(tmpdir(), 'slipway-runner-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), `import { describe, it } from 'node:test';\n${text}`);
  }
  // Inside a test file node:test refuses to start another run.
  const { NODE_TEST_CONTEXT: _context, SLIPWAY_REQUIRE_ORACLES: _required, ...inherited } = process.env;
  try {
    return await new Promise((done) => {
      const options = { cwd: root, env: { ...inherited, ...env } };
      execFile(process.execPath, [resolve('scripts/test.ts'), ...args], options, (error, stdout) => {
        done({ code: typeof error?.code === 'number' ? error.code : 0, stdout });
      });
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}

const lastLine = ({ stdout }: Ended): string => stdout.trimEnd().split('\n').at(-1) ?? '';

describe('the test runner', () => {
  it('ends with one line that counts tests, not headings', async () => {
    const ended = await runTests(
      {
        'src/a.test.ts': `describe('a', () => { it('one', () => {}); it('two', () => {}); });`,
        'test/b.test.ts': `it('three', () => {});`,
      },
      [],
    );
    assert.equal(lastLine(ended), '3 passed, 0 failed');
    assert.equal(ended.code, 0);
  });

  it('fails when a test fails, and says why one was skipped', async () => {
    const ended = await runTests(
      {
        'src/a.test.ts': `it('bad', () => { throw new Error('x'); }); describe('s', { skip: 'no moon' }, () => {});`,
      },
      [],
    );
    assert.equal(lastLine(ended), '0 passed, 1 failed, 1 skipped');
    assert.match(ended.stdout, /1 × no moon/);
    assert.equal(ended.code, 1);
  });

  const headings = [
    {
      name: 'a hook throws',
      text: `describe('h', () => { it('ok', () => {}); after(() => { throw new Error('x'); }); });`,
    },
    { name: 'the body of a describe throws', text: `describe('h', () => { throw new Error('x'); });` },
  ];
  for (const { name, text } of headings) {
    it(`fails when ${name}`, async () => {
      const file = `import { after } from 'node:test';\n${text}`;
      const unit = await runTests({ 'src/a.test.ts': file }, []);
      const own = await runTests({ 'test/a.test.ts': file }, []);
      assert.deepEqual([unit.code, own.code], [1, 1]);
      assert.match(lastLine(own), /, 1 failed$/);
    });
  }

  it('fails when a filter matches nothing, and refuses a word it does not know', async () => {
    const files = { 'src/a.test.ts': `it('one', () => {});` };
    assert.equal((await runTests(files, ['--only', 'nosuch'])).code, 1);
    assert.equal((await runTests(files, ['orcles'])).code, 2);
  });

  it('fails when a file cannot even be loaded', async () => {
    const unit = await runTests({ 'src/a.test.ts': `import './missing.ts';` }, []);
    const process = await runTests({ 'test/a.test.ts': `import './missing.ts';` }, []);
    assert.deepEqual([unit.code, process.code], [1, 1]);
  });

  it('oracles/F6: counts the suites that need an oracle, and says where they run', async () => {
    const files = {
      'src/a.test.ts': `it('one', () => {});`,
      'test/oracles/k.test.ts': `describe('k', () => { it('x', () => {}); }); describe('l', { skip: 'no etcd' }, () => {});`,
    };
    const plain = await runTests(files, []);
    assert.match(plain.stdout, /^oracle suites: 0 run; 1 files of them run under npm run test:oracles$/m);
    const asked = await runTests(files, ['oracles']);
    assert.match(asked.stdout, /1 × no etcd\noracle suites: 1 run, 1 skipped\n1 passed, 0 failed, 1 skipped\n$/);
  });

  it('oracles/F7: downloads and compiles nothing to find out that an oracle is missing', async () => {
    const shims = mkdtempSync(join(tmpdir(), 'slipway-shims-'));
    const called = join(shims, 'called');
    for (const program of ['go', 'npm', 'apt-get', 'curl']) {
      writeFileSync(join(shims, program), `#!/bin/sh\ntouch "${called}"\n`, { mode: 0o755 });
    }
    const support = resolve('test/support/needs-oracle.ts');
    const text = `import { needsOracle } from ${JSON.stringify(support)};
      for (const name of ['etcd', 'kube-apiserver']) describe(name, needsOracle(name), () => {});`;
    const env = { PATH: `${shims}:/bin`, SLIPWAY_ORACLES_DIR: join(shims, 'empty'), KUBEBUILDER_ASSETS: '' };
    const ended = await runTests({ 'test/oracles/k.test.ts': text }, ['oracles'], env);
    assert.match(ended.stdout, /oracle suites: 0 run, 2 skipped/);
    assert.equal(existsSync(called), false);
    assert.equal(existsSync(join(shims, 'empty')), false);
    rmSync(shims, { recursive: true });
  });
});
