import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodTemplateSpec } from '../../api/generated/core-v1-types.ts';
import { canonicalJson } from './canonical-json.ts';
import { configHash, configSources } from './config-hash.ts';
import { specHash } from './spec-hash.ts';

type Data = Readonly<Record<string, string>> | undefined;

const hashOf = (configMaps: Readonly<Record<string, Data>>, secrets: Readonly<Record<string, Data>>): string =>
  configHash({ configMaps: new Map(Object.entries(configMaps)), secrets: new Map(Object.entries(secrets)) });

describe('configHash', () => {
  it('operator/R38: is that of upstream for a ConfigMap and a Secret', () => {
    const want = 'c7f9345a2f1d730784440ab608460066f1c6f5af4662de2a5ff61e1cd81d5bad';
    assert.equal(hashOf({ configmap: { foo: 'bar' } }, { secret: { foo: 'YmFy' } }), want);
  });

  it('operator/R38: is that of upstream when nothing is referred to', () => {
    assert.equal(hashOf({}, {}), '100444e91862dd77d7ebe29f050c1e9a7f357c771e1a7b7650aae27e6a3a031d');
  });

  it('operator/R38: is that of Go for texts that it escapes, for keys in any order and for absent data', () => {
    // What encoding/json of Go 1.26 and SHA-256 make of the same maps.
    const want = 'e2e64a6a183315d9303203992e9d833035d65a0a9359dc0473e836b2cee7cd80';
    const text = 'a<b>&c\u2028\u2029"\\/\b\f\n\r\t\u0001\u007fé😀';
    const entries = Object.fromEntries([
      ['x.conf', text],
      ['B', '2'],
      ['a', '1'],
      ['__proto__', 'p'],
    ]);
    const configMaps = { empty: {}, b: undefined, a: entries };
    assert.equal(hashOf(configMaps, { s: { k: 'AP88', e: '' }, n: undefined }), want);
  });
});

describe('canonicalJson', () => {
  const table = [
    {
      name: 'sorts keys at every depth',
      given: { b: [{ d: 1, c: 2 }], a: null },
      want: '{"a":null,"b":[{"c":2,"d":1}]}',
    },
    {
      name: 'escapes as Go does',
      given: ['<>&\u2028\u2029'],
      want: String.raw`["\u003c\u003e\u0026\u2028\u2029"]`,
    },
    { name: 'escapes keys as well', given: { '<': true }, want: String.raw`{"\u003c":true}` },
    { name: 'keeps every digit', given: [12_345_678_901_234_567_890n, 1.5], want: '[12345678901234567890,1.5]' },
    { name: 'writes the characters of all languages as they are', given: 'é😀\u007f', want: '"é😀\u007f"' },
  ];
  for (const { name, given, want } of table) it(name, () => assert.equal(canonicalJson(given), want));
});

describe('specHash', () => {
  it('operator/R39: knows a spec again whatever the order of its keys, and no other', () => {
    assert.equal(specHash({ a: 1, b: { c: 2, d: 3 } }), specHash({ b: { d: 3, c: 2 }, a: 1 }));
    assert.notEqual(specHash({ a: [1, 2] }), specHash({ a: [2, 1] }));
    assert.match(specHash({}), /^[0-9a-f]{64}$/);
  });
});

describe('configSources', () => {
  const containers = [
    { name: 'a', envFrom: [{ configMapRef: { name: 'env-map' } }, { secretRef: { name: 'env-secret' } }] },
    {
      name: 'b',
      env: [
        { name: 'A', valueFrom: { configMapKeyRef: { name: 'key-map', key: 'a' } } },
        { name: 'B', valueFrom: { secretKeyRef: { name: 'key-secret', key: 'b' } } },
        { name: 'C', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'D', value: 'd' },
      ],
    },
  ];
  const volumes = [
    { name: 'a', secret: { secretName: 'secret' } },
    { name: 'b', secret: { secretName: 'secret' } },
    { name: 'c', configMap: { name: 'map' } },
    { name: 'd', emptyDir: {} },
    { name: 'e', projected: { sources: [{ configMap: { name: 'projected' } }] } },
  ];
  const ofContainers = { configMaps: ['env-map', 'key-map'], secrets: ['env-secret', 'key-secret'] };
  const table = [
    { name: 'nothing', spec: { containers: [] }, want: { configMaps: [], secrets: [] } },
    { name: 'containers', spec: { containers }, want: ofContainers },
    { name: 'init containers', spec: { containers: [], initContainers: containers }, want: ofContainers },
    {
      name: 'volumes, each once, and no projected ones',
      spec: { containers: [], volumes },
      want: { configMaps: ['map'], secrets: ['secret'] },
    },
  ];
  for (const { name, spec, want } of table) {
    it(`operator/R38: finds what is referred to by ${name}`, () => {
      assert.deepEqual(configSources({ spec } as PodTemplateSpec), want);
    });
  }
  it('operator/R38: finds nothing in a template without a spec', () => {
    assert.deepEqual(configSources({}), { configMaps: [], secrets: [] });
  });
});
