import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { check } from './torture/consistency/check.ts';
import type { Frame, History, List, Operation, Seen, View, Watch, Write } from './torture/consistency/history.ts';

const ALL: View = { collection: 'cm', namespace: '', selector: '' };
const ON: View = { ...ALL, selector: 'toggle=on' };

const seen = (key: string, revision: number, mark: string, toggle = 'on'): Seen => ({
  key,
  revision,
  uid: `uid of ${key}`,
  labels: { toggle },
  text: mark,
});
const frame = (type: string, object: Seen): Frame => ({
  type,
  revision: object.revision,
  code: 0,
  isInitialEnd: false,
  seen: object,
});
const bookmark = (revision: number, isInitialEnd = false): Frame => ({
  type: 'BOOKMARK',
  revision,
  code: 0,
  isInitialEnd,
});
const expiredFrame: Frame = { type: 'ERROR', revision: 0, code: 410, isInitialEnd: false };

// x comes, leaves the selection and goes; y comes in between.
const X1 = seen('a/x', 11, 'x1');
const X2 = seen('a/x', 12, 'x2', 'off');
const Y = seen('a/y', 13, 'y');
const X_GONE = { ...X2, revision: 14 };
const EVENTS = [frame('ADDED', X1), frame('MODIFIED', X2), frame('ADDED', Y), frame('DELETED', X_GONE)];
const SELECTED = [frame('ADDED', X1), frame('DELETED', { ...X1, revision: 12 }), frame('ADDED', Y)];

/** Each step of the story takes two units of time: asked at 2n, answered at 2n + 1. */
const at = (step: number) => ({ client: 'c', invokedAt: 2 * step, returnedAt: 2 * step + 1, status: 200 });
const write = (step: number, more: Partial<Write>): Write => ({
  kind: 'update',
  collection: 'cm',
  key: 'a/x',
  ...at(step),
  ...more,
});
const CREATE_X = write(1, { kind: 'create', status: 201, seen: X1 });
const UPDATE_X = write(2, { expected: { revision: 11 }, seen: X2 });
const CREATE_Y = write(3, { kind: 'create', key: 'a/y', status: 201, seen: Y });
const DELETE_X = write(5, { kind: 'delete', uid: X2.uid, expected: { uid: X2.uid } });
const WRITES = [CREATE_X, UPDATE_X, CREATE_Y, DELETE_X];

/** Read between the creation of y and the deletion of x. */
const list = (more: Partial<List> = {}): List => ({
  kind: 'list',
  ...at(4),
  view: ALL,
  resourceVersion: '',
  match: '',
  hasMore: false,
  revision: 13,
  items: [X2, Y],
  ...more,
});
const watch = (more: Partial<Watch> = {}): Watch => ({
  client: 'w',
  view: ALL,
  resourceVersion: '10',
  sendsInitial: false,
  openedAt: 0,
  frames: EVENTS,
  openUntil: 14,
  ...more,
});
const history = (more: Partial<History> = {}): History => ({
  operations: WRITES,
  watches: [],
  truth: new Map([['cm', EVENTS]]),
  compactions: [],
  forgetsByItself: false,
  baseRevision: 10,
  ...more,
});
const withOperations = (...operations: readonly Operation[]): History =>
  history({ operations: [...WRITES, ...operations] });
const withWatch = (more: Partial<Watch>): History => history({ watches: [watch(more)] });
const swapped = (frames: readonly Frame[], first: number): readonly Frame[] =>
  frames.map((own, index) => frames[index === first ? first + 1 : index === first + 1 ? first : index] ?? own);

const COMPACTION = { revision: 12, invokedAt: 6.2, returnedAt: 6.4 };

const GOOD: readonly { readonly name: string; readonly history: History }[] = [
  { name: 'writes alone', history: history() },
  {
    name: 'reads of every kind',
    history: withOperations(
      list(),
      list({ view: ON, items: [Y] }),
      list({ resourceVersion: '0', client: 'old', revision: 11, items: [X1] }),
      list({ resourceVersion: '12', match: 'NotOlderThan' }),
      list({ resourceVersion: '11', match: 'Exact', revision: 11, items: [X1] }),
      list({ chain: 'p', hasMore: true, items: [X2] }),
      list({ chain: 'p', items: [Y], returnedAt: 99, invokedAt: 98 }),
      { kind: 'get', ...at(4), collection: 'cm', key: 'a/x', seen: X2 },
      { kind: 'get', ...at(6), collection: 'cm', key: 'a/x', status: 404 },
    ),
  },
  {
    name: 'a read that overlaps a write sees either',
    history: withOperations(
      { kind: 'get', ...at(4), returnedAt: 11, collection: 'cm', key: 'a/x', status: 404 },
      { kind: 'get', ...at(4), returnedAt: 11, collection: 'cm', key: 'a/x', seen: X2 },
    ),
  },
  {
    name: 'watches of every kind',
    history: history({
      watches: [
        watch(),
        watch({ frames: [...EVENTS, bookmark(14)] }),
        watch({ resourceVersion: '12', frames: EVENTS.slice(2) }),
        watch({ view: ON, frames: SELECTED }),
        watch({ frames: EVENTS.slice(0, 2), openUntil: 0 }),
        watch({ resourceVersion: '', frames: [frame('ADDED', X2), frame('ADDED', Y), frame('DELETED', X_GONE)] }),
        watch({
          sendsInitial: true,
          resourceVersion: '12',
          frames: [frame('ADDED', X2), bookmark(12, true), ...EVENTS.slice(2)],
        }),
        watch({ resourceVersion: '0', frames: [frame('ADDED', X2), bookmark(12), ...EVENTS.slice(2)] }),
        watch({ resourceVersion: '99', frames: [], openUntil: 0 }),
      ],
    }),
  },
  {
    name: 'refusals with a cause',
    history: withOperations(
      write(2, { kind: 'create', status: 409 }),
      write(4, { status: 409, expected: { revision: 11 } }),
      write(6, { status: 404, expected: { revision: 12 } }),
      write(2, { kind: 'patch', status: 409 }),
    ),
  },
  {
    name: 'expiry after compaction',
    history: history({
      operations: [
        ...WRITES,
        list({ invokedAt: 20, returnedAt: 21, status: 410, resourceVersion: '11', match: 'Exact', revision: 11 }),
      ],
      watches: [watch({ resourceVersion: '11', openedAt: 20, frames: [expiredFrame], openUntil: 0 })],
      compactions: [COMPACTION],
    }),
  },
  {
    name: 'a write without an answer that happened',
    history: history({
      operations: [
        ...WRITES.slice(0, 2),
        { ...CREATE_Y, status: 0, returnedAt: Number.POSITIVE_INFINITY },
        DELETE_X,
      ],
    }),
  },
  {
    name: 'a deletion of everything',
    history: history({ operations: [...WRITES.slice(0, 3), { kind: 'deletecollection', ...at(5), view: ALL }] }),
  },
];

interface Bad {
  readonly rule: string;
  readonly name: string;
  readonly history: History;
}

const BAD: readonly Bad[] = [
  {
    rule: 'write-unique',
    name: 'two changes at one revision',
    history: history({
      truth: new Map([
        ['cm', EVENTS],
        ['other', [frame('ADDED', seen('a/z', 13, 'z'))]],
      ]),
    }),
  },
  {
    rule: 'write-unique',
    name: 'two acknowledgements of one revision',
    history: withOperations({ ...UPDATE_X, client: 'd' }),
  },
  {
    rule: 'write-lost',
    name: 'an acknowledged write that is not there',
    history: withOperations(write(6, { kind: 'create', key: 'a/z', seen: seen('a/z', 15, 'z') })),
  },
  {
    rule: 'write-torn',
    name: 'an answer that is not what is stored',
    history: history({
      operations: [CREATE_X, { ...UPDATE_X, seen: { ...X2, text: 'half' } }, CREATE_Y, DELETE_X],
    }),
  },
  {
    rule: 'precondition',
    name: 'an update from an outdated state',
    history: history({ operations: [CREATE_X, { ...UPDATE_X, expected: { revision: 9 } }, CREATE_Y, DELETE_X] }),
  },
  {
    rule: 'precondition',
    name: 'a create of what is there',
    history: history({ operations: [CREATE_X, { ...UPDATE_X, kind: 'create' }, CREATE_Y, DELETE_X] }),
  },
  {
    rule: 'precondition',
    name: 'a delete of another object',
    history: history({ operations: [CREATE_X, UPDATE_X, CREATE_Y, { ...DELETE_X, expected: { uid: 'other' } }] }),
  },
  {
    rule: 'real-time',
    name: 'a later write with an earlier revision',
    history: history({ operations: [CREATE_X, { ...UPDATE_X, invokedAt: 8, returnedAt: 9 }, CREATE_Y, DELETE_X] }),
  },
  {
    rule: 'phantom',
    name: 'a change nobody made',
    history: history({ operations: [CREATE_X, UPDATE_X, DELETE_X] }),
  },
  {
    rule: 'phantom',
    name: 'a refused write that happened',
    history: history({ operations: [CREATE_X, { ...UPDATE_X, status: 422 }, CREATE_Y, DELETE_X] }),
  },
  { rule: 'refusal', name: 'a 404 for what is there', history: withOperations(write(4, { status: 404 })) },
  {
    rule: 'refusal',
    name: 'a 409 for what is new',
    history: withOperations(write(4, { kind: 'create', key: 'a/z', status: 409 })),
  },
  {
    rule: 'refusal',
    name: 'a conflict with the right revision',
    history: withOperations(write(4, { status: 409, expected: { revision: 12 } })),
  },
  {
    rule: 'refusal',
    name: 'a conflict of a patch that was alone',
    history: withOperations(write(4, { kind: 'patch', status: 409 })),
  },
  {
    rule: 'read',
    name: 'a read older than the own write',
    history: withOperations({ kind: 'get', ...at(4), collection: 'cm', key: 'a/x', seen: X1 }),
  },
  {
    rule: 'read',
    name: 'a torn read',
    history: withOperations({
      kind: 'get',
      ...at(4),
      collection: 'cm',
      key: 'a/x',
      seen: { ...X2, text: 'x1x2' },
    }),
  },
  {
    rule: 'freshness',
    name: 'a list older than what was answered',
    history: withOperations(list({ revision: 12, items: [X2] })),
  },
  {
    rule: 'freshness',
    name: 'a list older than asked',
    history: withOperations(list({ resourceVersion: '12', match: 'NotOlderThan', revision: 11, items: [X1] })),
  },
  {
    rule: 'freshness',
    name: 'a list at another revision than exactly asked',
    history: withOperations(list({ resourceVersion: '12', match: 'Exact' })),
  },
  {
    rule: 'freshness',
    name: 'a list from the future',
    history: withOperations(list({ revision: 14, items: [Y] })),
  },
  { rule: 'snapshot', name: 'a list that mixes states', history: withOperations(list({ items: [X1, Y] })) },
  { rule: 'snapshot', name: 'a list that lacks an object', history: withOperations(list({ items: [Y] })) },
  { rule: 'snapshot', name: 'a list out of order', history: withOperations(list({ items: [Y, X2] })) },
  {
    rule: 'monotonic',
    name: 'a cache that goes back',
    history: withOperations(
      list({ resourceVersion: '0', invokedAt: 20, returnedAt: 21, revision: 12, items: [X2] }),
      list({ resourceVersion: '0', invokedAt: 22, returnedAt: 23, revision: 11, items: [X1] }),
    ),
  },
  {
    rule: 'pages',
    name: 'pages of different states',
    history: withOperations(list({ chain: 'p', hasMore: true, items: [X1] }), list({ chain: 'p', items: [Y] })),
  },
  {
    rule: 'pages',
    name: 'pages of different revisions',
    history: withOperations(
      list({ chain: 'p', hasMore: true, items: [X2] }),
      list({ chain: 'p', revision: 14, items: [Y] }),
    ),
  },
  {
    rule: 'expired',
    name: 'a list that expires without compaction',
    history: withOperations(list({ status: 410, resourceVersion: '12', match: 'Exact', revision: 12, items: [] })),
  },
  { rule: 'ordered', name: 'P14: events out of order', history: withWatch({ frames: swapped(EVENTS, 1) }) },
  {
    rule: 'unique',
    name: 'P15: an event twice',
    history: withWatch({ frames: [...EVENTS, ...EVENTS.slice(-1)] }),
  },
  {
    rule: 'atomic',
    name: 'P16: an event with half a state',
    history: withWatch({ frames: EVENTS.with(1, frame('MODIFIED', { ...X2, text: 'x1x2' })) }),
  },
  {
    rule: 'reliable',
    name: 'P17: an event that is missing',
    history: withWatch({ frames: EVENTS.toSpliced(1, 1) }),
  },
  { rule: 'reliable', name: 'P17: the last event is missing', history: withWatch({ frames: EVENTS.slice(0, 3) }) },
  { rule: 'resumable', name: 'P18: a resumed watch that repeats', history: withWatch({ resourceVersion: '11' }) },
  {
    rule: 'reliable',
    name: 'P18: a resumed watch that skips',
    history: withWatch({ resourceVersion: '11', frames: EVENTS.slice(2) }),
  },
  {
    rule: 'resumable',
    name: 'a watch of the future that gets the past',
    history: withWatch({ resourceVersion: '99' }),
  },
  {
    rule: 'bookmark',
    name: 'P19: a bookmark that overtakes',
    history: withWatch({ frames: [...EVENTS.slice(0, 3), bookmark(14), ...EVENTS.slice(3)] }),
  },
  {
    rule: 'bookmark',
    name: 'P19: a bookmark that goes back',
    history: withWatch({ frames: [...EVENTS, bookmark(14), bookmark(13)] }),
  },
  {
    rule: 'type',
    name: 'an object that leaves and is called modified',
    history: withWatch({ view: ON, frames: SELECTED.with(1, frame('MODIFIED', X2)) }),
  },
  {
    rule: 'selector',
    name: 'an object that leaves and is shown as it is',
    history: withWatch({ view: ON, frames: SELECTED.with(1, frame('DELETED', X2)) }),
  },
  {
    rule: 'selector',
    name: 'an event of an object that is not selected',
    history: withWatch({ view: ON, frames: [...SELECTED, frame('DELETED', X_GONE)] }),
  },
  {
    rule: 'atomic',
    name: 'a deletion with the revision of the last state',
    history: withWatch({ frames: EVENTS.with(3, { ...frame('DELETED', X2), revision: 15 }), openUntil: 0 }),
  },
  {
    rule: 'initial',
    name: 'initial events that are not the state at the marker',
    history: withWatch({
      sendsInitial: true,
      resourceVersion: '',
      frames: [frame('ADDED', X1), bookmark(12, true), ...EVENTS.slice(2)],
    }),
  },
  {
    rule: 'initial',
    name: 'a marker older than asked',
    history: withWatch({
      sendsInitial: true,
      resourceVersion: '12',
      frames: [frame('ADDED', X1), bookmark(11, true), ...EVENTS.slice(1)],
    }),
  },
  {
    rule: 'initial',
    name: 'first events that no state explains',
    history: withWatch({
      resourceVersion: '0',
      frames: [frame('ADDED', X1), frame('ADDED', Y), frame('DELETED', X_GONE)],
    }),
  },
  {
    rule: 'expired',
    name: 'a 410 at the very revision of the compaction',
    history: history({
      watches: [watch({ resourceVersion: '12', openedAt: 20, frames: [expiredFrame], openUntil: 0 })],
      compactions: [COMPACTION],
    }),
  },
  {
    rule: 'expired',
    name: 'a watch from before the compaction',
    history: history({
      watches: [watch({ resourceVersion: '11', openedAt: 20, frames: EVENTS.slice(2) })],
      compactions: [COMPACTION],
    }),
  },
  {
    rule: 'error',
    name: 'a watch that fails',
    history: withWatch({ frames: [{ ...expiredFrame, code: 500 }], openUntil: 0 }),
  },
];

describe('consistency checker', () => {
  for (const { name, history: story } of GOOD) {
    it(`reliability/T4.1: has nothing to say about ${name}`, () => assert.deepEqual(check(story), []));
  }
  for (const { rule, name, history: story } of BAD) {
    it(`reliability/T4.2: finds ${name} (${rule})`, () => {
      const rules = check(story).map((violation) => violation.rule);
      assert.ok(rules.includes(rule), `found: ${rules.join(', ') || 'nothing'}`);
    });
  }
});
