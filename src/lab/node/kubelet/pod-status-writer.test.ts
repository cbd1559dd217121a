import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { ApiError, NetworkError } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { ApiGate } from './api-gate.ts';
import { PodStatusWriter } from './pod-status-writer.ts';

const pod = (version: number, phase?: string, uid = 'u'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'ns', uid, resourceVersion: String(version) },
  spec: { containers: [] },
  status: { ...(phase !== undefined && { reason: phase }) },
});

/** A server that answers when it is told to; the status is one word. */
class SlowServer {
  readonly sent: string[] = [];
  readonly gate = new ApiGate();
  readonly clock = new VirtualClock();
  readonly stop = new AbortController();
  readonly writer: PodStatusWriter;
  wanted = '';
  found: Pod | undefined = pod(1);
  /** Whether it stores what it is given. */
  isForgetful = false;
  wrote = 0;
  #version = 1;
  #answers: PromiseWithResolvers<void>[] = [];

  constructor() {
    const patch = async (_kind: unknown, _key: unknown, { body }: { body: { reason: string } }) => {
      this.sent.push(body.reason);
      const answer = Promise.withResolvers<void>();
      this.#answers.push(answer);
      await answer.promise;
      return pod(++this.#version, this.isForgetful ? undefined : body.reason);
    };
    const client = { patch, live: { find: async () => this.found } } as unknown as KubeClient;
    this.writer = new PodStatusWriter({
      client,
      gate: this.gate,
      clock: this.clock,
      log: SILENT_LOG,
      signal: this.stop.signal,
      patchFor: ({ status }) => (status?.reason === this.wanted ? undefined : { reason: this.wanted }),
      wrote: () => void this.wrote++,
    });
    this.writer.observe(pod(1));
  }

  async want(text: string): Promise<void> {
    this.wanted = text;
    this.writer.touch();
    await turn();
  }

  async answer(error?: Error): Promise<void> {
    const answer = this.#answers.shift();
    if (error === undefined) answer?.resolve();
    else answer?.reject(error);
    await turn();
  }
}

const refused = (code: number, reason: string) => new ApiError({ code, reason, message: reason });

describe('PodStatusWriter', () => {
  it('writes one status at a time, and only the newest of those that follow', async () => {
    const server = new SlowServer();
    for (const text of ['a', 'b', 'c']) await server.want(text);
    assert.deepEqual(server.sent, ['a']);
    await server.answer();
    await server.answer();
    assert.deepEqual([server.sent, server.wrote], [['a', 'c'], 2]);
  });

  it('tells when everything is written', async () => {
    const server = new SlowServer();
    let isTold = false;
    await server.want('a');
    void server.writer.told().then(() => {
      isTold = true;
    });
    await server.want('b');
    await server.answer();
    assert.equal(isTold, false);
    await server.answer();
    assert.equal(isTold, true);
    await server.writer.told();
  });

  it('tries again, later each time, and writes the newest then', async () => {
    const server = new SlowServer();
    await server.want('a');
    await server.answer(refused(500, 'InternalError'));
    await server.want('b');
    assert.deepEqual(server.sent, ['a']);
    await server.clock.advance(200);
    assert.deepEqual(server.sent, ['a', 'b']);
    await server.answer(new NetworkError('reset', { mayHaveHappened: true }));
    await server.clock.advance(399);
    assert.equal(server.sent.length, 2);
    await server.clock.advance(1);
    assert.equal(server.sent.length, 3);
  });

  it('stops when the object is gone, or another one has its name', async () => {
    for (const found of [undefined, pod(9, '', 'other')]) {
      const server = new SlowServer();
      server.found = found;
      await server.want('a');
      await server.answer(found === undefined ? refused(404, 'NotFound') : refused(409, 'Conflict'));
      await server.writer.told();
      await server.clock.advance(60_000);
      assert.deepEqual(server.sent, ['a']);
    }
  });

  it('goes on after a conflict with somebody who wrote at the same time', async () => {
    const server = new SlowServer();
    server.found = pod(5, 'theirs');
    await server.want('a');
    await server.answer(refused(409, 'Conflict'));
    await server.clock.advance(200);
    assert.deepEqual(server.sent, ['a', 'a']);
  });

  it('does not write for ever to a server that does not keep it', async () => {
    const server = new SlowServer();
    server.isForgetful = true;
    await server.want('a');
    await server.answer();
    await server.writer.told();
    assert.deepEqual(server.sent, ['a']);
    server.writer.observe(pod(7));
    await server.want('a');
    assert.deepEqual(server.sent, ['a', 'a'], 'somebody wrote since: once more');
  });

  it('does not believe news that are older than its own writes', async () => {
    const server = new SlowServer();
    await server.want('a');
    await server.answer();
    server.writer.observe(pod(1));
    await server.want('a');
    assert.deepEqual(server.sent, ['a']);
  });

  it('waits behind a closed gate, and writes the newest when it opens', async () => {
    const server = new SlowServer();
    server.gate.close();
    await server.want('a');
    await server.clock.advance(60_000);
    await server.want('b');
    assert.deepEqual(server.sent, []);
    server.gate.open();
    await turn();
    assert.deepEqual(server.sent, ['b']);
  });

  it('sends nothing after its end', async () => {
    const server = new SlowServer();
    await server.want('a');
    server.stop.abort();
    await server.answer(refused(500, 'InternalError'));
    await server.want('b');
    await server.clock.advance(60_000);
    assert.deepEqual(server.sent, ['a']);
  });

  it('the answer about an object that is gone does not hide the one that came after it', async () => {
    const server = new SlowServer();
    await server.want('a');
    server.found = pod(5, undefined, 'other');
    server.writer.observe(server.found);
    await server.answer();
    assert.equal(server.sent.length, 2, 'the newer object is written to');
    await server.answer(refused(409, 'Conflict'));
    await server.clock.advance(1000);
    await turn();
    assert.equal(server.sent.length, 3);
  });

  it('a refusal for an object that is gone does not forget the one that came after it', async () => {
    const server = new SlowServer();
    await server.want('a');
    server.found = pod(5, undefined, 'other');
    server.writer.observe(server.found);
    await server.answer(refused(409, 'Conflict'));
    await server.clock.advance(1000);
    await turn();
    assert.deepEqual(server.sent, ['a', 'a']);
  });

  it('lab/N6: has one promise for all who wait while the server is away', async () => {
    const server = new SlowServer();
    server.gate.close();
    await server.want('a');
    const told = server.writer.told();
    await server.want('b');
    assert.equal(server.writer.told(), told);
    server.stop.abort();
  });
});
