import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MANIFEST_RULES } from './manifest-rules.ts';

/** How many there are of each letter, and which of them only warn. */
const TABLE: readonly (readonly [letter: string, count: number, warnings: readonly number[]])[] = [
  ['W', 35, [10, 13, 28, 30, 32, 33, 35]],
  ['B', 11, [11]],
  ['I', 3, [3]],
  ['T', 6, [5]],
  ['R', 2, [2]],
  ['P', 1, []],
  ['M', 3, [3]],
];

describe('MANIFEST_RULES', () => {
  it('operator/CCM-W01: are those of the table, in its order and with its severities', () => {
    const want = TABLE.flatMap(([letter, count, warnings]) =>
      Array.from({ length: count }, (_, index) => {
        const severity = warnings.includes(index + 1) ? 'warning' : 'error';
        return `CCM-${letter}${String(index + 1).padStart(2, '0')} ${severity}`;
      }),
    );
    assert.deepEqual(
      MANIFEST_RULES.map(({ id, severity }) => `${id} ${severity}`),
      want,
    );
  });

  it('operator/CCM-W07: say what they are about, why, how to fix it, and where they only warn', () => {
    for (const { id, title, why, fix, appliesTo } of MANIFEST_RULES) {
      for (const text of [title, why, fix]) assert.match(text, /^\S[^]*[^.\s]$/, id);
      assert.notEqual(appliesTo, '', id);
    }
    assert.deepEqual(
      MANIFEST_RULES.flatMap(({ id, severityNote }) =>
        severityNote === undefined ? [] : [`${id} ${severityNote}`],
      ),
      [
        'CCM-W03 warning for init containers',
        'CCM-W06 warning when it is preferred only',
        'CCM-W07 warning for static Pods',
        'CCM-W08 warning for static Pods',
      ],
    );
  });
});
