import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { inTime } from './deadline.ts';
import { parseRequestInfo } from './request-info.ts';

const info = (method: string, path = '/api/v1/namespaces/n/configmaps/c') =>
  parseRequestInfo(method, path, new URLSearchParams(path.endsWith('configmaps') ? 'watch=1' : ''));
const never = () => new Promise<string>(() => {});

describe('inTime', () => {
  const cases = [
    {
      name: 'a read after 60 s',
      method: 'GET',
      ms: 60_000,
      message: /^the server was unable to return a response/,
    },
    { name: 'a write after 34 s', method: 'PUT', ms: 34_000, message: /^Timeout: request did not complete/ },
  ];
  for (const { name, method, ms, message } of cases) {
    it(`apiserver/H8: gives up on ${name} with 504 Timeout`, async () => {
      const clock = new VirtualClock();
      const answer = inTime(clock, info(method), never());
      await clock.advance(ms - 1);
      assert.equal(clock.nextDueMs, ms);
      const refused = assert.rejects(answer, { code: 504, reason: 'Timeout', message });
      await clock.advance(1);
      await refused;
    });
  }

  it('apiserver/H8: waits for a watch without end, and leaves no timer behind an answer', async () => {
    const clock = new VirtualClock();
    void inTime(clock, info('GET', '/api/v1/configmaps'), never());
    assert.equal(clock.nextDueMs, undefined);
    assert.equal(await inTime(clock, info('GET'), Promise.resolve('done')), 'done');
    await clock.advance(0);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('passes failures on', async () => {
    const clock = new VirtualClock();
    await assert.rejects(inTime(clock, info('GET'), Promise.reject(new Error('no'))), /no/);
  });
});
