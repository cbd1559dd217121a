import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { recordedLog } from '../../../test/support/store.ts';
import { bothServer, connectTo, failureOf, textOf } from '../../../test/support/transport-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { LeadershipLost, NetworkError } from '../client/api-error.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { fenced } from './fenced.ts';
import { measured } from './measured.ts';
import type { Transport, TransportRequest } from './transport.ts';
import { resourceOf, warned, warningsOf } from './warned.ts';

const answering =
  (headers: Readonly<Record<string, string | readonly string[]>> = {}, seen: TransportRequest[] = []): Transport =>
  async (request) => {
    await new Promise((resolve) => setImmediate(resolve));
    request.beforeSend?.();
    seen.push(request);
    return { status: 200, headers, bytes: async () => Buffer.alloc(0), stream: async function* () {} };
  };

describe('fenced', () => {
  it('runtime/E7: refuses writes and lets reads pass when the fence is not valid', async () => {
    const seen: TransportRequest[] = [];
    let isValid = true;
    const transport = fenced(answering({}, seen), () => ({ isValid, token: '1' }));
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
    for (const method of methods) await transport({ method, target: '/' });
    isValid = false;
    for (const method of ['GET', 'HEAD']) await transport({ method, target: '/' });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.ok((await failureOf(transport({ method, target: '/' }))) instanceof LeadershipLost);
    }
    assert.deepEqual(
      seen.map(({ method }) => method),
      [...methods, 'GET', 'HEAD'],
    );
  });

  it('runtime/E7: looks again right before sending, when credentials or connecting took long', async () => {
    const methods: unknown[] = [];
    await using server = await bothServer((request, response) => {
      methods.push(request.method);
      response.end();
    });
    for (const isHttp1Only of [false, true]) {
      await using connection = await connectTo(server.url, {}, { isHttp1Only });
      let isValid = true;
      const token = Promise.withResolvers<void>();
      connection.credentials.headers = async () => {
        await token.promise;
        return {};
      };
      const transport = fenced(connection.transport, () => ({ isValid, token: '1' }));
      const sent = failureOf(transport({ method: 'POST', target: '/', body: 'x' }));
      isValid = false;
      token.resolve();
      assert.ok((await sent) instanceof LeadershipLost);
      await textOf(await transport({ method: 'GET', target: '/' }));
    }
    assert.deepEqual(methods, ['GET', 'GET']);
  });

  it('keeps the check of the caller', async () => {
    const calls: string[] = [];
    const beforeSend = (): void => void calls.push('caller');
    await fenced(answering(), () => ({ isValid: true, token: '1' }))({ method: 'POST', target: '/', beforeSend });
    assert.deepEqual(calls, ['caller', 'caller']);
  });
});

describe('measured', () => {
  it('runtime/N9: counts answers and failures and the time until the headers', async () => {
    const clock = new VirtualClock();
    const metrics = new PrometheusMetrics();
    const options = { clock, metrics, host: 'h:1' };
    const slow: Transport = async (request) => {
      await clock.sleep(50);
      if (request.method === 'PUT') throw new NetworkError('gone', { mayHaveHappened: true });
      return answering()(request);
    };
    const transport = measured(slow, options);
    const sent = [transport({ method: 'GET', target: '/' }), failureOf(transport({ method: 'PUT', target: '/' }))];
    await clock.advance(50);
    await Promise.all(sent);
    const text = await metrics.text();
    assert.match(text, /rest_client_requests_total\{code="200",method="GET",host="h:1"\} 1/);
    assert.match(text, /rest_client_requests_total\{code="<error>",method="PUT",host="h:1"\} 1/);
    assert.match(text, /rest_client_request_duration_seconds_sum\{verb="GET",host="h:1"\} 0.05/);
    assert.match(text, /rest_client_request_duration_seconds_bucket\{le="0.1",verb="PUT",host="h:1"\} 1/);
  });

  it('runtime/N9: a connection with metrics counts its requests, from zero', async () => {
    await using server = await bothServer((_request, response) => response.end());
    const metrics = new PrometheusMetrics();
    await using connection = await connectTo(server.url, {}, { metrics });
    assert.match(await metrics.text(), /requests_total\{code="200",method="GET",host="127.0.0.1:\d+"\} 0/);
    await textOf(await connection.transport({ method: 'GET', target: '/' }));
    assert.match(await metrics.text(), /requests_total\{code="200",method="GET",host="127.0.0.1:\d+"\} 1/);
  });
});

describe('warnings', () => {
  for (const [header, texts] of [
    [undefined, []],
    ['299 - "old"', ['old']],
    ['299 - "a, \\"b\\" \\\\c", 299 - "d"', ['a, "b" \\c', 'd']],
    ['299 proxy.test "x" "Tue, 15 Nov 1994 08:12:31 GMT"', ['x']],
    [
      ['299 - "one"', '299 - "two"'],
      ['one', 'two'],
    ],
    ['199 - "other"', []],
    ['299 - ""', []],
    ['299 - "no end', []],
    ['nonsense', []],
  ] as const) {
    it(`runtime/N7: reads ${JSON.stringify(header)}`, () => assert.deepEqual(warningsOf(header), texts));
  }

  it('runtime/N7: reads any texts that a server can quote', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }), (texts) => {
        const header = texts.map((text) => `299 - "${text.replace(/["\\]/g, '\\$&')}"`).join(', ');
        assert.deepEqual(warningsOf(header), texts);
      }),
    );
  });

  it('runtime/N7: logs each text once per resource in an hour, and tells the hook each time', async () => {
    const clock = new VirtualClock();
    const { log, lines } = recordedLog();
    const told: unknown[] = [];
    const options = { clock, log, onWarning: (...warning: unknown[]) => void told.push(warning) };
    const transport = warned(answering({ warning: '299 - "old"' }), options);
    const get = (target: string) => transport({ method: 'GET', target });
    await get('/apis/apps/v1/namespaces/a/deployments/b');
    await get('/apis/apps/v1/namespaces/c/deployments?limit=1');
    await get('/apis/apps/v1/statefulsets');
    assert.deepEqual(lines, [
      {
        level: 'warn',
        fields: { warning: 'old', resource: 'apps/v1 deployments' },
        message: 'The API server warns',
      },
      {
        level: 'warn',
        fields: { warning: 'old', resource: 'apps/v1 statefulsets' },
        message: 'The API server warns',
      },
    ]);
    assert.equal(told.length, 3);
    await clock.advance(3_600_000);
    await get('/apis/apps/v1/deployments');
    assert.equal(lines.length, 3);
  });

  it('a hook that throws is logged and does not make a write fail that has happened', async () => {
    const { log, lines } = recordedLog();
    const onWarning = () => {
      throw new Error('bad hook');
    };
    const transport = warned(answering({ warning: '299 - "old"' }), { clock: new VirtualClock(), log, onWarning });
    assert.equal((await transport({ method: 'POST', target: '/api/v1/pods' })).status, 200);
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['warn', 'error'],
    );
  });

  it('runtime/N7: remembers at most 1000 warnings', async () => {
    const { log, lines } = recordedLog();
    let at = 0;
    const transport = warned((request) => answering({ warning: `299 - "${at % 1001}"` })(request), {
      clock: new VirtualClock(),
      log,
    });
    for (; at < 1001; at++) await transport({ method: 'GET', target: '/' });
    await transport({ method: 'GET', target: '/' });
    assert.equal(lines.length, 1002, 'the first was forgotten');
    at = 1000;
    await transport({ method: 'GET', target: '/' });
    assert.equal(lines.length, 1002, 'the last was not');
  });

  for (const [target, resource] of [
    ['/api/v1/namespaces', 'v1 namespaces'],
    ['/api/v1/namespaces/a', 'v1 namespaces'],
    ['/api/v1/namespaces/a/pods/b/log?x=y', 'v1 pods'],
    ['/api/v1/nodes/n', 'v1 nodes'],
    ['/apis/apps/v1/namespaces/a/deployments', 'apps/v1 deployments'],
    ['/version?x', '/version'],
    ['/apis/apps/v1', '/apis/apps/v1'],
  ] as const) {
    it(`knows that ${target} is about ${resource}`, () => assert.equal(resourceOf({ target }), resource));
  }
});
