import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { descriptorOf } from '../descriptor.ts';
import type { EnumType, Field, MessageType } from '../message.ts';
import type { Method, ServiceType } from '../rpc-service.ts';
import { shownMessage } from '../shown-message.ts';
import { CsiController } from './controller.ts';
import { CsiGroupController, CsiSnapshotMetadata } from './group-controller.ts';
import { CsiIdentity } from './identity.ts';
import { CsiNode } from './node.ts';

const TABLE = readFileSync(new URL('testdata/csi-v1.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));

const SERVICES: readonly ServiceType[] = [
  CsiIdentity,
  CsiController,
  CsiNode,
  CsiGroupController,
  CsiSnapshotMetadata,
];
const methods: readonly (readonly [ServiceType, string, Method])[] = SERVICES.flatMap((service) =>
  Object.entries(service.methods).map(([name, method]) => [service, name, method] as const),
);
const short = (name: string) => name.replace('csi.v1.', '');

/** Everything that a service speaks of, by name. */
function collected(): ReadonlyMap<string, MessageType | EnumType> {
  const found = new Map<string, MessageType | EnumType>();
  const visit = (type: MessageType) => {
    if (found.has(short(type.name)) || type.name.startsWith('google.')) return;
    found.set(short(type.name), type);
    for (const { shape } of Object.values(type.fields)) {
      if (shape.kind === 'message') visit(shape.type);
      if (shape.kind === 'enum') found.set(short(shape.type.name), shape.type);
    }
  };
  for (const [, , { request, response }] of methods) {
    visit(request);
    visit(response);
  }
  return found;
}

const SCALARS = { string: 's', bool: 'b', int32: 'i32', int64: 'i64', uint64: 'u64' };
const WRAPPERS = { bool: 'BoolValue', int64: 'Int64Value' };

function shapeText({ shape }: Field): string {
  switch (shape.kind) {
    case 'scalar':
      return SCALARS[shape.scalar];
    case 'wrapper':
      return WRAPPERS[shape.scalar];
    case 'map':
      return 'map';
    case 'enum':
    case 'message':
      return short(shape.type.name).replace('google.protobuf.', '');
  }
}

const fieldText = ([name, field]: readonly [string, Field]): string =>
  `${field.number} ${name} ${shapeText(field)}${field.isList === true ? '*' : ''}${field.isSecret === true ? '!' : ''}${
    field.oneof === undefined ? '' : ` (${field.oneof})`
  }`;

function lineOf(name: string, type: MessageType | EnumType): string {
  if ('values' in type) {
    const values = Object.entries<number>(type.values).map(([value, number]) => `${number} ${value}`);
    return `enum ${name}: ${values.join(', ')}`;
  }
  return `message ${name}: ${Object.entries(type.fields).map(fieldText).join(', ')}`.trimEnd();
}

describe('the description of CSI', () => {
  it('has the services, messages and names of the wire table, and no others', () => {
    const services = methods.map(
      ([{ name }, method, { isStream }]) => `service ${short(name)} ${method}${isStream ? ' stream' : ''}`,
    );
    const types = [...collected()].map(([name, type]) => lineOf(name, type));
    assert.deepEqual([...services, ...types].toSorted(), TABLE.toSorted());
  });

  it('names requests and answers after their methods', () => {
    for (const [, name, { request, response }] of methods) {
      assert.equal(request.name, `csi.v1.${name}Request`);
      assert.equal(response.name, `csi.v1.${name}Response`);
    }
  });

  it('reaches the protobuf library with the same names and numbers', () => {
    for (const type of collected().values()) {
      if ('values' in type) continue;
      const descriptor = descriptorOf(type);
      assert.equal(descriptor.typeName, type.name);
      assert.deepEqual(
        descriptor.fields.map(({ name, number, oneof }) => [name, number, oneof?.name]),
        Object.entries(type.fields).map(([name, { number, oneof }]) => [name, number, oneof]),
      );
    }
  });

  it('hides what is secret in all nineteen requests that carry secrets', () => {
    const canary = 'canary-of-a-secret';
    const carriers = methods.filter(([, , { request }]) => 'secrets' in request.fields);
    assert.equal(carriers.length, 19);
    for (const [, , { request }] of carriers) {
      const shown = shownMessage(request, { volumeId: 'v', secrets: { password: canary } });
      assert.doesNotMatch(JSON.stringify(shown), new RegExp(canary));
    }
    const { request } = CsiNode.methods.NodePublishVolume;
    const shown = shownMessage(request, {
      volumeId: 'v',
      volumeCapability: { mount: { fsType: 'x', mountFlags: ['ro', `password=${canary}`] } },
      volumeContext: { 'csi.storage.k8s.io/serviceAccount.tokens': canary, kept: 'yes' },
      somethingNew: canary,
    });
    assert.deepEqual(shown, {
      volumeId: 'v',
      volumeCapability: { mount: { fsType: 'x', mountFlags: ['ro', 'password=***stripped***'] } },
      volumeContext: { 'csi.storage.k8s.io/serviceAccount.tokens': '***stripped***', kept: 'yes' },
      somethingNew: '***stripped***',
    });
  });
});
