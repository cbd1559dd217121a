import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtins, gadgets } from '../../../test/support/served-resources.ts';
import { Registry } from './registry.ts';
import { apiVersionOf } from './resource.ts';

const v1 = gadgets('v1', {});
const v2 = gadgets('v2', {});

describe('Registry', () => {
  it('finds resources by plural and by kind', () => {
    const registry = new Registry(builtins());
    assert.equal(registry.find('apps', 'v1', 'deployments')?.kind, 'Deployment');
    assert.equal(registry.findKind('apps', 'v1', 'Deployment')?.plural, 'deployments');
    assert.equal(registry.find('apps', 'v2', 'deployments'), undefined);
    assert.deepEqual([registry.isBuiltinGroup(''), registry.isBuiltinGroup('ex.io')], [true, false]);
  });

  it('serves, changes and forgets what a definition defines', () => {
    const registry = new Registry(builtins());
    const before = registry.all().length;
    registry.setCustom('gadgets', [v1, v2]);
    assert.deepEqual(registry.versionsOf(v1.prefix), [v1, v2]);
    assert.equal(registry.all().length, before + 2);
    registry.setCustom('gadgets', [v1]);
    assert.equal(registry.find(v2.group, 'v2', 'gadgets'), undefined);
    assert.equal(registry.findKind(v2.group, 'v2', 'Gadget'), undefined);
    registry.setCustom('gadgets', []);
    assert.equal(registry.find(v1.group, 'v1', 'gadgets'), undefined);
    assert.equal(registry.all().length, before);
  });

  it('tells listeners of every change, until they stop listening', () => {
    const registry = new Registry([]);
    const generations: number[] = [];
    const listening = registry.onChange(() => generations.push(registry.generation));
    registry.setCustom('gadgets', [v1]);
    registry.setCustom('gadgets', []);
    listening[Symbol.dispose]();
    registry.setCustom('gadgets', [v1]);
    assert.deepEqual(generations, [2, 3]);
    assert.equal(registry.generation, 4);
  });

  it('lists what is stored once, in the version and group it is stored in', () => {
    const registry = new Registry(builtins());
    registry.setCustom('gadgets', [v2, v1]);
    const stored = registry.stored().map((resource) => `${apiVersionOf(resource)} ${resource.plural}`);
    assert.equal(new Set(stored).size, stored.length);
    assert.ok(stored.includes('generated.slipway.dev/v1 gadgets'));
    assert.ok(stored.includes('v1 events'));
    assert.ok(!stored.includes('events.k8s.io/v1 events'));
    assert.ok(!stored.some((text) => text.includes('reviews')));
  });

  it('finds the form a resource is stored in, if that is served', () => {
    const registry = new Registry(builtins());
    registry.setCustom('gadgets', [v2]);
    assert.equal(registry.storageOf(v2), undefined);
    registry.setCustom('gadgets', [v1, v2]);
    assert.equal(registry.storageOf(v2), v1);
    const events = registry.find('events.k8s.io', 'v1', 'events') ?? assert.fail();
    assert.equal(registry.storageOf(events)?.group, '');
  });
});
