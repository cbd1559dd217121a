import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Scripted, scriptedClient } from '../../../test/support/kube-client.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import {
  type ApiError,
  isAlreadyExists,
  isApplyConflict,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNoMatch,
  isNotFound,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  isUnauthorized,
} from './api-error.ts';

const KEY = { namespace: 'a', name: 'b' };

async function failure(answer: Scripted, method: 'get' | 'create' = 'get'): Promise<ApiError> {
  const { client } = scriptedClient(() => answer);
  const object = { metadata: KEY, data: { password: 'hunter2' } };
  const call = method === 'get' ? client.get(ConfigMap, KEY) : client.create(ConfigMap, object);
  const error = await call.then(
    () => assert.fail('it must fail'),
    (thrown: ApiError) => thrown,
  );
  return error;
}

const status = (code: number, reason: string, more: object = {}): Scripted => ({
  status: code,
  body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message: `it is ${reason}`, ...more },
});
const named = { details: { name: 'b', kind: 'configmaps' } };

const PREDICATES = {
  isNotFound,
  isAlreadyExists,
  isConflict,
  isApplyConflict,
  isInvalid,
  isUnauthorized,
  isForbidden,
  isExpired,
  isTimeout,
  isTooManyRequests,
  isServiceUnavailable,
  isNoMatch,
};

const CASES: readonly (readonly [Scripted, readonly (keyof typeof PREDICATES)[]])[] = [
  [status(404, 'NotFound', named), ['isNotFound']],
  [status(404, 'NotFound'), ['isNoMatch']],
  [{ status: 404, body: '404 page not found\n' }, ['isNoMatch']],
  [status(409, 'AlreadyExists', named), ['isAlreadyExists']],
  [status(409, 'Conflict', named), ['isConflict']],
  [
    status(409, 'Conflict', { details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }] } }),
    ['isConflict', 'isApplyConflict'],
  ],
  [status(422, 'Invalid', named), ['isInvalid']],
  [status(401, 'Unauthorized'), ['isUnauthorized']],
  [status(403, 'Forbidden'), ['isForbidden']],
  [status(410, 'Expired'), ['isExpired']],
  [status(410, 'Gone'), ['isExpired']],
  [status(504, 'Timeout'), ['isTimeout']],
  [status(500, 'Timeout'), ['isTimeout']],
  [status(429, 'TooManyRequests'), ['isTooManyRequests']],
  [status(503, 'ServiceUnavailable'), ['isServiceUnavailable']],
  [{ status: 503, body: '<html><body><h1>503</h1> no server</body></html>' }, ['isServiceUnavailable']],
  [status(500, 'InternalError'), []],
];

describe('failures', () => {
  for (const [answer, expected] of CASES) {
    const shown = typeof answer.body === 'string' ? answer.body.slice(0, 20).trim() : JSON.stringify(answer.body);
    it(`runtime/A3: ${answer.status} with ${shown.slice(0, 90)} is ${expected.join(', ') || 'none of the known'}`, async () => {
      const error = await failure(answer);
      const matching = Object.entries(PREDICATES).filter(([, holds]) => holds(error));
      assert.deepEqual(
        matching.map(([name]) => name),
        expected,
      );
    });
  }

  it('runtime/A3: names request and message of the Status, never a query or a body', async () => {
    const { client } = scriptedClient(() => status(422, 'Invalid', named));
    const object = { metadata: KEY, data: { password: 'hunter2' } };
    await assert.rejects(client.create(ConfigMap, object, { fieldManager: 'secret-token' }), (error: ApiError) => {
      assert.equal(error.message, 'it is Invalid');
      assert.deepEqual([error.method, error.path], ['POST', '/api/v1/namespaces/a/configmaps']);
      assert.doesNotMatch(JSON.stringify(error) + error.message + error.stack, /hunter2|secret-token/);
      return true;
    });
  });

  it('tells what a proxy wrote, without tags and secrets and not all of it', async () => {
    const html = `<html><style>p{}</style><h1>502 Bad Gateway</h1>${'x '.repeat(500)}</html>`;
    const error = await failure({ status: 502, body: html });
    assert.equal(error.reason, 'BadGateway');
    assert.match(
      error.message,
      /^GET \/api\/v1\/namespaces\/a\/configmaps\/b was answered with 502: 502 Bad Gateway x/,
    );
    assert.ok(error.message.length < 320 && error.message.endsWith('…'));
    const leaking = await failure({ status: 500, body: 'failed: Authorization: Bearer abcdefghijklmnop' });
    assert.doesNotMatch(leaking.message, /abcdefghijklmnop/);
    assert.equal((await failure({ status: 500 })).message.endsWith('with 500'), true);
    assert.doesNotMatch((await failure({ status: 500, body: { data: { password: 'x' } } })).message, /password/);
  });

  it('guesses the reason from the code where there is no Status', async () => {
    assert.equal((await failure({ status: 409, body: 'x' })).reason, 'Conflict');
    assert.equal((await failure({ status: 409, body: 'x' }, 'create')).reason, 'AlreadyExists');
    assert.equal((await failure({ status: 599 })).reason, 'InternalError');
    assert.equal((await failure({ status: 418 })).reason, 'Unknown');
    assert.equal((await failure({ status: 400, body: { kind: 'Status' } })).reason, 'BadRequest');
  });

  for (const [what, headers, more, expected] of [
    ['seconds', { 'retry-after': '7' }, {}, 7000],
    ['a day, cut to a minute', { 'retry-after': '86400' }, {}, 60_000],
    ['a date', { 'retry-after': 'Mon, 04 May 2026 03:02:11 GMT' }, {}, 10_000],
    ['a date that is over', { 'retry-after': ['Mon, 04 May 2020 03:02:11 GMT'] }, {}, undefined],
    ['nonsense', { 'retry-after': 'soon' }, {}, undefined],
    ['the details of the Status', {}, { details: { retryAfterSeconds: 3 } }, 3000],
    ['no header', {}, {}, undefined],
  ] as const) {
    it(`takes Retry-After from ${what}`, async () => {
      const error = await failure({ ...status(429, 'TooManyRequests', more), headers });
      assert.equal(error.retryAfterMs, expected);
    });
  }

  it('does not take a success without JSON for an object', async () => {
    const page = await failure({ status: 200, body: '<html>Sign in</html>' });
    assert.deepEqual([page.reason, isNotFound(page)], ['UndecodableAnswer', false]);
    assert.doesNotMatch(page.message, /Sign in/);
    assert.equal((await failure({ status: 200 })).reason, 'UndecodableAnswer');
    assert.equal((await failure({ status: 200, body: '[]' })).reason, 'UndecodableAnswer');
  });
});
