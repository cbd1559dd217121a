import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog } from '../../base/log.ts';
import { type HealthCheck, HealthChecks, serveHealth } from './health-checks.ts';

const bad: HealthCheck = () => Promise.reject(new Error('the disk is full'));
const good: HealthCheck = () => {};

function setUp(checks: Readonly<Record<string, HealthCheck>>) {
  const lines: string[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => new Date(0) });
  const healthz = new HealthChecks();
  for (const [name, check] of Object.entries(checks)) healthz.add(name, check);
  const serve = serveHealth(new Map([['healthz', healthz]]), log);
  const get = async (target: string, method = 'GET') => {
    const url = new URL(target, 'http://server');
    const { status, body = '' } = await serve({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: {},
      body: async () => new Uint8Array(),
      signal: new AbortController().signal,
    });
    return [status, String(body)];
  };
  return { get, lines, healthz };
}

describe('serveHealth', () => {
  const cases: { given: Record<string, HealthCheck>; path: string; want: [number, string] }[] = [
    { given: {}, path: '/healthz', want: [200, 'ok'] },
    { given: {}, path: '/healthz/', want: [200, 'ok'] },
    { given: {}, path: '/healthz/ping', want: [200, 'ok'] },
    { given: {}, path: '/healthz?verbose', want: [200, '[+]ping ok\nhealthz check passed\n'] },
    {
      given: { b: good, a: good },
      path: '/healthz?verbose',
      want: [200, '[+]a ok\n[+]b ok\nhealthz check passed\n'],
    },
    {
      given: { b: bad, a: good },
      path: '/healthz',
      want: [500, '[+]a ok\n[-]b failed: reason withheld\nhealthz check failed\n'],
    },
    {
      given: { b: bad, a: good },
      path: '/healthz?exclude=b&verbose=1',
      want: [200, '[+]a ok\n[+]b excluded: ok\nhealthz check passed\n'],
    },
    { given: { b: bad, a: good }, path: '/healthz?exclude=b', want: [200, 'ok'] },
    {
      given: { a: good },
      path: '/healthz?verbose&exclude=x&exclude=y',
      want: [
        200,
        '[+]a ok\nwarn: some health checks cannot be excluded: no matches for "x","y"\nhealthz check passed\n',
      ],
    },
    { given: { b: bad }, path: '/healthz/b', want: [500, 'internal server error: the disk is full\n'] },
    { given: { b: bad, a: good }, path: '/healthz/a', want: [200, 'ok'] },
    { given: { a: good }, path: '/healthz/nobody', want: [404, '404 page not found\n'] },
    { given: { a: good }, path: '/metrics', want: [404, '404 page not found\n'] },
  ];
  for (const { given, path, want } of cases) {
    it(`runtime/M6: answers ${path} with ${want[0]} (${Object.keys(given).join() || 'no checks'})`, async () =>
      assert.deepEqual(await setUp(given).get(path), want));
  }

  it('says a failure once in the log, however often somebody asks', async () => {
    let reason = 'one';
    const { get, lines } = setUp({
      moody: () => {
        if (reason !== '') throw new Error(reason);
      },
    });
    await get('/healthz');
    await get('/healthz');
    assert.equal(lines.length, 1);
    reason = 'two';
    await get('/healthz');
    reason = '';
    await get('/healthz');
    reason = 'two';
    await get('/healthz');
    assert.equal(lines.length, 3, lines.join(''));
  });

  it('refuses what is no question, and a second check of one name', async () => {
    const { get, healthz } = setUp({ a: good });
    assert.equal((await get('/healthz', 'POST'))[0], 405);
    assert.throws(() => healthz.add('a', good), /health check "a" already/);
  });

  it('runtime/M6: tells the reason at the path of a check, without the secrets in it', async () => {
    const { get } = setUp({ a: () => Promise.reject(new Error('GET https://bob:hunter22@cloud failed')) });
    const [status, body] = await get('/healthz/a');
    assert.equal(status, 500);
    assert.match(String(body), /cloud failed/);
    assert.doesNotMatch(String(body), /hunter22/);
  });
});
