import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProviderErrorKind } from '../../sdk/provider/provider-error.ts';
import { isGone, refusalError, transportError } from './lab-errors.ts';

const refusal = (status: number, body: unknown, retryAfter: string | null = null) =>
  refusalError({ request: 'GET /v1/zones', status, retryAfter, body });

const told = (code: string, more: object = {}) => ({
  error: { code, message: 'no', retryable: false, requestId: 'req-1', ...more },
});

describe('errors of the lab cloud', () => {
  const codes: readonly (readonly [number, string, ProviderErrorKind])[] = [
    [400, 'InvalidArgument', 'invalid'],
    [400, 'UnknownField', 'invalid'],
    [401, 'Unauthenticated', 'unauthenticated'],
    [401, 'TokenExpired', 'unauthenticated'],
    [403, 'Forbidden', 'denied'],
    [404, 'NotFound', 'not-found'],
    [409, 'AlreadyExists', 'conflict'],
    [409, 'IncorrectState', 'conflict'],
    [409, 'InUse', 'in-use'],
    [409, 'IdempotencyMismatch', 'conflict'],
    [412, 'PreconditionFailed', 'conflict'],
    [422, 'QuotaExceeded', 'quota'],
    [429, 'RateLimited', 'throttled'],
    [500, 'Internal', 'unavailable'],
    [503, 'Unavailable', 'unavailable'],
    [503, 'InsufficientCapacity', 'no-capacity'],
  ];
  for (const [status, code, kind] of codes) {
    it(`style/S34, lab/C3: ${code} is ${kind}`, () => {
      const error = refusal(status, told(code));
      assert.deepEqual([error.kind, error.code], [kind, code]);
      assert.equal(error.message, `GET /v1/zones: no (${code}, HTTP ${status}, req-1)`);
    });
  }

  const strangers: readonly (readonly [number, unknown, ProviderErrorKind])[] = [
    [404, undefined, 'unavailable'],
    [404, { error: 'not here' }, 'unavailable'],
    [502, undefined, 'unavailable'],
    [429, undefined, 'throttled'],
    [418, told('Teapot'), 'unknown'],
    [503, told('constructor'), 'unavailable'],
  ];
  for (const [status, body, kind] of strangers) {
    it(`style/S34: ${status} with ${JSON.stringify(body)} is ${kind}, and never evidence`, () => {
      const error = refusal(status, body);
      assert.deepEqual([error.kind, isGone(error)], [kind, false]);
    });
  }

  it('lab/C3: a missing part of a request is not a missing object', () => {
    assert.equal(isGone(refusal(404, told('NotFound'))), true);
    assert.equal(isGone(refusal(404, told('NotFound', { target: 'targets.0.instanceId' }))), false);
  });

  it('lab/C8: says when to come back, within bounds', () => {
    const times = ['7', '99999999', 'tomorrow', null].map((header) => refusal(429, told('RateLimited'), header));
    assert.deepEqual(
      times.map(({ retryAfterMs }) => retryAfterMs),
      [7000, 300_000, undefined, undefined],
    );
  });

  const cut = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  const failures: readonly (readonly [string, string, ProviderErrorKind])[] = [
    ['GET', 'UND_ERR_SOCKET', 'unavailable'],
    ['GET', 'ECONNREFUSED', 'unavailable'],
    ['POST', 'ECONNREFUSED', 'unavailable'],
    ['POST', 'ECONNRESET', 'uncertain'],
    ['PATCH', 'UND_ERR_SOCKET', 'uncertain'],
    ['DELETE', 'UND_ERR_SOCKET', 'uncertain'],
  ];
  for (const [method, code, kind] of failures) {
    it(`lab/C11: ${method} that ends with ${code} is ${kind}`, () => {
      const error = transportError(cut(code), method, `${method} /v1/x`);
      assert.equal(error.kind, kind);
      assert.match(error.message, new RegExp(`^${method} /v1/x: .* \\(${code}\\)$`));
    });
  }
});
