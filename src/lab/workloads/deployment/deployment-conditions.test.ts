import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, progressing } from '../../../../test/support/workload-objects.ts';
import { withCondition, withoutCondition } from './deployment-conditions.ts';

const available = { type: 'Available', status: 'True', reason: 'Yes', lastTransitionTime: ago(99) };
const before = progressing('True', 'Working', ago(60));

describe('conditions of a Deployment', () => {
  const cases = [
    { name: 'adds one that is not there', given: [available], want: [available, progressing('True', 'Working')] },
    { name: 'leaves one with the same status and reason', given: [before, available], want: [before, available] },
  ];
  for (const { name, given, want } of cases) {
    it(`lab/W13: ${name}`, () => {
      assert.deepEqual(withCondition(given, progressing('True', 'Working')), want);
    });
  }

  it('lab/W13: the very same list when nothing changes', () => {
    const given = [before];
    assert.equal(withCondition(given, { ...progressing('True', 'Working'), message: 'other words' }), given);
  });

  it('lab/W13: puts another reason at the end, since when the status holds', () => {
    const want = { ...progressing('True', 'Done'), lastTransitionTime: ago(60) };
    assert.deepEqual(withCondition([before, available], progressing('True', 'Done')), [available, want]);
  });

  it('lab/W13: another status holds since now', () => {
    const want = progressing('False', 'Working');
    assert.deepEqual(withCondition([before, available], want), [available, want]);
  });

  it('lab/W13: takes one away', () => {
    assert.deepEqual(withoutCondition([before, available], 'Progressing'), [available]);
    assert.deepEqual(withoutCondition([available], 'Progressing'), [available]);
  });
});
