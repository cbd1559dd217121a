import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SystemClock, VirtualClock } from '../../src/base/clock.ts';
import { type ProgramRequest, runProgram } from '../../src/kube/config/exec-process.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { scratchDirectory } from '../support/scratch.ts';

const request = (script: string, more: Partial<ProgramRequest> = {}): ProgramRequest => ({
  command: '/bin/sh',
  args: ['-c', script],
  env: { PATH: process.env['PATH'] ?? '' },
  isInteractive: false,
  stderr: () => {},
  clock: new SystemClock(),
  signal: new AbortController().signal,
  ...more,
});

/** Moves a virtual clock on until the program has ended. */
async function ended<T>(result: Promise<T>, clock: VirtualClock, stepMs: number): Promise<T> {
  let isDone = false;
  const watched = result.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(stepMs);
  }
  return watched;
}

describe('a program that is run for a credential', () => {
  it('runtime/C4: gives its output, passes its stderr through as it comes, and gets no standard input', async () => {
    const heard: string[] = [];
    const script = 'echo "open your browser" >&2; if read line; then echo got; else echo nothing; fi; exit 3';
    const result = await runProgram(request(script, { stderr: (text) => heard.push(text) }));
    assert.deepEqual(result, {
      outcome: 'exited',
      exitCode: 3,
      stdout: 'nothing\n',
      stderr: 'open your browser\n',
    });
    assert.equal(heard.join(''), 'open your browser\n');
  });

  it('takes arguments as they are: no shell reads them', async () => {
    const args = ['-c', 'printf "%s|" "$@"', 'sh', '$(id)', 'a b', '; exit 9'];
    assert.equal((await runProgram(request('', { args }))).stdout, '$(id)|a b|; exit 9|');
  });

  it('says that a program is not there, is no program, or was ended by a signal', async () => {
    await using folder = await scratchDirectory();
    const text = join(folder.path, 'text');
    await writeFile(text, 'not a program');
    await chmod(text, 0o755);
    assert.equal((await runProgram(request('', { command: '/no/such/program' }))).outcome, 'not-found');
    assert.equal((await runProgram(request('', { command: folder.path }))).outcome, 'not-runnable');
    const killed = await runProgram(request('kill -9 $$'));
    assert.deepEqual([killed.outcome, killed.exitCode], ['exited', undefined]);
  });

  it('ends a program that says too much, that takes too long, or that nobody waits for', async () => {
    const flood = await runProgram(request('yes'));
    assert.equal(flood.outcome, 'too-much-output');
    const clock = new VirtualClock();
    const slow = await ended(runProgram(request('exec sleep 600', { clock, timeoutMs: 1000 })), clock, 1000);
    assert.equal(slow.outcome, 'timeout');
    const stop = new AbortController();
    const run = runProgram(request('exec sleep 600', { signal: stop.signal }));
    stop.abort();
    assert.equal((await run).outcome, 'aborted');
    assert.equal((await runProgram(request('true', { signal: AbortSignal.abort() }))).outcome, 'aborted');
  });

  it('kills a program that does not listen', async () => {
    const clock = new VirtualClock();
    const stubborn = 'trap "" TERM; while :; do sleep 0.05; done';
    const result = await ended(runProgram(request(stubborn, { clock, timeoutMs: 500 })), clock, 500);
    assert.equal(result.outcome, 'timeout');
  });

  it('does not wait for a child that keeps the pipes of an ended program open', async () => {
    const clock = new VirtualClock();
    const result = await ended(runProgram(request('echo token; sleep 5 & exit 0', { clock })), clock, 200);
    assert.deepEqual([result.outcome, result.exitCode, result.stdout], ['exited', 0, 'token\n']);
  });
});

describe('a kubeconfig with an exec plugin', () => {
  it('runtime/C4: gets its token from a real program beside it, once for everybody', async () => {
    await using folder = await scratchDirectory();
    const counter = join(folder.path, 'runs');
    const script = [
      '#!/bin/sh',
      `echo run >> ${counter}`,
      'case "$KUBERNETES_EXEC_INFO" in *\'"server":"https://127.0.0.1:6443"\'*) ;; *) exit 4 ;; esac',
      `echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'$USER_NAME'"}}'`,
    ].join('\n');
    await writeFile(join(folder.path, 'login'), script, { mode: 0o755 });
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './login',
      env: [{ name: 'USER_NAME', value: 'jane' }],
      interactiveMode: 'Never',
      provideClusterInfo: true,
    };
    const content = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [{ name: 'x', cluster: { server: 'https://127.0.0.1:6443' } }],
      users: [{ name: 'x', user: { exec } }],
    };
    const path = join(folder.path, 'config');
    await writeFile(path, JSON.stringify(content));
    const { credentials } = await loadKubeconfig({
      env: { PATH: '/usr/bin:/bin' },
      homeDir: '/',
      kubeconfigFlag: path,
    });
    const headers = await Promise.all([credentials.headers(), credentials.headers(), credentials.headers()]);
    assert.deepEqual(
      headers,
      Array.from({ length: 3 }, () => ({ authorization: 'Bearer jane' })),
    );
    assert.equal(await readFile(counter, 'utf8'), 'run\n');
  });
});
