import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { VirtualClock } from '../../base/clock.ts';
import type { Transport, TransportResponse } from '../transport/transport.ts';
import { proxyFromEnvironment } from './proxy-environment.ts';
import { rateLimited } from './rate-limit.ts';
import { defaultFieldManager, userAgent } from './user-agent.ts';

describe('the user agent', () => {
  const parts = {
    binary: '/usr/bin/widget-operator',
    version: '1.2.3',
    commit: 'abc1234',
    platform: 'linux',
    arch: 'x64',
  };

  it('runtime/C6: names program, version, system and our commit, with the controller at the end', () => {
    assert.equal(userAgent(parts), 'widget-operator/1.2.3 (linux/amd64) slipway/abc1234');
    assert.equal(
      userAgent({ ...parts, controller: 'widgets' }),
      'widget-operator/1.2.3 (linux/amd64) slipway/abc1234/widgets',
    );
    assert.match(
      userAgent({ binary: 'b', version: 'v', commit: 'c' }),
      /^b\/v \([a-z0-9]+\/[a-z0-9]+\) slipway\/c$/,
    );
  });

  it('runtime/C6: is the default field manager up to its first slash', () => {
    assert.equal(defaultFieldManager(userAgent(parts)), 'widget-operator');
    assert.equal(defaultFieldManager('plain'), 'plain');
  });

  it('is a valid header and a valid field manager whatever the names are', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (binary, version, controller) => {
        const agent = userAgent({ ...parts, binary, version, controller });
        assert.match(agent, /^[\x20-\x7e]+$/);
        assert.match(defaultFieldManager(agent), /^[\x21-\x7e]{1,128}$/);
      }),
    );
  });
});

describe('the client-side rate limit', () => {
  const response: TransportResponse = {
    status: 200,
    headers: {},
    stream: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
    }),
    bytes: () => Promise.resolve(new Uint8Array()),
  };

  function limited(qps: number, burst: number) {
    const clock = new VirtualClock();
    const sent: string[] = [];
    const transport: Transport = ({ target }) => {
      sent.push(`${target}@${clock.monotonicMs()}`);
      return Promise.resolve(response);
    };
    return { clock, sent, send: rateLimited(transport, { qps, burst, clock }) };
  }

  it('runtime/C7: lets a burst through and then qps per second, in the order of arrival', async () => {
    const { clock, sent, send } = limited(2, 3);
    const all = ['a', 'b', 'c', 'd', 'e'].map((target) => send({ method: 'GET', target }));
    await clock.advance(0);
    assert.deepEqual(sent, ['a@0', 'b@0', 'c@0']);
    await clock.advance(10_000);
    assert.deepEqual(sent.slice(3), ['d@500', 'e@1000']);
    await Promise.all(all);
    await Promise.all(['f', 'g', 'h'].map((target) => send({ method: 'GET', target })));
    assert.equal(sent.length, 8);
  });

  it('does not send a request that was aborted while it waited, and gives its turn to the next', async () => {
    const { clock, sent, send } = limited(1, 1);
    await send({ method: 'GET', target: 'a' });
    const stop = new AbortController();
    const aborted = send({ method: 'GET', target: 'b', signal: stop.signal }).catch((error: unknown) =>
      String(error),
    );
    stop.abort(new Error('gave up'));
    assert.equal(await aborted, 'Error: gave up');
    const next = send({ method: 'GET', target: 'c' });
    await clock.advance(1000);
    await next;
    assert.deepEqual(sent, ['a@0', 'c@1000']);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('refuses limits that would never send anything', () => {
    assert.throws(() => limited(0, 1), /found qps 0 and burst 1; qps must be above 0 and burst at least 1/);
    assert.throws(() => limited(1, 0), /burst 0/);
    assert.throws(() => limited(Number.NaN, 1), /qps NaN/);
  });
});

describe('the proxy of the environment', () => {
  const HTTPS_PROXY = 'http://127.0.0.1:3128';
  const proxied = (server: string, env: Record<string, string>) =>
    proxyFromEnvironment(new URL(server), env)?.href;

  it('is that of the scheme, in either case of letters, with or without a scheme of its own', () => {
    assert.equal(proxied('https://h', { HTTPS_PROXY }), `${HTTPS_PROXY}/`);
    assert.equal(proxied('https://h', { https_proxy: '127.0.0.1:3128' }), `${HTTPS_PROXY}/`);
    assert.equal(proxied('http://h', { HTTPS_PROXY }), undefined);
    assert.equal(proxied('http://h', { HTTP_PROXY: 'socks5://127.0.0.1:1' }), 'socks5://127.0.0.1:1');
    assert.equal(proxied('https://h', { HTTPS_PROXY: 'ftp://x' }), undefined);
  });

  const exceptions: readonly [string, string, boolean][] = [
    ['https://localhost', '', true],
    ['https://127.1.2.3:6443', '', true],
    ['https://[::1]:6443', '', true],
    ['https://api.example.com', '*', true],
    ['https://api.example.com', 'example.com', true],
    ['https://api.example.com', '.example.com', true],
    ['https://api.example.com', '*.example.com', true],
    ['https://example.com', '.example.com', false],
    ['https://badexample.com', 'example.com', false],
    ['https://api.example.com:6443', 'x, API.example.com:6443', true],
    ['https://api.example.com', 'api.example.com:6443', false],
    ['https://10.1.2.3', '10.0.0.0/8', true],
    ['https://11.1.2.3', '10.0.0.0/8,10.0.0.0/x,10.0.0.0/64', false],
    ['https://10.1.2.3', '10.1.2.3', true],
    ['https://10.1.2.3', '2.3', false],
    ['https://[fd00::1]', 'fd00::/8', true],
    ['https://[fd00::1]', '10.0.0.0/8', false],
    ['https://[fd00::1]:6443', '[fd00::1]:6443', true],
  ];
  for (const [server, NO_PROXY, isExcepted] of exceptions) {
    it(`is ${isExcepted ? 'not used' : 'used'} for ${server} with NO_PROXY="${NO_PROXY}"`, () => {
      assert.equal(proxied(server, { HTTPS_PROXY, NO_PROXY }) === undefined, isExcepted);
    });
  }
});
