import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupOf, PRINTED, type PrintedRow, steady, textOf } from '../../../test/conformance/builtin-cases.ts';
import { recorded } from '../../../test/conformance/recording.ts';
import { columnsOf } from './columns.ts';

describe('columnsOf', () => {
  for (const { name, now, object, cells, conditions } of recorded<PrintedRow>(PRINTED)) {
    it(`apiserver/C6: prints the row upstream prints: ${name}`, () => {
      const columns = columnsOf(groupOf(object), textOf(object, 'kind'));
      assert.deepEqual(steady(columns.cells(object, new Date(now))), cells);
      assert.deepEqual(columns.rowConditions?.(object) ?? [], conditions);
    });
  }

  it('shows name and creation time of a kind it does not know', () => {
    const columns = columnsOf('ex.io', 'Thing');
    const object = { metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' } };
    assert.deepEqual(
      columns.definitions.map(({ name }) => name),
      ['Name', 'Created At'],
    );
    assert.deepEqual(columns.cells(object, new Date()), ['a', '2026-01-01T00:00:00Z']);
  });
});
