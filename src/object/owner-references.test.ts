import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../api/object.ts';
import { childName, nameHash } from './name-hash.ts';
import { dnsLabelProblems } from './names.ts';
import {
  controllerReferenceOf,
  hasControllerReference,
  isControlledBy,
  ownedBy,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-references.ts';

const object = (name: string, namespace?: string, more: object = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Widget',
  metadata: { name, ...(namespace !== undefined && { namespace }), ...more },
});
const owner = object('o', 'a', { uid: 'u1' });
const child = object('c', 'a');

describe('owner references', () => {
  it('runtime/H1: name the controller with apiVersion, kind, name and uid, and block its deletion', () => {
    const owned = setControllerReference(owner, child);
    const reference = {
      apiVersion: 'apps/v1',
      kind: 'Widget',
      name: 'o',
      uid: 'u1',
      controller: true,
      blockOwnerDeletion: true,
    };
    assert.deepEqual(owned.metadata.ownerReferences, [reference]);
    assert.deepEqual(ownedBy(owner), { ownerReferences: [reference] });
    assert.equal(child.metadata.ownerReferences, undefined);
    assert.ok(hasControllerReference(owned) && isControlledBy(owned, owner) && !hasControllerReference(child));
    assert.ok(!isControlledBy(owned, object('o', 'a', { uid: 'u2' })) && !isControlledBy(owned, child));
    const kind = { group: 'apps', version: 'v2', kind: 'Gadget' };
    assert.equal(ownedBy(owner, kind).ownerReferences[0]?.apiVersion, 'apps/v2');
  });

  it('runtime/H1: bring a reference to the same owner up to date', () => {
    const owned = setControllerReference(owner, child);
    const again = { ...object('o', 'a', { uid: 'u2' }), apiVersion: 'apps/v2' };
    const { ownerReferences = [] } = setControllerReference(again, owned).metadata;
    assert.deepEqual(
      ownerReferences.map(({ uid, apiVersion }) => [uid, apiVersion]),
      [['u2', 'apps/v2']],
    );
  });

  it('runtime/H1: refuse a second controller, an owner elsewhere, and one that was never stored', () => {
    const owned = setControllerReference(owner, child);
    const second = object('p', 'a', { uid: 'u2' });
    assert.throws(() => setControllerReference(second, owned), { reason: 'AlreadyOwned' });
    assert.throws(() => setControllerReference(owner, object('c', 'b')), {
      reason: 'CrossNamespaceOwner',
      message: /Widget a\/o cannot own Widget b\/c, which is in namespace b/,
    });
    assert.throws(() => setOwnerReference(owner, object('c')), {
      reason: 'CrossNamespaceOwner',
      message: /no namespace/,
    });
    assert.throws(() => setControllerReference(child, child), { reason: 'OwnerUnstored' });
    const cluster = object('o', undefined, { uid: 'u3' });
    assert.equal(controllerReferenceOf(setControllerReference(cluster, child))?.uid, 'u3');
  });

  it('runtime/H1: are added beside the controller, and removed', () => {
    const owned = setControllerReference(owner, child);
    const second = object('p', 'a', { uid: 'u2' });
    const both = setOwnerReference(second, owned, { blockOwnerDeletion: true });
    assert.deepEqual(both.metadata.ownerReferences?.[1], {
      apiVersion: 'apps/v1',
      kind: 'Widget',
      name: 'p',
      uid: 'u2',
      blockOwnerDeletion: true,
    });
    assert.equal(controllerReferenceOf(setOwnerReference(owner, both))?.controller, true);
    assert.equal(removeOwnerReference(second, both).metadata.ownerReferences?.length, 1);
    assert.deepEqual(removeOwnerReference(owner, owned), child);
    assert.equal(removeOwnerReference(second, child), child);
  });
});

describe('childName', () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,80}[a-z0-9])?$/);

  it('runtime/H6: fits into 63 characters, stays valid, and differs where the texts differ', () => {
    fc.assert(
      fc.property(label, label, fc.constantFrom('', 'x', 'metrics'), (a, b, suffix) => {
        const [one, two] = [childName(a, suffix), childName(b, suffix)];
        assert.deepEqual(dnsLabelProblems(one), []);
        assert.equal(one === two, a === b);
        assert.equal(childName(a, suffix), one);
      }),
      { numRuns: 100 },
    );
    const [x, y] = ['x', 'y'].map((end) => childName(`${'a'.repeat(80)}${end}`, 'svc'));
    assert.notEqual(x, y);
    assert.match(x ?? '', /^a+-[a-z0-9]{8}-svc$/);
    assert.equal(childName('base', 's'.repeat(70)).length, 63);
    assert.notEqual(nameHash('ab', 'c'), nameHash('a', 'bc'));
  });
});
