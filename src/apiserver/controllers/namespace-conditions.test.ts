import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deletionStatus, type Remains } from './namespace-conditions.ts';

const NOTHING: Remains = { resources: new Map(), finalizers: new Map(), problems: [] };
const EARLY = new Date('2026-01-01T00:00:00Z');
const LATE = new Date('2026-01-01T01:00:00Z');

const conditions = (status: unknown) =>
  (status as { conditions: { type: string; status: string; message: string; lastTransitionTime: string }[] })
    .conditions;

describe('conditions of a namespace that goes', () => {
  it('apiserver/G3: lists kinds and finalizers sorted, with their numbers', () => {
    const status = deletionStatus(
      {},
      {
        resources: new Map([
          ['pods.', 2],
          ['deployments.apps', 1],
        ]),
        finalizers: new Map([
          ['z/z', 1],
          ['a/a', 3],
        ]),
        problems: [],
      },
      EARLY,
    );
    assert.deepEqual(
      conditions(status)
        .filter((condition) => condition.status === 'True')
        .map(({ message }) => message),
      [
        'Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
        'Some content in the namespace has finalizers remaining: a/a in 3 resource instances, z/z in 1 resource instances',
      ],
    );
  });

  it('apiserver/G3: tells why content could not be deleted', () => {
    const status = deletionStatus({}, { ...NOTHING, problems: ['b is refused', 'a is refused'] }, EARLY);
    const failing = conditions(status).find((condition) => condition.status === 'True');
    assert.equal(failing?.type, 'NamespaceDeletionContentFailure');
    assert.equal(failing?.message, 'Failed to delete all resource types, 2 remaining: a is refused, b is refused');
  });

  it('says nothing new, and keeps the time of what did not change', () => {
    const first = deletionStatus({}, { ...NOTHING, resources: new Map([['pods.', 1]]) }, EARLY);
    assert.ok(first);
    assert.equal(deletionStatus(first, { ...NOTHING, resources: new Map([['pods.', 1]]) }, LATE), undefined);
    const second = deletionStatus(first, NOTHING, LATE);
    const changed = conditions(second).filter(({ lastTransitionTime }) => lastTransitionTime.includes('T01:'));
    assert.deepEqual(
      changed.map(({ type }) => type),
      ['NamespaceContentRemaining'],
    );
  });
});
