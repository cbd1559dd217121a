import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { codecOf } from './codec.ts';
import { CsiController } from './csi/controller.ts';
import { CsiGroupController, CsiSnapshotMetadata } from './csi/group-controller.ts';
import { CsiIdentity } from './csi/identity.ts';
import { CsiNode } from './csi/node.ts';
import { Health } from './health.ts';
import { DevicePlugin, DeviceRegistration } from './kubelet/device-plugin.ts';
import { PluginRegistration } from './kubelet/plugin-registration.ts';
import { PodResourcesLister } from './kubelet/pod-resources.ts';
import { type Field, type FieldShape, int32, type MessageType, message, string } from './message.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');

const { Register } = DeviceRegistration.methods;
const { Allocate, ListAndWatch, GetPreferredAllocation } = DevicePlugin.methods;
const { NodePublishVolume, NodeGetInfo, NodeGetCapabilities } = CsiNode.methods;
const { Probe } = CsiIdentity.methods;
const { GetCapacity, CreateSnapshot } = CsiController.methods;

describe('messages on the wire', () => {
  // Every byte by hand: (number << 3 | wire type), length, content.
  for (const { name, type, value, wire } of [
    {
      name: 'texts and a message within',
      type: Register.request,
      value: {
        version: 'v1beta1',
        endpoint: 'a.sock',
        resourceName: 'x.y/z',
        options: { preStartRequired: true },
      },
      wire: '0a 07 76316265746131 12 06 612e736f636b 1a 05 782e792f7a 22 02 0801',
    },
    {
      name: 'a list of messages, a 64-bit number in the innermost',
      type: ListAndWatch.response,
      value: { devices: [{ ID: 'd', health: 'Healthy', topology: { nodes: [{ ID: 300n }] } }] },
      wire: '0a13 0a0164 12074865616c746879 1a05 0a03 08ac02',
    },
    {
      name: 'lists of texts and a 32-bit number',
      type: GetPreferredAllocation.request,
      value: {
        containerRequests: [{ availableDeviceIDs: ['a', 'b'], mustIncludeDeviceIDs: ['a'], allocationSize: 2 }],
      },
      wire: '0a 0b 0a0161 0a0162 120161 1802',
    },
    {
      name: 'maps',
      type: Allocate.response,
      value: { containerResponses: [{ envs: { K: 'v' }, annotations: { a: '' } }] },
      wire: '0a 0f 0a06 0a014b 120176 2205 0a0161 1200',
    },
    {
      name: 'one of several, and a name by its number',
      type: NodePublishVolume.request,
      value: {
        volumeId: 'v',
        volumeCapability: { block: {}, accessMode: { mode: 'MULTI_NODE_MULTI_WRITER' } },
        readonly: true,
      },
      wire: '0a0176 2a06 0a00 1a020805 3001',
    },
    {
      name: 'a negative 64-bit number in ten bytes',
      type: NodeGetInfo.response,
      value: { nodeId: 'n', maxVolumesPerNode: -1n },
      wire: '0a016e 10ffffffffffffffffff01',
    },
    { name: 'a boolean that was sent as false', type: Probe.response, value: { ready: false }, wire: '0a00' },
    { name: 'a boolean that was sent as true', type: Probe.response, value: { ready: true }, wire: '0a020801' },
    {
      name: 'numbers that may be missing',
      type: GetCapacity.response,
      value: { availableCapacity: 1n, maximumVolumeSize: 0n },
      wire: '0801 1200',
    },
    {
      name: 'a time',
      type: CreateSnapshot.response,
      value: { snapshot: { creationTime: { seconds: 1n, nanos: 5 }, readyToUse: true } },
      wire: '0a08 2204 08011005 2801',
    },
    { name: 'nothing', type: Register.request, value: {}, wire: '' },
  ]) {
    it(`are, for ${name}, exactly the bytes of the protocol`, () => {
      const codec = codecOf<MessageType>(type);
      assert.equal(hex(codec.encode(value)), wire.replaceAll(' ', ''));
      assert.equal(hex(codec.encode(codec.decode(bytes(wire)))), wire.replaceAll(' ', ''));
    });
  }

  it('give everything that always has a value its default', () => {
    assert.deepEqual(codecOf(NodePublishVolume.request).decode(new Uint8Array()), {
      volumeId: '',
      publishContext: {},
      stagingTargetPath: '',
      targetPath: '',
      readonly: false,
      secrets: {},
      volumeContext: {},
    });
  });

  it('may hold what a newer sender knows', () => {
    const codec = codecOf(NodeGetCapabilities.response);
    // Capability 99, and field 15 of the outer message.
    const { capabilities } = codec.decode(bytes('0a04 0a02 0863 7a03 616263'));
    assert.deepEqual(capabilities, [{ rpc: { type: 99 } }]);
    assert.equal(hex(codec.encode({ capabilities })), '0a040a020863');
  });

  it('keep 64-bit numbers exact', () => {
    const codec = codecOf(NodeGetInfo.response);
    for (const max of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]) {
      assert.equal(codec.decode(codec.encode({ maxVolumesPerNode: max })).maxVolumesPerNode, max);
    }
  });

  const unfit = message('test.v1.Unfit', { text: string(1), small: int32(2) });
  for (const { name, act, want } of [
    {
      name: 'a number that is too large',
      act: () => codecOf(unfit).encode({ small: 2 ** 31 }),
      want: /test\.v1\.Unfit cannot be written: .*small.*2147483648/,
    },
    {
      name: 'two of several of which only one can be set',
      act: () => codecOf(NodePublishVolume.request).encode({ volumeCapability: { block: {}, mount: {} } }),
      want: /only one of the fields of "access_type" of csi\.v1\.VolumeCapability can be set; "mount" is one more/,
    },
    {
      name: 'a name that does not exist',
      act: () =>
        codecOf<MessageType>(NodePublishVolume.request).encode({
          volumeCapability: { accessMode: { mode: 'toString' } },
        }),
      want: /"toString" is not one of csi\.v1\.VolumeCapability\.AccessMode\.Mode: UNKNOWN, SINGLE_NODE_WRITER/,
    },
    {
      name: 'bytes that end too early',
      act: () => codecOf(unfit).decode(bytes('0a05 61')),
      want: /3 bytes are no test\.v1\.Unfit/,
    },
    {
      name: 'text that is not UTF-8',
      act: () => codecOf(unfit).decode(bytes('0a02 c328')),
      want: /4 bytes are no test\.v1\.Unfit/,
    },
  ]) {
    it(`refuse ${name}`, () => assert.throws(act, { reason: 'InvalidMessage', message: want }));
  }
});

const SERVICES = [
  CsiIdentity,
  CsiController,
  CsiNode,
  CsiGroupController,
  CsiSnapshotMetadata,
  DeviceRegistration,
  DevicePlugin,
  PluginRegistration,
  PodResourcesLister,
  Health,
];

const local = (name: string) => name.replaceAll(/_(.)/g, (_, next: string) => next.toUpperCase());
const text = fc.string({ unit: 'binary', maxLength: 8 });
const SCALARS = {
  string: text,
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
};

function valueOf(shape: FieldShape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'scalar':
    case 'wrapper':
      return SCALARS[shape.scalar];
    case 'map':
      return fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        text,
        { maxKeys: 2, noNullPrototype: true },
      );
    case 'enum':
      return fc.constantFrom(...Object.keys(shape.type.values));
    case 'message':
      return received(shape.type);
  }
}

const isMaybe = ({ shape, isList, isOptional }: Field): boolean =>
  isList !== true && (isOptional === true || shape.kind === 'message' || shape.kind === 'wrapper');

/** Any value as a reader could have received it. */
function received({ fields }: MessageType): fc.Arbitrary<Record<string, unknown>> {
  const entries = Object.entries(fields);
  const free = entries.filter(([, { oneof }]) => oneof === undefined);
  const values: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [name, { shape, isList }] of free) {
    values[local(name)] = isList === true ? fc.array(valueOf(shape), { maxLength: 2 }) : valueOf(shape);
  }
  const required = free.filter(([, field]) => !isMaybe(field)).map(([name]) => local(name));
  const bound = entries.filter(([, { oneof }]) => oneof !== undefined);
  const chosen = [
    fc.constant({}),
    ...bound.map(([name, { shape }]) => valueOf(shape).map((value) => ({ [local(name)]: value }))),
  ];
  return fc
    .tuple(fc.record(values, { requiredKeys: required, noNullPrototype: true }), fc.oneof(...chosen))
    .map(([one, other]) => ({ ...one, ...other }));
}

describe('every message of every service', () => {
  const types = SERVICES.flatMap(({ methods }) =>
    Object.values<{ request: MessageType; response: MessageType }>(methods).flatMap(({ request, response }) => [
      request,
      response,
    ]),
  );
  for (const type of new Set(types)) {
    it(`comes out as it went in: ${type.name}`, () => {
      const codec = codecOf(type);
      fc.assert(
        fc.property(received(type), (value) => assert.deepEqual(codec.decode(codec.encode(value)), value)),
        { numRuns: 20 },
      );
    });
  }
});
