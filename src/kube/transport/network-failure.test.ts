import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { terminalError } from '../../base/errors.ts';
import { NetworkError } from '../client/api-error.ts';
import { isPassing, networkFailure, timeout } from './network-failure.ts';

const coded = (code: string, message = 'm'): Error => Object.assign(new Error(message), { code });
const context = { host: 'api.test:6443', mayHaveHappened: true };

describe('networkFailure', () => {
  for (const [code, message, passing] of [
    ['ECONNREFUSED', 'connection to api.test:6443 was refused; is the API server running there?', true],
    ['ECONNRESET', 'connection to api.test:6443 was reset by the other side or something in between', true],
    ['EPIPE', 'connection to api.test:6443 was reset by the other side or something in between', true],
    ['EHOSTUNREACH', 'api.test:6443 cannot be reached: m', true],
    ['ENOTFOUND', 'the name of api.test:6443 does not resolve: there is no such name in DNS', false],
    ['EAI_AGAIN', 'the name of api.test:6443 does not resolve: no name server answers', true],
    [
      'CERT_HAS_EXPIRED',
      'the certificate of api.test:6443 expired; renew it, or check the clock of this machine',
      false,
    ],
    [
      'CERT_NOT_YET_VALID',
      'the certificate of api.test:6443 is not valid before; check the clock of this machine',
      false,
    ],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'api.test:6443 refused the client certificate (m)', true],
    ['EPROTO', 'TLS with api.test:6443 failed: m', true],
    ['', 'connection to api.test:6443 failed: m', true],
    ['__proto__', 'connection to api.test:6443 failed: m', true],
    ['constructor', 'connection to api.test:6443 failed: m', true],
  ] as const) {
    it(`reliability/T2: ${code || 'an unknown failure'} is told in words`, () => {
      const failure = networkFailure(coded(code), context);
      assert.ok(failure instanceof NetworkError);
      assert.deepEqual([failure.message, failure.mayHaveHappened, failure.disposition], [message, true, 'retry']);
      assert.equal(isPassing(failure), passing);
    });
  }

  it('takes the first of several failures, one per address', () => {
    const both = new AggregateError([coded('ECONNREFUSED'), coded('ENETUNREACH')]);
    const failure = networkFailure(both, { ...context, mayHaveHappened: false }) as NetworkError;
    assert.match(failure.message, /was refused/);
    assert.deepEqual([failure.mayHaveHappened, failure.cause], [false, both]);
  });

  it('leaves foreseen failures as they are', () => {
    const known = terminalError('Known', 'known');
    assert.equal(networkFailure(known, context), known);
  });

  it('does not take lack of time for a passing failure', () => {
    assert.equal(isPassing(new NetworkError('late', { mayHaveHappened: true, cause: timeout() })), false);
  });
});
