import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BOAT, boat, type LogEntry, recordedLog } from '../../../test/support/cache-world.ts';
import { objectForm, objectProblem } from './object-form.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const full = () =>
  boat('a', {
    version: 1,
    more: { spec: { sails: [{ color: 'red' }] } },
    meta: { annotations: { [LAST_APPLIED]: '{}', keep: 'yes' }, managedFields: [{ manager: 'kubectl' }] },
  });
const log = recordedLog([]);

describe('form of cached objects', () => {
  it('runtime/I11: leaves managed fields and the last applied configuration out', () => {
    const { metadata } = objectForm({ kind: BOAT, log })(full());
    assert.deepEqual(metadata.annotations, { keep: 'yes' });
    assert.equal('managedFields' in metadata, false);
  });

  it('runtime/I11: keeps them when told so', () => {
    const { metadata } = objectForm({ kind: BOAT, keepManagedFields: true, log })(full());
    assert.equal(metadata.annotations?.[LAST_APPLIED], '{}');
    assert.equal(metadata.managedFields?.length, 1);
  });

  it('reliability/P25: is frozen at every depth, so that writing throws (sample case 11)', () => {
    const object = objectForm({ kind: BOAT, log })(full());
    const { spec } = object as unknown as { spec: { sails: { color: string }[] } };
    assert.throws(() => Object.assign(object.metadata, { name: 'b' }), TypeError);
    assert.throws(() => Object.assign(spec.sails[0] ?? {}, { color: 'blue' }), TypeError);
    assert.throws(() => spec.sails.push({ color: 'blue' }), TypeError);
  });

  it('runtime/I14: keeps only metadata when told so', () => {
    const object = objectForm({ kind: BOAT, metadataOnly: true, log })(full());
    assert.deepEqual(Object.keys(object), ['apiVersion', 'kind', 'metadata']);
    assert.equal(object.kind, 'Boat');
  });

  it('runtime/I11: transforms before freezing; a transform that throws leaves the object and is logged', () => {
    const entries: LogEntry[] = [];
    const options = { kind: BOAT, log: recordedLog(entries) };
    const shorter = objectForm({
      ...options,
      transform: ({ metadata, ...rest }) => ({ metadata, apiVersion: rest.apiVersion, kind: rest.kind }),
    });
    assert.equal('spec' in shorter(full()), false);
    const broken = objectForm({
      ...options,
      transform: () => {
        throw new Error('bad day');
      },
    });
    const object = broken(full());
    assert.equal('spec' in object, true);
    assert.ok(Object.isFrozen(object));
    assert.deepEqual(
      entries.map(({ level, message }) => `${level}: ${message}`),
      ['error: transform failed: bad day'],
    );
  });

  it('gives items of lists their kind', () => {
    const { metadata } = boat('a', { version: 1 });
    const bare = { metadata } as unknown as ReturnType<typeof boat>;
    const { apiVersion, kind } = objectForm({ kind: BOAT, log })(bare);
    assert.deepEqual({ apiVersion, kind }, { apiVersion: 'example.com/v1', kind: 'Boat' });
  });

  it('keeps a key that is named __proto__ what it is', () => {
    const object = JSON.parse(
      `{"metadata":{"name":"a","resourceVersion":"1","managedFields":[],"annotations":{"${LAST_APPLIED}":"x","__proto__":"y"}},"data":{"__proto__":{"polluted":true}}}`,
    );
    const formed = objectForm({ kind: BOAT, log })(object);
    assert.equal(Object.hasOwn(formed.metadata.annotations ?? {}, '__proto__'), true);
    assert.equal('polluted' in {}, false);
    assert.ok(Object.isFrozen(Object.getOwnPropertyDescriptor(object.data, '__proto__')?.value));
  });

  it('names what is wrong with an object that cannot be kept', () => {
    const problems = [
      undefined,
      {},
      { metadata: { name: 1 } },
      { metadata: { name: 'a', resourceVersion: '' } },
      boat('a', { version: 1 }),
    ];
    assert.deepEqual(
      problems.map((object) => objectProblem(object, BOAT)),
      [
        'an object without metadata',
        'an object without metadata',
        'an object without a name',
        'a has no resourceVersion',
        undefined,
      ],
    );
    assert.equal(
      objectProblem({ ...boat('a', { version: 1 }), kind: 'Train' }, BOAT),
      'a is of kind "Train", not Boat',
    );
  });
});
