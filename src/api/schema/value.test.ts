import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { Widget } from '../../../test/support/widget-kind.ts';
import { defineKind } from './define-kind.ts';
import { KindValueError } from './kind-error.ts';

const identity = { apiVersion: 'kinds.slipway.example/v1', kind: 'Widget', metadata: { name: 'a', uid: 'u' } };

describe('parse', () => {
  it('runtime/K8: sets defaults and drops what the definition does not know, as the server does', () => {
    const value = { ...identity, spec: { color: 'red', unknown: 1, config: { own: true } }, other: 1 };
    assert.deepEqual(Widget.parse(value), {
      ...identity,
      spec: {
        color: 'red',
        replicas: 1,
        timeout: '1m30s',
        strategy: { kind: 'Safe' },
        config: { level: 3, own: true },
      },
    });
  });

  it('runtime/K8: names every wrong field', () => {
    const value = {
      ...identity,
      kind: 'Gadget',
      spec: { replicas: -1, ports: [{ port: 1 }, { port: 'x' }], strategy: { kind: 'Slow' } },
    };
    assert.throws(
      () => Widget.parse(value),
      (error) => {
        assert.ok(error instanceof KindValueError);
        assert.deepEqual(
          error.problems.map(({ path }) => path),
          ['kind', 'spec.replicas', 'spec.ports[1].port', 'spec.strategy.kind'],
        );
        assert.match(error.message, /^not a valid Widget: kind: .*; spec\.replicas: /);
        return true;
      },
    );
    assert.throws(() => Widget.parse(null), /not a valid Widget/);
    assert.throws(() => Widget.parse({ ...identity, metadata: {}, spec: {} }), /metadata\.name: /);
  });

  it('runtime/K10: keeps times as text and integers of 64 bits whole', () => {
    const value = { ...identity, spec: { at: '2026-01-01T00:00:00.123456Z', size: 9_007_199_254_740_993n } };
    const { spec } = Widget.parse(value);
    assert.equal(spec.at, '2026-01-01T00:00:00.123456Z');
    assert.equal(spec.size, 9_007_199_254_740_993n);
    assert.equal(Object.getPrototypeOf(spec), Object.prototype);
  });

  it('keeps everything in objects of a foreign kind', () => {
    const Foreign = defineKind({
      group: 'a.example',
      version: 'v1',
      kind: 'Boat',
      plural: 'boats',
      scope: 'Cluster',
      isForeign: true,
      spec: z.object({ crew: z.array(z.object({ name: z.string(), age: z.int32().default(30) })) }),
    });
    const value = JSON.parse(
      '{"apiVersion":"a.example/v1","kind":"Boat","metadata":{"name":"a"},"top":1,' +
        '"spec":{"more":{"x":1},"crew":[{"name":"Ann","__proto__":{"y":2}}]}}',
    );
    const parsed = Foreign.parse(value);
    assert.equal(
      JSON.stringify(parsed),
      '{"apiVersion":"a.example/v1","kind":"Boat","metadata":{"name":"a"},"top":1,' +
        '"spec":{"more":{"x":1},"crew":[{"name":"Ann","__proto__":{"y":2},"age":30}]}}',
    );
  });
});
