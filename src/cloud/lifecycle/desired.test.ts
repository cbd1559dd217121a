import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { machine } from '../../../test/support/cloud-nodes.ts';
import type { Node, Taint } from '../../api/generated/core-v1-types.ts';
import type { InstanceAnswer } from '../instances/instance-answer.ts';
import {
  type Absences,
  type Decision,
  type DeletionRules,
  isAskedFor,
  isSuspect,
  type Look,
  planPass,
} from './desired.ts';
import { SHUTDOWN_TAINT, taintsWhileOff, taintsWhileReady } from './shutdown-taint.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
const AT_ONCE: DeletionRules = { confirmations: 1, minAgeMs: 0 };
const GONE: InstanceAnswer = { state: 'absent', evidence: '404' };
const FAILED: InstanceAnswer = { state: 'failed', error: new Error('down') };
const FOREIGN: InstanceAnswer = { state: 'unmanaged' };
const OTHER: Taint = { key: 'example.com/mine', value: 'x', effect: 'NoExecute' };

interface NodeOptions {
  readonly ready?: string;
  readonly taints?: readonly Taint[];
  readonly ageMs?: number;
  readonly isLeaving?: boolean;
}

const node = (
  name: string,
  { ready, taints = [], ageMs = 3_600_000, isLeaving = false }: NodeOptions = {},
): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    uid: `uid-${name}`,
    creationTimestamp: new Date(NOW.getTime() - ageMs).toISOString(),
    ...(isLeaving && { deletionTimestamp: NOW.toISOString() }),
  },
  spec: { taints },
  status: { conditions: ready === undefined ? [] : [{ type: 'Ready', status: ready }] },
});

const look = (name: string, answer: InstanceAnswer, options: NodeOptions = { ready: 'Unknown' }): Look => ({
  node: node(name, options),
  answer,
});

const textOf = (decision: Decision): string => {
  if (decision.type === 'delete') return `delete: ${decision.evidence}`;
  return decision.type === 'holdBack' ? decision.why : decision.type;
};

/** Passes one after the other; what each of them decides. */
function played(passes: readonly (readonly Look[])[], rules = AT_ONCE): readonly (readonly string[])[] {
  let absences: Absences = new Map();
  return passes.map((looks) => {
    const plan = planPass(looks, absences, rules, NOW);
    absences = plan.absences;
    return plan.decided.map(({ decision }) => textOf(decision));
  });
}

interface Row {
  readonly what: string;
  readonly options: NodeOptions;
  /** Absent: it is not asked for. */
  readonly answer?: InstanceAnswer;
  readonly want: string;
}

const ROWS: readonly Row[] = [
  { what: 'ccm/L3: a ready node', options: { ready: 'True' }, want: 'nothing' },
  {
    what: 'ccm/L3, ccm/C12: a ready node that was off',
    options: { ready: 'True', taints: [OTHER, SHUTDOWN_TAINT] },
    want: 'removeShutdownTaint',
  },
  {
    what: 'ccm/L3: a ready node with a taint of the same key and another effect',
    options: { ready: 'True', taints: [{ ...SHUTDOWN_TAINT, effect: 'NoExecute' }] },
    want: 'nothing',
  },
  {
    what: 'ccm/L5, ccm/C11: a lost node without a machine',
    options: { ready: 'Unknown' },
    answer: GONE,
    want: 'delete: 404',
  },
  {
    what: 'ccm/L5: a node that is not ready without a machine',
    options: { ready: 'False' },
    answer: GONE,
    want: 'delete: 404',
  },
  { what: 'ccm/L2: a node that said nothing counts as lost', options: {}, answer: GONE, want: 'delete: 404' },
  {
    what: 'ccm/L9: an uninitialised node without a machine',
    options: {
      taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
    },
    answer: GONE,
    want: 'delete: 404',
  },
  { what: 'ccm/L4: nobody knows', options: { ready: 'Unknown' }, answer: FAILED, want: 'nothing' },
  { what: 'ccm/L4: a machine of somebody else', options: { ready: 'Unknown' }, answer: FOREIGN, want: 'nothing' },
  {
    what: 'ccm/L6, ccm/C12: a machine that is off',
    options: { ready: 'False' },
    answer: machine('off'),
    want: 'addShutdownTaint',
  },
  {
    what: 'ccm/L6: a machine that is off and tainted',
    options: { ready: 'False', taints: [SHUTDOWN_TAINT] },
    answer: machine('off'),
    want: 'nothing',
  },
  {
    what: 'ccm/L6: a taint in another form',
    options: { ready: 'False', taints: [{ ...SHUTDOWN_TAINT, value: 'yes' }] },
    answer: machine('off'),
    want: 'addShutdownTaint',
  },
  {
    what: 'ccm/L6: a machine that is on keeps the taint until the node is ready',
    options: { ready: 'False', taints: [SHUTDOWN_TAINT] },
    answer: machine('on'),
    want: 'nothing',
  },
  {
    what: 'ccm/L8: a cloud that cannot tell the power',
    options: { ready: 'False' },
    answer: machine('unknown'),
    want: 'nothing',
  },
  { what: 'a node that is being deleted', options: { ready: 'Unknown', isLeaving: true }, want: 'nothing' },
];

/** Without it the whole cluster is dark. */
const READY: Look = { node: node('up', { ready: 'True' }) };

describe('planPass', () => {
  for (const { what, options, answer, want } of ROWS) {
    it(`${what} → ${want}`, () => {
      const one = node('n', options);
      assert.equal(isAskedFor(one), answer !== undefined);
      assert.deepEqual(played([[answer === undefined ? { node: one } : { node: one, answer }]]), [[want]]);
    });
  }

  it('ccm/B2: wants as many answers in a row as it is told, and an error ends the row', () => {
    const rules = { confirmations: 3, minAgeMs: 0 };
    const answers = [GONE, GONE, FAILED, GONE, machine(), GONE, GONE, GONE];
    const passes = answers.map((answer) => [look('n', answer)]);
    const held = 'unconfirmed';
    assert.equal(
      played(passes, rules).flat().join(),
      [held, held, 'nothing', held, 'nothing', held, held, 'delete: 404'].join(),
    );
  });

  it('ccm/B2: counts anew for another node of the same name, and for one that was ready meanwhile', () => {
    const rules = { confirmations: 2, minAgeMs: 0 };
    const first = look('n', GONE);
    const other = { ...first, node: { ...first.node, metadata: { ...first.node.metadata, uid: 'other' } } };
    const ready = { node: node('n', { ready: 'True' }) };
    assert.deepEqual(played([[first], [other], [other]], rules).flat(), [
      'unconfirmed',
      'unconfirmed',
      'delete: 404',
    ]);
    assert.deepEqual(played([[first], [ready], [first]], rules).flat(), ['unconfirmed', 'nothing', 'unconfirmed']);
  });

  it('ccm/B2: leaves young nodes alone, and those of unknown age', () => {
    const rules = { confirmations: 1, minAgeMs: 60_000 };
    const aged = (ageMs: number) => [look('n', GONE, { ready: 'Unknown', ageMs })];
    assert.deepEqual(played([aged(59_999), aged(60_000)], rules).flat(), ['young', 'delete: 404']);
    const { node: known } = look('n', GONE);
    const ageless = { ...known, metadata: { ...known.metadata, creationTimestamp: null } };
    assert.deepEqual(played([[{ node: ageless, answer: GONE }]], rules).flat(), ['young']);
  });
});

describe('planPass with a cloud that knows nothing', () => {
  const all = (answer: InstanceAnswer, ...names: readonly string[]) => names.map((name) => look(name, answer));

  it('ccm/B2: is suspicious when none of several machines is known, however the cloud says so', () => {
    const rows: readonly (readonly [readonly InstanceAnswer[], boolean])[] = [
      [[], false],
      [[GONE], false],
      [[GONE, FOREIGN], false],
      [[GONE, GONE], true],
      [[GONE, FAILED], true],
      [[GONE, FOREIGN, GONE], true],
      [[GONE, GONE, machine('off')], false],
      [[FAILED, FAILED], false],
    ];
    for (const [answers, want] of rows) assert.equal(isSuspect(answers), want, JSON.stringify(answers));
  });

  it('ccm/B2: asks twice more, and then takes one node per pass', () => {
    const passes = Array.from({ length: 4 }, () => [READY, ...all(GONE, 'a', 'b', 'c')]);
    assert.deepEqual(played(passes), [
      ['nothing', 'suspected', 'suspected', 'suspected'],
      ['nothing', 'suspected', 'suspected', 'suspected'],
      ['nothing', 'delete: 404', 'suspected', 'suspected'],
      ['nothing', 'suspected', 'delete: 404', 'suspected'],
    ]);
  });

  it('ccm/B2: never believes that a whole cluster is gone, however often it is told', () => {
    const passes = Array.from({ length: 20 }, () => all(GONE, 'a', 'b', 'c'));
    const [first, ...later] = played(passes);
    assert.deepEqual(first, ['suspected', 'suspected', 'suspected']);
    assert.deepEqual(new Set(later.flat()), new Set(['suspected']));
  });

  it('ccm/B2: ends when all machines are gone of which the cluster has lost sight', () => {
    let left = ['a', 'b', 'c'];
    let absences: Absences = new Map();
    const perPass: number[] = [];
    while (left.length > 0 && perPass.length < 10) {
      const plan = planPass([READY, ...all(GONE, ...left)], absences, AT_ONCE, NOW);
      absences = plan.absences;
      const deleted = plan.decided
        .filter(({ decision }) => decision.type === 'delete')
        .map(({ node: one }) => one);
      left = left.filter((name) => !deleted.some(({ metadata }) => metadata.name === name));
      perPass.push(deleted.length);
    }
    assert.deepEqual(perPass, [0, 0, 1, 1, 1]);
  });

  it('ccm/B2: nodes stay in doubt after the others are back, until the cloud has agreed twice', () => {
    const mixed = [look('a', GONE), look('b', GONE), look('c', machine())];
    assert.deepEqual(played([all(GONE, 'a', 'b', 'c'), mixed, mixed]), [
      ['suspected', 'suspected', 'suspected'],
      ['suspected', 'suspected', 'nothing'],
      ['delete: 404', 'delete: 404', 'nothing'],
    ]);
    const alone = [look('a', GONE)];
    assert.deepEqual(played([all(GONE, 'a', 'b'), alone, alone]).slice(1), [['suspected'], ['delete: 404']]);
  });

  it('ccm/B2: an error among the answers begins the agreement anew, a machine that is there ends the doubt', () => {
    const lost = [READY, ...all(GONE, 'a', 'b')];
    const down = [READY, ...all(FAILED, 'a', 'b')];
    const back = [READY, ...all(machine(), 'a', 'b')];
    const texts = played([lost, lost, down, lost, lost]);
    assert.deepEqual(texts.at(-2), ['nothing', 'suspected', 'suspected']);
    assert.deepEqual(texts.at(-1), ['nothing', 'delete: 404', 'suspected']);
    assert.deepEqual(played([lost, back, lost]).at(-1), ['nothing', 'suspected', 'suspected']);
  });

  it('ccm/B2: after a restart nothing is remembered, so nothing is deleted earlier', () => {
    const lost = [READY, ...all(GONE, 'a', 'b')];
    let absences: Absences = new Map();
    for (let pass = 0; pass < 2; pass++) absences = planPass(lost, absences, AT_ONCE, NOW).absences;
    const deletions = (memory: Absences) =>
      planPass(lost, memory, AT_ONCE, NOW).decided.filter(({ decision }) => decision.type === 'delete').length;
    assert.deepEqual([deletions(absences), deletions(new Map())], [1, 0]);
  });

  it('ccm/B2, ccm/L4: whatever the cloud says, errors delete nothing, and no pass without a known machine deletes two', () => {
    const answer = fc.constantFrom(GONE, FAILED, FOREIGN, machine('on'), machine('off'));
    const pass = fc.tuple(answer, answer, answer, answer);
    fc.assert(
      fc.property(
        fc.array(pass, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 3 }),
        (answers, confirmations) => {
          const passes = answers.map((list) => list.map((one, at) => look(`n${at}`, one)));
          const texts = played(passes, { confirmations, minAgeMs: 0 });
          for (const [at, list] of answers.entries()) {
            const deleted = list.filter((_, index) => texts[at]?.[index]?.startsWith('delete') === true);
            assert.ok(deleted.every((one) => one === GONE));
            const others = list.filter(({ state }) => state !== 'unmanaged');
            if (others.length > 1 && !others.some(({ state }) => state === 'present'))
              assert.ok(deleted.length <= 1);
          }
        },
      ),
    );
  });
});

describe('the shutdown taint', () => {
  it('ccm/L6: is added last, and takes the place of one with a value', () => {
    const withTaints = (...taints: readonly Taint[]) => node('n', { ready: 'False', taints });
    const old = { ...SHUTDOWN_TAINT, value: 'x', timeAdded: '2026-01-01T00:00:00Z' };
    assert.deepEqual(taintsWhileOff(withTaints(OTHER)), [OTHER, SHUTDOWN_TAINT]);
    assert.deepEqual(taintsWhileOff(withTaints(old, OTHER)), [SHUTDOWN_TAINT, OTHER]);
    assert.equal(taintsWhileOff(withTaints(OTHER, SHUTDOWN_TAINT)), undefined);
  });

  it('ccm/L7: is decided again for the node as it is now', () => {
    const back = node('n', { ready: 'True', taints: [OTHER] });
    const lost = node('n', { ready: 'False', taints: [OTHER, SHUTDOWN_TAINT] });
    assert.deepEqual([taintsWhileOff(back), taintsWhileReady(lost)], [undefined, undefined]);
    assert.deepEqual(taintsWhileReady(node('n', { ready: 'True', taints: [SHUTDOWN_TAINT, OTHER] })), [OTHER]);
  });
});
