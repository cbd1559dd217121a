import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../object/json.ts';
import { builtinResources } from '../builtin-data/builtin-resources.ts';
import { decodeProtobufBody, ProtobufProblem } from './decode-body.ts';

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
const number = (field: number, value: number | bigint): Buffer =>
  Buffer.concat([varint(field * 8), varint(value)]);
const double = (field: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint(field * 8 + 1), bytes]);
};
const part = (field: number, ...content: readonly (string | Uint8Array)[]): Buffer => {
  const bytes = Buffer.concat(content.map((one) => (typeof one === 'string' ? Buffer.from(one) : one)));
  return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
};
const MAGIC = Buffer.from('k8s\0');
const envelope = (apiVersion: string, kind: string, ...raw: readonly Uint8Array[]): Buffer =>
  Buffer.concat([MAGIC, part(1, part(1, apiVersion), part(2, kind)), part(2, ...raw), part(3, ''), part(4, '')]);

const POD = { group: '', version: 'v1', kind: 'Pod' };
/** Field 2 of a Pod is its spec, 2 of that its containers. */
const decoded = (apiVersion: string, kind: string, ...raw: readonly Uint8Array[]) =>
  decodeProtobufBody(envelope(apiVersion, kind, ...raw), undefined).object;

function problemOf(bytes: Uint8Array, expected = POD): ProtobufProblem {
  try {
    decodeProtobufBody(bytes, expected);
  } catch (error) {
    assert.ok(error instanceof ProtobufProblem, String(error));
    return error;
  }
  return assert.fail('nothing was thrown');
}

describe('a protobuf body', () => {
  it('apiserver/C5: says its kind in the envelope', () => {
    const body = decodeProtobufBody(envelope('v1', 'Namespace', part(1, part(1, 'a'))), undefined);
    assert.deepEqual(body, {
      apiVersion: 'v1',
      kind: 'Namespace',
      object: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'a' }, spec: {}, status: {} },
    });
  });

  it('apiserver/C5: takes the kind of the endpoint when the envelope has none', () => {
    const bytes = Buffer.concat([MAGIC, part(2, part(1, part(1, 'a')))]);
    const lease = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };
    const { object } = decodeProtobufBody(bytes, lease);
    assert.deepEqual(object, {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name: 'a' },
      spec: {},
    });
  });

  for (const apiVersion of ['v1', 'meta.k8s.io/v1', 'apps/v1', 'ex.io/v1']) {
    it(`apiserver/C5: holds DeleteOptions of ${apiVersion}`, () => {
      const {
        apiVersion: got,
        kind,
        ...rest
      } = decoded(apiVersion, 'DeleteOptions', number(1, 0), part(4, 'Orphan'));
      assert.deepEqual([got, kind], [apiVersion, 'DeleteOptions']);
      assert.deepEqual(rest, { gracePeriodSeconds: 0, propagationPolicy: 'Orphan' });
    });
  }

  it('skips fields nobody knows, groups included', () => {
    const group = Buffer.concat([varint(99 * 8 + 3), varint(98 * 8 + 3), varint(98 * 8 + 4), varint(99 * 8 + 4)]);
    const fixed = Buffer.concat([varint(97 * 8 + 5), Buffer.alloc(4)]);
    const unknown = [number(90, 5), double(91, 1), part(92, 'x'), group, fixed];
    assert.deepEqual(decoded('v1', 'ConfigMap', ...unknown, part(1, part(1, 'a'))), {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'a' },
    });
  });
});

describe('values in a protobuf body', () => {
  const metadata = (...raw: readonly Uint8Array[]) => decoded('v1', 'ConfigMap', part(1, ...raw))['metadata'];
  const seconds = Date.parse('2026-11-15T20:50:00Z') / 1000;
  const cases: readonly { name: string; got: () => Json | undefined; want: Json }[] = [
    {
      name: 'Time has seconds only',
      got: () => metadata(part(8, number(1, seconds), number(2, 5e8))),
      want: { creationTimestamp: '2026-11-15T20:50:00Z' },
    },
    {
      name: 'a zero Time is left out where omitzero says so',
      got: () => metadata(part(8)),
      want: {},
    },
    {
      name: 'a Time before 1970 is one',
      got: () => metadata(part(9, number(1, -1))),
      want: { deletionTimestamp: '1969-12-31T23:59:59Z' },
    },
    {
      name: 'MicroTime has six digits',
      got: () =>
        decoded('coordination.k8s.io/v1', 'Lease', part(2, part(4, number(1, seconds), number(2, 123_000))))[
          'spec'
        ],
      want: { renewTime: '2026-11-15T20:50:00.000123Z' },
    },
    {
      name: 'a zero MicroTime without omitzero is null',
      got: () => decoded('events.k8s.io/v1', 'Event', part(1, part(1, 'a')))['eventTime'],
      want: null,
    },
    {
      name: 'IntOrString is a number or a string',
      got: () =>
        decoded(
          'v1',
          'Service',
          part(
            2,
            part(1, number(3, 80), part(4, number(1, 0), number(2, -8))),
            part(1, part(4, number(1, 1), part(3, 'web'))),
          ),
        )['spec'],
      want: {
        ports: [
          { port: 80, targetPort: -8 },
          { port: 0, targetPort: 'web' },
        ],
      },
    },
    {
      name: 'Quantity is its text, in maps too',
      got: () => decoded('v1', 'ResourceQuota', part(2, part(1, part(1, 'cpu'), part(2, part(1, '500m'))))),
      want: {
        kind: 'ResourceQuota',
        apiVersion: 'v1',
        metadata: {},
        spec: { hard: { cpu: '500m' } },
        status: {},
      },
    },
    {
      name: 'bytes are base64, and empty ones stay in a map',
      got: () =>
        decoded('v1', 'Secret', part(2, part(1, 'a'), part(2, Buffer.from([0xff, 0]))), part(2, part(1, 'b')))[
          'data'
        ],
      want: { a: '/wA=', b: '' },
    },
    {
      name: 'a map may hold any key, and the last of two wins',
      got: () =>
        Object.entries(
          decoded('v1', 'ConfigMap', ...['1', '2'].map((text) => part(2, part(1, '__proto__'), part(2, text))))[
            'data'
          ] ?? {},
        ).flat(),
      want: ['__proto__', '2'],
    },
    {
      name: 'managed fields are JSON',
      got: () => metadata(part(17, part(7, part(1, '{"f:a":{}}')))),
      want: { managedFields: [{ fieldsV1: { 'f:a': {} } }] },
    },
    {
      name: 'an embedded object is JSON, with all digits',
      got: () =>
        decoded('apps/v1', 'ControllerRevision', part(2, part(1, '{"a":9007199254740993}')), number(3, 1)),
      want: {
        kind: 'ControllerRevision',
        apiVersion: 'apps/v1',
        metadata: {},
        data: { a: 9_007_199_254_740_993n },
        revision: 1,
      },
    },
    {
      name: 'an int64 keeps all digits',
      got: () => metadata(number(7, -9_007_199_254_740_993n)),
      want: { generation: -9_007_199_254_740_993n },
    },
    {
      name: 'a negative int32 takes ten bytes',
      got: () => decoded('scheduling.k8s.io/v1', 'PriorityClass', number(2, -5))['value'],
      want: -5,
    },
    {
      name: 'a list with a name of its own is a list',
      got: () =>
        decoded(
          'authentication.k8s.io/v1',
          'TokenReview',
          part(3, part(2, part(4, part(1, 'k'), part(2, part(1, 'a'), part(1, 'b'))))),
        )['status'],
      want: { user: { extra: { k: ['a', 'b'] } } },
    },
    {
      name: 'fields of an inline message belong to the one around it',
      got: () => decoded('v1', 'Pod', part(2, part(1, part(1, 'v'), part(2, part(1, part(1, '/x'))))))['spec'],
      want: { volumes: [{ name: 'v', hostPath: { path: '/x' } }], containers: null },
    },
    {
      name: 'numbers in a list may be packed',
      got: () => decoded('v1', 'Pod', part(2, part(14, part(4, varint(5), varint(6)), number(4, 7))))['spec'],
      want: { containers: null, securityContext: { supplementalGroups: [5, 6, 7] } },
    },
  ];
  for (const { name, got, want } of cases) {
    it(`apiserver/C5: ${name}`, () => assert.deepEqual(got(), want));
  }

  it('apiserver/C5: zero values are left out or written as the struct tags say', () => {
    assert.deepEqual(decoded('rbac.authorization.k8s.io/v1', 'ClusterRole', part(1)), {
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: {},
      rules: null,
    });
    const { spec } = decoded('apps/v1', 'Deployment', part(2, number(1, 0)));
    assert.deepEqual(spec, {
      replicas: 0,
      selector: null,
      template: { metadata: {}, spec: { containers: null } },
      strategy: {},
    });
  });

  it('apiserver/C5: the other halves of these unions are what they hold, too', () => {
    const text = part(5, 'string');
    const cases: readonly [Uint8Array, Json][] = [
      [part(24, part(2, text), part(2, text)), { items: [{ type: 'string' }, { type: 'string' }] }],
      // Go would write null, which means the same.
      [part(24), {}],
      [part(30), { additionalProperties: false }],
      [part(32, part(1, 'k'), part(2, part(1, text))), { dependencies: { k: { type: 'string' } } }],
      [part(32, part(1, 'k'), part(2)), { dependencies: { k: null } }],
      [part(20), { enum: [null] }],
    ];
    for (const [content, want] of cases) {
      const validation = part(4, part(1, content));
      const { spec } = decoded(
        'apiextensions.k8s.io/v1',
        'CustomResourceDefinition',
        part(2, part(7, validation)),
      );
      const { versions } = spec as { versions: [{ schema: { openAPIV3Schema: Json } }] };
      assert.deepEqual(versions[0].schema.openAPIV3Schema, want);
    }
  });

  it('apiserver/C5: the unions of a CustomResourceDefinition are what they hold', () => {
    const schema = (...content: readonly Uint8Array[]) =>
      decoded(
        'apiextensions.k8s.io/v1',
        'CustomResourceDefinition',
        part(2, part(7, part(4, part(1, ...content)))),
      ) as { spec: { versions: [{ schema: { openAPIV3Schema: Json } }] } };
    const { openAPIV3Schema } = schema(
      part(8, part(1, '{"a":[1]}')),
      double(9, 1.5),
      part(24, part(1, part(5, 'string'))),
      part(30, number(1, 1)),
      part(33, part(2, part(5, 'integer'))),
      part(32, part(1, 'k'), part(2, part(2, 'a'), part(2, 'b'))),
      part(20, part(1, 'null')),
    ).spec.versions[0].schema;
    assert.deepEqual(openAPIV3Schema, {
      default: { a: [1] },
      maximum: 1.5,
      enum: [null],
      items: { type: 'string' },
      additionalProperties: true,
      additionalItems: { type: 'integer' },
      dependencies: { k: ['a', 'b'] },
    });
  });
});

/** A schema in a schema, `levels` deep, by way of `not`. */
function nestedSchema(levels: number): Buffer {
  let schema = part(5, 'object');
  for (let level = 0; level < levels; level++) schema = part(28, schema);
  return envelope(
    'apiextensions.k8s.io/v1',
    'CustomResourceDefinition',
    part(2, part(7, part(4, part(1, schema)))),
  );
}

describe('a hostile protobuf body', () => {
  const metadataOf = (...raw: readonly Uint8Array[]) => envelope('v1', 'Pod', part(1, ...raw));
  const fieldsV1 = (text: string) => metadataOf(part(17, part(7, part(1, text))));
  const cases: readonly { name: string; bytes: Uint8Array; want: RegExp }[] = [
    { name: 'nothing', bytes: Buffer.alloc(0), want: /^empty data$/ },
    { name: 'other magic bytes', bytes: Buffer.from('k8t\0'), want: /expected prefix/ },
    { name: 'a wrong wire type', bytes: metadataOf(number(1, 5)), want: /wrong wireType = 0 for field name/ },
    {
      name: 'a wrong wire type of a map',
      bytes: metadataOf(number(11, 5)),
      want: /wrong wireType = 0 for field labels/,
    },
    { name: 'a wire type that does not exist', bytes: metadataOf(varint(90 * 8 + 7)), want: /illegal wireType 7/ },
    { name: 'field number 0', bytes: metadataOf(number(0, 1)), want: /illegal tag 0/ },
    { name: 'a length beyond the end', bytes: metadataOf(Buffer.from([10, 100])), want: /unexpected EOF/ },
    { name: 'a huge length', bytes: metadataOf(Buffer.from([10]), varint(2n ** 63n)), want: /overflow/ },
    { name: 'an endless varint', bytes: metadataOf(varint(56), Buffer.alloc(20, 0xff)), want: /overflow/ },
    { name: 'an end of a group that never began', bytes: metadataOf(varint(99 * 8 + 4)), want: /end of group/ },
    { name: 'a group without end', bytes: metadataOf(varint(99 * 8 + 3)), want: /unexpected EOF/ },
    { name: 'a fixed number cut off', bytes: metadataOf(varint(99 * 8 + 1)), want: /unexpected EOF/ },
    { name: 'messages 10,000 deep', bytes: nestedSchema(10_000), want: /nested too deeply/ },
    { name: 'JSON 300 deep', bytes: fieldsV1(`${'['.repeat(300)}${']'.repeat(300)}`), want: /nested too deeply/ },
    { name: 'JSON 100,000 deep', bytes: fieldsV1('{"a":'.repeat(100_000)), want: /JSON in a field/ },
    { name: 'broken JSON', bytes: fieldsV1('{'), want: /invalid JSON in a field/ },
    { name: 'a year beyond 9999', bytes: metadataOf(part(8, number(1, 1e12))), want: /time is out of range/ },
    { name: 'a time beyond numbers', bytes: metadataOf(part(8, number(1, 2n ** 62n))), want: /out of range/ },
    {
      name: 'a million empty containers',
      bytes: envelope('v1', 'Pod', part(2, Buffer.alloc(1_000_000, Buffer.from([0x12, 0])))),
      want: /too many messages/,
    },
  ];
  for (const { name, bytes, want } of cases) {
    it(`reliability/P9: with ${name} is a problem and nothing else`, () => {
      const { message, reason } = problemOf(bytes);
      assert.match(message, want);
      assert.equal(reason, 'malformed');
    });
  }

  for (const [apiVersion, kind] of [
    ['ex.io/v1', 'Widget'],
    ['v1', 'Widget'],
    ['v1', '__proto__'],
    ['v2', 'Pod'],
    ['v1', 'NoOptions'],
    ['v1', ''],
    ['v1', 'x.Pod'],
    ['v1', '../../x.Options'],
  ] as const) {
    it(`of the unknown kind ${apiVersion} ${kind} says so`, () => {
      const { message, reason } = problemOf(envelope(apiVersion, kind), { ...POD, kind });
      assert.equal(message, `no kind "${kind}" is registered for version "${apiVersion}"`);
      assert.equal(reason, 'unknown-kind');
    });
  }

  it('reliability/P9: schemas 100 deep are still read', () => {
    assert.doesNotThrow(() => decodeProtobufBody(nestedSchema(100), undefined));
  });

  it('reliability/P9: invalid UTF-8 becomes the replacement character', () => {
    const { object } = decodeProtobufBody(metadataOf(part(1, Buffer.from([0x61, 0xff]))), undefined);
    assert.deepEqual(object['metadata'], { name: 'a\ufffd' });
  });

  it('reliability/P9: throws nothing but problems, whatever the bytes of whatever kind', () => {
    const kinds = builtinResources();
    fc.assert(
      fc.property(fc.nat(kinds.length - 1), fc.uint8Array({ maxLength: 200 }), (at, bytes) => {
        try {
          decodeProtobufBody(Buffer.concat([MAGIC, part(2, bytes)]), kinds[at]);
        } catch (error) {
          assert.ok(error instanceof ProtobufProblem, String(error));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('reliability/P9: a real body cut off anywhere is a problem or a shorter object', () => {
    const whole = envelope(
      'v1',
      'Pod',
      part(1, part(1, 'a'), part(8, number(1, 5))),
      part(2, part(2, part(1, 'c'))),
    );
    for (let length = 0; length < whole.length; length++) {
      try {
        assert.equal(typeof decodeProtobufBody(whole.subarray(0, length), POD).object, 'object');
      } catch (error) {
        assert.ok(error instanceof ProtobufProblem, String(error));
      }
    }
  });
});
