import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Probe } from '../../../api/generated/core-v1-types.ts';
import {
  initialTrack,
  isFatal,
  nextTrack,
  type ProbeKind,
  type ProbeRule,
  type ProbeTrack,
  probeRule,
} from './probe-track.ts';

const ruleOf = (kind: ProbeKind, probe: Probe = {}): ProbeRule => {
  const rule = probeRule({ name: 'c', [`${kind}Probe`]: probe }, kind);
  assert.ok(rule !== undefined);
  return rule;
};

/** `s`uccess, `f`ailure, `w`arning. */
const RESULTS = { s: 'success', f: 'failure', w: 'warning' } as const;
type Letter = keyof typeof RESULTS;

const after = (rule: ProbeRule, letters: readonly Letter[]): ProbeTrack =>
  letters.reduce(
    (track, letter) => nextTrack(track, rule, { result: RESULTS[letter], message: '' }),
    initialTrack(rule.kind),
  );

const lettersIn = (text: string): readonly Letter[] =>
  text.split('').map((letter) => (letter === 's' ? 's' : letter === 'f' ? 'f' : 'w'));

describe('probeRule', () => {
  it('lab/N19: has the defaults of the API', () => {
    const { periodMs, timeoutMs, initialDelayMs, successThreshold, failureThreshold } = ruleOf('liveness');
    assert.deepEqual(
      [periodMs, timeoutMs, initialDelayMs, successThreshold, failureThreshold],
      [10_000, 1000, 0, 1, 3],
    );
  });

  it('lab/N19: takes what is set, and zero for not set', () => {
    const probe = { periodSeconds: 1, timeoutSeconds: 7, initialDelaySeconds: 30, failureThreshold: 0 };
    const { periodMs, timeoutMs, initialDelayMs, failureThreshold } = ruleOf('startup', probe);
    assert.deepEqual([periodMs, timeoutMs, initialDelayMs, failureThreshold], [1000, 7000, 30_000, 3]);
  });

  it('is not there when the container has no such probe', () => {
    assert.equal(probeRule({ name: 'c', livenessProbe: {} }, 'readiness'), undefined);
  });
});

interface Row {
  readonly kind: ProbeKind;
  readonly probe?: Probe;
  readonly outcomes: string;
  readonly result: ProbeTrack['result'];
  readonly isOver?: boolean;
}

const ROWS: readonly Row[] = [
  { kind: 'readiness', outcomes: '', result: 'failure' },
  { kind: 'liveness', outcomes: '', result: 'success' },
  { kind: 'startup', outcomes: '', result: 'unknown' },
  { kind: 'readiness', outcomes: 's', result: 'success' },
  { kind: 'readiness', outcomes: 'w', result: 'success' },
  { kind: 'readiness', outcomes: 'sff', result: 'success' },
  { kind: 'readiness', outcomes: 'sfff', result: 'failure' },
  { kind: 'readiness', outcomes: 'sffsff', result: 'success' },
  { kind: 'readiness', outcomes: 'sfffs', result: 'success' },
  { kind: 'readiness', outcomes: 'sfffff', result: 'failure' },
  { kind: 'readiness', probe: { successThreshold: 2 }, outcomes: 's', result: 'failure' },
  { kind: 'readiness', probe: { successThreshold: 2 }, outcomes: 'sfs', result: 'failure' },
  { kind: 'readiness', probe: { successThreshold: 2 }, outcomes: 'sw', result: 'success' },
  { kind: 'liveness', outcomes: 'ff', result: 'success' },
  { kind: 'liveness', outcomes: 'ffsff', result: 'success' },
  { kind: 'liveness', outcomes: 'fff', result: 'failure', isOver: true },
  { kind: 'liveness', probe: { failureThreshold: 1 }, outcomes: 'f', result: 'failure', isOver: true },
  { kind: 'startup', outcomes: 'ff', result: 'unknown' },
  { kind: 'startup', outcomes: 'ffs', result: 'success', isOver: true },
  { kind: 'startup', outcomes: 'fff', result: 'failure', isOver: true },
];

describe('nextTrack', () => {
  for (const { kind, probe, outcomes, result, isOver = false } of ROWS) {
    const thresholds = probe === undefined ? '' : ` with ${JSON.stringify(probe)}`;
    const rule = outcomes === '' ? 'N19' : 'N20';
    it(`lab/${rule}: ${kind}${thresholds} is ${result} after "${outcomes}"${isOver ? ', for good' : ''}`, () => {
      const track = after(ruleOf(kind, probe), lettersIn(outcomes));
      assert.deepEqual([track.result, track.isOver], [result, isOver]);
      assert.equal(isFatal(track), isOver && result === 'failure');
    });
  }

  it('lab/N20: the result changes only after as many equal outcomes as the threshold says', () => {
    const letters = fc.array(fc.constantFrom<Letter>('s', 'f', 'w'), { maxLength: 30 });
    fc.assert(
      fc.property(
        letters,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 4 }),
        (all, success, failure) => {
          const rule = ruleOf('readiness', { successThreshold: success, failureThreshold: failure });
          const [before, now] = [after(rule, all.slice(0, -1)), after(rule, all)];
          if (all.length === 0 || before.result === now.result) return;
          const threshold = now.result === 'success' ? success : failure;
          const isEqual = all.slice(-threshold).every((letter) => (letter === 'f') === (now.result === 'failure'));
          assert.ok(all.length >= threshold && isEqual);
        },
      ),
    );
  });
});
