import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Container, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { containerActions } from './container-actions.ts';
import type { ContainerSeen, ContainersSeen, EndedRun, GoingRun } from './container-seen.ts';

const going = (more: Partial<GoingRun> = {}): ContainerSeen => ({
  restartCount: 0,
  isBusy: false,
  run: {
    kind: 'going',
    id: 'x',
    image: '',
    startedAt: new Date(0),
    isStarted: true,
    isReady: true,
    ...more,
  },
});
const ended = (exitCode: number, more: Partial<EndedRun> = {}): ContainerSeen => ({
  restartCount: 0,
  isBusy: false,
  run: { kind: 'ended', exitCode, reason: 'x', ...more },
});
const BUSY: ContainerSeen = { restartCount: 0, isBusy: true };

const sidecar = (name: string): Container => ({ name, restartPolicy: 'Always' });
const spec = (names: string, more: Partial<PodSpec> = {}): PodSpec => ({
  containers: names.split(' ').map((name) => ({ name })),
  ...more,
});

interface Row {
  readonly name: string;
  readonly spec: PodSpec;
  readonly seen?: ContainersSeen;
  readonly start?: string;
  readonly replace?: readonly string[];
  readonly isOver?: boolean;
}

const TWO_INIT = spec('a b', { initContainers: [{ name: 'i' }, { name: 'j' }] });
const WITH_SIDECARS = spec('a', { initContainers: [sidecar('s'), { name: 'i' }, sidecar('t')] });

const ROWS: readonly Row[] = [
  { name: 'N10: regular containers start together', spec: spec('a b c'), start: 'a b c' },
  { name: 'N10: nothing is started twice', spec: spec('a b'), seen: { a: going(), b: BUSY }, start: '' },
  { name: 'N10: the first init container starts alone', spec: TWO_INIT, start: 'i' },
  { name: 'N10: the second one waits for the first', spec: TWO_INIT, seen: { i: going() }, start: '' },
  { name: 'N10: the second one follows success', spec: TWO_INIT, seen: { i: ended(0) }, start: 'j' },
  {
    name: 'N10: regular containers follow the last init container',
    spec: TWO_INIT,
    seen: { i: ended(0), j: ended(0) },
    start: 'a b',
  },
  { name: 'N10: a failed init container runs again', spec: TWO_INIT, seen: { i: ended(1) }, start: 'i' },
  {
    name: 'N10: a failed init container ends a pod with policy Never',
    spec: { ...TWO_INIT, restartPolicy: 'Never' },
    seen: { i: ended(1) },
    isOver: true,
  },
  { name: 'N10: a sidecar starts at its turn', spec: WITH_SIDECARS, start: 's' },
  {
    name: 'N10: nothing follows a sidecar that has not started',
    spec: WITH_SIDECARS,
    seen: { s: going({ isStarted: false }) },
    start: '',
  },
  { name: 'N10: the next one follows a sidecar that has', spec: WITH_SIDECARS, seen: { s: going() }, start: 'i' },
  {
    name: 'N10: a sidecar that died comes back before anything else begins',
    spec: WITH_SIDECARS,
    seen: { s: ended(1), i: ended(0) },
    start: 's',
  },
  {
    name: 'N10: regular containers follow the last sidecar',
    spec: WITH_SIDECARS,
    seen: { s: going(), i: ended(0), t: going() },
    start: 'a',
  },
  {
    name: 'N10: a sidecar comes back beside regular containers, whatever the policy of the pod',
    spec: { ...WITH_SIDECARS, restartPolicy: 'Never' },
    seen: { s: ended(0), i: ended(0), t: going(), a: going() },
    start: 's',
  },
  {
    name: 'N10: sidecars keep no pod alive',
    spec: { ...WITH_SIDECARS, restartPolicy: 'OnFailure' },
    seen: { s: ended(1), i: ended(0), t: going(), a: ended(0) },
    isOver: true,
  },
  { name: 'Always runs again after success', spec: spec('a'), seen: { a: ended(0) }, start: 'a' },
  {
    name: 'OnFailure runs again after failure only',
    spec: spec('a b', { restartPolicy: 'OnFailure' }),
    seen: { a: ended(0), b: ended(1) },
    start: 'b',
  },
  {
    name: 'Never does not run again',
    spec: spec('a b', { restartPolicy: 'Never' }),
    seen: { a: ended(0), b: ended(1) },
    isOver: true,
  },
  {
    name: 'one that goes on keeps the pod',
    spec: spec('a b', { restartPolicy: 'Never' }),
    seen: { a: ended(0), b: going() },
    start: '',
  },
  {
    name: 'N17: another image replaces a container',
    spec: spec('', {
      containers: [
        { name: 'a', image: 'two' },
        { name: 'b', image: 'one' },
      ],
    }),
    seen: { a: going({ image: 'one' }), b: going({ image: 'one' }) },
    start: '',
    replace: ['Container a definition changed, will be restarted'],
  },
  {
    name: 'N17: one that is being stopped already is left alone',
    spec: spec('', { containers: [{ name: 'a', image: 'two' }] }),
    seen: { a: { ...going({ image: 'one' }), isBusy: true } },
    start: '',
  },
  {
    name: 'N17: what was replaced runs again whatever the policy says',
    spec: spec('a', { restartPolicy: 'Never' }),
    seen: { a: ended(143, { isReplaced: true }) },
    start: 'a',
  },
  {
    name: 'N18: init containers run again after a restart of the lab',
    spec: TWO_INIT,
    seen: { i: { restartCount: 0, isBusy: false }, a: ended(137, { isEarlier: true }) },
    start: 'i',
  },
  {
    name: 'N18: init containers do not run for a pod that had ended',
    spec: { ...TWO_INIT, restartPolicy: 'Never' },
    seen: { a: ended(0, { isEarlier: true }), b: ended(137, { isEarlier: true }) },
    isOver: true,
  },
];

type Seen = ContainerSeen | undefined;
const isStill = (one: Seen): boolean => one?.isBusy !== true && one?.run?.kind !== 'going';
const isDone = (one: Seen): boolean => one?.run?.kind === 'ended' && one.run.exitCode === 0;
const isStarted = (one: Seen): boolean => one?.run?.kind === 'going' && one.run.isStarted;

describe('containerActions', () => {
  for (const { name, spec: wanted, seen = {}, start = '', replace = [], isOver = false } of ROWS) {
    it(name.startsWith('N') ? `lab/${name}` : name, () => {
      const actions = containerActions(wanted, seen);
      assert.equal(actions.start.map((one) => one.name).join(' '), start);
      assert.deepEqual(
        actions.replace.map(({ message }) => message),
        replace,
      );
      assert.equal(actions.isOver, isOver);
    });
  }

  it('lab/N10: never starts what runs, and never a regular container before all init containers are done', () => {
    const state = fc.constantFrom<ContainerSeen | undefined>(
      undefined,
      BUSY,
      going(),
      going({ isStarted: false }),
      ended(0),
      ended(1),
    );
    const policy = fc.constantFrom('Always', 'OnFailure', 'Never');
    fc.assert(
      fc.property(state, state, state, policy, (i, s, a, restartPolicy) => {
        const wanted = spec('a', { restartPolicy, initContainers: [{ name: 'i' }, sidecar('s')] });
        const seen = Object.fromEntries(Object.entries({ i, s, a }).filter(([, one]) => one !== undefined));
        const starts = containerActions(wanted, seen as ContainersSeen).start.map(({ name }) => name);
        for (const name of starts) assert.ok(isStill({ i, s, a }[name]), name);
        if (a?.run === undefined && starts.includes('a')) assert.ok(isDone(i) && isStarted(s));
      }),
    );
  });
});
