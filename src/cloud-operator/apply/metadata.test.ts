import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMeta, OwnerReference } from '../../api/object.ts';
import { cleanedMetadata, mergedMetadata } from './metadata.ts';

type Part = Partial<ObjectMeta>;

const owner = (edit: Partial<OwnerReference> = {}): OwnerReference => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  name: 'one',
  uid: 'u1',
  ...edit,
});

interface Row {
  readonly name: string;
  readonly existing: Part;
  readonly required: Part;
  /** Absent: unmodified. */
  readonly want?: Part;
}

const TABLE: readonly Row[] = [
  { name: 'keeps labels of others', existing: { labels: { a: '1', x: 'y' } }, required: { labels: { a: '1' } } },
  {
    name: 'adds and replaces labels',
    existing: { labels: { a: '0', x: 'y' } },
    required: { labels: { a: '1', b: '2' } },
    want: { labels: { a: '1', x: 'y', b: '2' } },
  },
  {
    name: 'makes labels where there are none',
    existing: {},
    required: { labels: { a: '1' } },
    want: { labels: { a: '1' } },
  },
  {
    name: 'removes by a dash at the end',
    existing: { annotations: { a: '1', b: '2' } },
    required: { annotations: { 'a-': '' } },
    want: { annotations: { b: '2' } },
  },
  {
    name: 'has nothing to remove',
    existing: { annotations: { b: '2' } },
    required: { annotations: { 'a-': '' } },
  },
  {
    name: 'takes keys of any name',
    existing: {},
    required: { annotations: Object.fromEntries([['__proto__', 'x']]) },
    want: { annotations: Object.fromEntries([['__proto__', 'x']]) },
  },
  { name: 'needs nothing', existing: { labels: { x: 'y' } }, required: {} },
  {
    name: 'adds an owner',
    existing: {},
    required: { ownerReferences: [owner()] },
    want: { ownerReferences: [owner()] },
  },
  { name: 'has the owner', existing: { ownerReferences: [owner()] }, required: { ownerReferences: [owner()] } },
  {
    name: 'brings an owner up to date, whatever its version',
    existing: { ownerReferences: [owner({ apiVersion: 'example.com/v1beta1' }), owner({ name: 'two' })] },
    required: { ownerReferences: [owner({ uid: 'u2' })] },
    want: { ownerReferences: [owner({ uid: 'u2' }), owner({ name: 'two' })] },
  },
  {
    name: 'takes an owner of another group for another one',
    existing: { ownerReferences: [owner({ apiVersion: 'v1' })] },
    required: { ownerReferences: [owner()] },
    want: { ownerReferences: [owner({ apiVersion: 'v1' }), owner()] },
  },
  {
    name: 'removes an owner by a dash at the end of its uid',
    existing: { ownerReferences: [owner(), owner({ name: 'two' })] },
    required: { ownerReferences: [owner({ uid: 'u1-' })] },
    want: { ownerReferences: [owner({ name: 'two' })] },
  },
  { name: 'has no owner to remove', existing: {}, required: { ownerReferences: [owner({ uid: 'u1-' })] } },
];

describe('mergedMetadata', () => {
  for (const { name, existing, required, want } of TABLE) {
    it(`operator/R41: ${name}`, () => {
      const before = { name: 'x', resourceVersion: '7', finalizers: ['a/b'], ...existing };
      const { metadata, isModified } = mergedMetadata(before, { name: 'x', ...required });
      assert.equal(isModified, want !== undefined);
      assert.deepEqual(metadata, { ...before, ...want });
      const again = mergedMetadata(metadata, { name: 'x', ...required });
      assert.equal(again.isModified, false, 'twice is as good as once');
    });
  }
});

describe('cleanedMetadata', () => {
  it('leaves out what is only there to take something away', () => {
    const required = {
      name: 'x',
      labels: { a: '1', 'b-': '' },
      annotations: { 'c-': '' },
      ownerReferences: [owner({ uid: 'u1-' }), owner({ name: 'two' })],
    };
    const want = { name: 'x', labels: { a: '1' }, annotations: {}, ownerReferences: [owner({ name: 'two' })] };
    assert.deepEqual(cleanedMetadata(required), want);
    assert.deepEqual(cleanedMetadata({ name: 'x' }), { name: 'x' });
  });
});
