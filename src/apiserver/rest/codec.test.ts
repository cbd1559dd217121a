import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtinResources, completeResource } from '../builtin-data/builtin-resources.ts';
import { Registry } from '../registry/registry.ts';
import type { Entry } from '../store/store.ts';
import { Codec } from './codec.ts';

const COLUMNS = { definitions: [], cells: () => [] };
const STRATEGY = { tracksGeneration: false, allowsUnconditionalUpdate: true };
const resources = builtinResources().map((builtin) => completeResource(builtin, STRATEGY, COLUMNS));
const registry = new Registry(resources);

function configMaps() {
  const found = registry.find('', 'v1', 'configmaps');
  assert.ok(found);
  return found;
}

const entryOf = (number: number): Entry => ({
  key: `/registry/core/configmaps/n/c${number}`,
  revision: number,
  createRevision: number,
  bytes: Buffer.from(`{"metadata":{"name":"c${number}","labels":{"odd":"${number % 2}"}}}`),
});

describe('Codec', () => {
  const codec = new Codec(registry, { convert: (objects) => objects });

  it('apiserver/I3: parses an object once, as long as it is in use, and keeps no more than 2,000 of them', () => {
    const resource = configMaps();
    const first = entryOf(1);
    const parsed = codec.stored(first, resource);
    assert.equal(codec.stored(first, resource), parsed);
    for (let number = 2; number <= 2001; number++) codec.stored(entryOf(number), resource);
    assert.notEqual(codec.stored(first, resource), parsed);
    assert.deepEqual(codec.stored(first, resource), parsed);
  });

  it('apiserver/I2: hands out the stored bytes with kind and apiVersion in front', () => {
    const resource = configMaps();
    const entry = entryOf(7);
    const body = codec.body(entry, resource);
    assert.ok(Array.isArray(body));
    const text = Buffer.concat(body).toString('utf8');
    assert.equal(text, '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c7","labels":{"odd":"1"}}}');
    assert.equal(codec.item(entry, resource), entry.bytes);
  });

  it('gives labels without a second look at the object', () => {
    const resource = configMaps();
    const entry = entryOf(9);
    assert.deepEqual(codec.labels(entry, resource), { odd: '1' });
    assert.equal(codec.labels(entry, resource), codec.labels(entry, resource));
  });
});
