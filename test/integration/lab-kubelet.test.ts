import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { Pod } from '../../src/api/generated/core-v1.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { processNode } from '../support/process-node.ts';

const SERVER = `
  const { createServer } = require('node:http');
  createServer((request, response) => response.end(process.env.HOSTNAME)).listen(8080);
  console.log('listening');
`;
const CATALOGUE = {
  web: { argv: ['node', '-e', SERVER] },
  shell: { argv: ['/bin/sh', '-c'], entrypoint: 2 },
};

const shell = (text: string) => ({ name: 'c', image: 'shell:1', args: [text] });
const statusOf = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0];
const isReady = (pod: Pod | undefined) => statusOf(pod)?.ready === true;
const hasPhase = (phase: string) => (pod: Pod | undefined) => pod?.status?.phase === phase;

const answer = (host: string, port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => socket.end('GET / HTTP/1.0\r\n\r\n'));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => resolve(Buffer.concat(chunks).toString('utf8').split('\r\n\r\n')[1] ?? ''));
    socket.on('error', reject);
  });

describe('a node with processes', () => {
  it('lab/X4: two replicas listen at one port, each at its own address, and are probed there', async () => {
    await using node = await processNode(CATALOGUE);
    const readinessProbe = { httpGet: { port: 8080 }, periodSeconds: 1 };
    for (const name of ['a', 'b'])
      await node.create(name, { containers: [{ name: 'c', image: 'web', readinessProbe }] });
    for (const name of ['a', 'b']) await node.until(name, isReady);
    for (const name of ['a', 'b']) {
      const { host, port } = node.plan.target({ host: (await node.pod(name))?.status?.podIP ?? '', port: 8080 });
      assert.equal(await answer(host, port), name);
    }
    assert.match(await node.log('a', 'c'), /listening/);
    await node.client.delete(Pod, { namespace: 'default', name: 'a' });
    await node.until('a', (pod) => pod === undefined);
    assert.equal(node.host.live, 1);
  });

  it('lab/N13: a program that dies restarts at 0, 10 and 20 s of lab time', async () => {
    await using node = await processNode(CATALOGUE);
    await node.create('p', { containers: [shell('echo wrong flag >&2; exit 2')] });
    await node.until('p', (pod) => statusOf(pod)?.restartCount === 3);
    await node.until('p', (pod) => statusOf(pod)?.state?.waiting?.reason === 'CrashLoopBackOff');
    const { state, lastState } = statusOf(await node.pod('p')) ?? {};
    assert.equal(lastState?.terminated?.exitCode, 2);
    assert.match(state?.waiting?.message ?? '', /^back-off 40s /);
    const elapsedMs = node.clock.monotonicMs();
    assert.ok(elapsedMs >= 30_000 && elapsedMs < 60_000, `${elapsedMs}`);
    assert.match(await node.log('p', 'c', 3), /wrong flag/);
  });

  it('lab/T5: time does not jump over a program that works', async () => {
    await using node = await processNode(CATALOGUE);
    const real = new SystemClock();
    const [startMs, realStartMs] = [node.clock.monotonicMs(), real.monotonicMs()];
    await node.create('p', { restartPolicy: 'Never', containers: [shell('sleep 0.5; echo done')] });
    await node.until('p', hasPhase('Succeeded'));
    const [labMs, realMs] = [node.clock.monotonicMs() - startMs, real.monotonicMs() - realStartMs];
    // Without a probe it is ready at once; from then on 10 s of lab time may pass in 100 ms, and no more.
    assert.ok(labMs >= 400 && labMs <= 100 * realMs + 10_000, `${labMs} ms in ${realMs} ms`);
  });

  it('lab/N15: last words are read from where the program wrote them', async () => {
    await using node = await processNode(CATALOGUE);
    await node.create('p', {
      restartPolicy: 'Never',
      containers: [shell('echo bye > /dev/termination-log; exit 3')],
    });
    await node.until('p', hasPhase('Failed'));
    const { exitCode, message, reason } = statusOf(await node.pod('p'))?.state?.terminated ?? {};
    assert.deepEqual([exitCode, message, reason], [3, 'bye\n', 'Error']);
  });

  it('lab/P2: a program that is not there ends with 127 and its name', async () => {
    await using node = await processNode(CATALOGUE);
    const container = { ...shell(''), command: ['/no/such/program'], args: [] };
    await node.create('p', { restartPolicy: 'Never', containers: [container] });
    await node.until('p', hasPhase('Failed'));
    const { exitCode, message } = statusOf(await node.pod('p'))?.state?.terminated ?? {};
    assert.equal(exitCode, 127);
    assert.match(message ?? '', /\/no\/such\/program/);
  });

  it('lab/N14: a program that ignores SIGTERM is killed after the grace, and so is what it started', async () => {
    await using node = await processNode(CATALOGUE, 300);
    const text = 'trap "" TERM; sleep 1000 & echo up; while :; do sleep 1; done';
    await node.create('p', { containers: [shell(text)] });
    await node.until('p', isReady);
    await node.client.delete(Pod, { namespace: 'default', name: 'p' });
    await node.until('p', (pod) => pod === undefined);
    assert.equal(node.host.live, 0);
  });

  it('lab/N14: a program that hears SIGTERM ends as it wants', async () => {
    await using node = await processNode(CATALOGUE);
    const text = 'trap "exit 0" TERM; echo up; while :; do sleep 0.1; done';
    const metadata = { namespace: 'default', name: 'p' };
    await node.create('p', { containers: [shell(text)] });
    const body = { metadata: { finalizers: ['example.com/hold'] } };
    await node.client.patch(Pod, metadata, { type: 'merge', body });
    await node.until('p', isReady);
    await node.client.delete(Pod, metadata);
    await node.until('p', hasPhase('Succeeded'));
    assert.equal(statusOf(await node.pod('p'))?.state?.terminated?.exitCode, 0);
  });

  it('lab/N11: a shell command finds the programs of its image', async () => {
    const catalogue = {
      tools: { argv: ['/bin/sh', '-c'], entrypoint: 2, programs: { '/opt/hello': '/bin/echo' } },
    };
    await using node = await processNode(catalogue);
    const container = { name: 'c', image: 'tools', args: ['hello from a shim'] };
    await node.create('p', { restartPolicy: 'Never', containers: [container] });
    await node.until('p', hasPhase('Succeeded'));
    assert.match(await node.log('p', 'c'), /from a shim/);
  });

  it('lab/N6: power off leaves no process and no word', async () => {
    await using node = await processNode(CATALOGUE);
    await node.create('p', { containers: [shell('trap "" TERM; while :; do sleep 1; done')] });
    await node.until('p', isReady);
    node.pods.powerOff();
    for (let turns = 0; node.host.live > 0 && turns < 500; turns++) await node.clock.advance(10);
    assert.equal(node.host.live, 0);
    assert.equal((await node.pod('p'))?.status?.phase, 'Running');
  });

  it('lab/N14: hooks run beside the container, in its environment', async () => {
    await using node = await processNode(CATALOGUE);
    const preStop = { exec: { command: ['/bin/sh', '-c', 'echo "stop $NAME" > /dev/termination-log'] } };
    const env = [{ name: 'NAME', value: 'me' }];
    const container = { ...shell('echo up; while :; do sleep 0.1; done'), env, lifecycle: { preStop } };
    await node.create('p', { containers: [container] });
    const key = { namespace: 'default', name: 'p' };
    await node.client.patch(Pod, key, { type: 'merge', body: { metadata: { finalizers: ['example.com/hold'] } } });
    await node.until('p', isReady);
    await node.client.delete(Pod, key);
    await node.until('p', hasPhase('Failed'));
    const { message, exitCode, signal } = statusOf(await node.pod('p'))?.state?.terminated ?? {};
    assert.deepEqual([message, exitCode, signal], ['stop me\n', 143, 15]);
  });
});
