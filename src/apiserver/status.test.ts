import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { invalid, required } from '../object/field-error.ts';
import {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  forbiddenObject,
  internalError,
  invalidObject,
  notFound,
  type StatusError,
  tooManyRequests,
  unauthorized,
} from './status.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const WIDGETS = { group: 'ex.io', resource: 'widgets' };

/** Everything but the constant head. */
const shown = (error: StatusError): unknown => {
  const { kind, apiVersion, status, ...rest } = error.body();
  assert.deepEqual([kind, apiVersion, status], ['Status', 'v1', 'Failure']);
  return rest;
};

describe('StatusError', () => {
  it('apiserver/E1: names the resource with its group, and a core one without', () => {
    assert.deepEqual(shown(notFound(CONFIG_MAPS, 'a')), {
      metadata: {},
      message: 'configmaps "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'configmaps' },
      code: 404,
    });
    assert.deepEqual(shown(notFound(WIDGETS, 'a')), {
      metadata: {},
      message: 'widgets.ex.io "a" not found',
      reason: 'NotFound',
      details: { name: 'a', group: 'ex.io', kind: 'widgets' },
      code: 404,
    });
  });

  it('writes its keys in the order of upstream', () => {
    const error = forbiddenObject(WIDGETS, 'a', 'no', [{ reason: 'R', message: 'm', field: 'f' }]);
    assert.equal(
      JSON.stringify(error.body()),
      '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"widgets.ex.io \\"a\\" is forbidden: no","reason":"Forbidden","details":{"name":"a","group":"ex.io","kind":"widgets","causes":[{"reason":"R","message":"m","field":"f"}]},"code":403}',
    );
  });

  it('apiserver/E7: puts one error alone and several in brackets, each once', () => {
    const kind = { group: 'ex.io', kind: 'Widget' };
    const [a, b] = [required('spec.a', ''), invalid('spec.b', 1, 'must be 2')];
    assert.equal(invalidObject(kind, 'w', [a]).message, 'Widget.ex.io "w" is invalid: spec.a: Required value');
    const several = invalidObject(kind, 'w', [a, b, a]);
    assert.equal(
      several.message,
      'Widget.ex.io "w" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: must be 2]',
    );
    assert.deepEqual(several.details?.causes?.[1], {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 1: must be 2',
      field: 'spec.b',
    });
  });

  const rows: readonly [StatusError, number, string, string][] = [
    [alreadyExists(WIDGETS, 'a'), 409, 'AlreadyExists', 'widgets.ex.io "a" already exists'],
    [conflict(CONFIG_MAPS, 'a', 'why'), 409, 'Conflict', 'Operation cannot be fulfilled on configmaps "a": why'],
    [forbiddenObject(CONFIG_MAPS, '', 'no'), 403, 'Forbidden', 'configmaps is forbidden: no'],
    [badRequest('odd'), 400, 'BadRequest', 'odd'],
    [unauthorized(), 401, 'Unauthorized', 'Unauthorized'],
    [tooManyRequests('wait', 3), 429, 'TooManyRequests', 'wait'],
  ];
  for (const [error, code, reason, message] of rows) {
    it(`says ${code} ${reason}`, () => {
      assert.deepEqual([error.code, error.reason, error.message], [code, reason, message]);
    });
  }

  it('apiserver/E27: gives the cause of an internal error', () => {
    assert.deepEqual(shown(internalError('boom')), {
      metadata: {},
      message: 'Internal error occurred: boom',
      reason: 'InternalError',
      details: { causes: [{ message: 'boom' }] },
      code: 500,
    });
  });

  it('carries the token by which an expired list goes on', () => {
    assert.deepEqual(expired('old', 'token').body()['metadata'], { continue: 'token' });
    assert.deepEqual(expired('old').body()['metadata'], {});
  });

  it('reliability/P9: lists a mebibyte of errors, but one however long it is', () => {
    const kind = { group: '', kind: 'A' };
    const many = Array.from({ length: 10_000 }, (_, at) => invalid(`a${at}`, 'x'.repeat(500), 'wrong'));
    const { message, details } = invalidObject(kind, 'n', many);
    assert.equal(details?.causes?.length, 1984);
    assert.ok(message.length < 1_200_000);
    const one = invalidObject(kind, 'n', [invalid('a', 'x'.repeat(2_000_000), 'wrong'), required('b')]);
    assert.equal(one.details?.causes?.length, 1);
    assert.ok(one.message.length > 2_000_000);
  });
});
