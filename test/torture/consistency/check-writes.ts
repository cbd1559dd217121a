import type { CollectionDelete, History, Seen, Violation, Write } from './history.ts';
import { isIn } from './history.ts';
import { type Change, isSuccess, type Truth, writesOf } from './truth.ts';

const nameOf = ({ client, kind, collection, key }: Write): string => `${client} ${kind} ${collection} ${key}`;

/** T4.2: successes have a place of their own in one order, which is that of real time. */
export function checkWrites(history: History, truth: Truth): readonly Violation[] {
  const writes = writesOf(history).filter(isSuccess);
  return [
    ...checkTruthOrder(truth),
    ...writes.flatMap((write) => checkWrite(write, truth)),
    ...checkUnique(writes, truth),
    ...checkRealTime(writes, truth),
    ...checkPhantoms(history, truth),
  ];
}

function checkTruthOrder(truth: Truth): readonly Violation[] {
  const violations: Violation[] = [];
  truth.revisions.forEach((revision, index) => {
    if (revision === truth.revisions[index - 1]) {
      violations.push({ rule: 'write-unique', message: `revision ${revision} was given to two changes` });
    }
  });
  return violations;
}

function checkWrite(write: Write, truth: Truth): readonly Violation[] {
  const { collection, key, seen } = write;
  const revision = truth.revisionOf(write);
  const change = truth.of(collection, key).find((one) => one.revision === revision);
  if (change === undefined) {
    return [{ rule: 'write-lost', message: `${nameOf(write)} was acknowledged at ${revision} and is not there` }];
  }
  if (seen !== undefined && seen.text !== change.after?.text) {
    return [{ rule: 'write-torn', message: `${nameOf(write)} at ${revision} is not what is stored` }];
  }
  const broken = brokenCondition(write, change);
  return broken === undefined
    ? []
    : [{ rule: 'precondition', message: `${nameOf(write)} at ${revision} although ${broken}` }];
}

function brokenCondition({ kind, expected = {} }: Write, { before }: Change): string | undefined {
  if (kind === 'create') return before === undefined ? undefined : 'the object existed';
  if (before === undefined) return 'there was no object';
  return difference({ revision: before.revision, uid: before.uid, ...expected }, before);
}

function difference(expected: Pick<Seen, 'revision' | 'uid'>, before: Seen): string | undefined {
  if (expected.revision !== before.revision) return `it was at ${before.revision}, not ${expected.revision}`;
  return expected.uid === before.uid ? undefined : 'it was another object';
}

function checkUnique(writes: readonly Write[], truth: Truth): readonly Violation[] {
  const owners = new Map<number, Write>();
  return writes.flatMap((write) => {
    const revision = truth.revisionOf(write);
    if (revision === undefined) return [];
    const other = owners.get(revision);
    owners.set(revision, write);
    // Two deletes may be told of the same removal.
    if (other === undefined || (other.kind === 'delete' && write.kind === 'delete')) return [];
    return [{ rule: 'write-unique', message: `${nameOf(other)} and ${nameOf(write)} are both at ${revision}` }];
  });
}

/** What was answered before something was asked for is before it. */
function checkRealTime(writes: readonly Write[], truth: Truth): readonly Violation[] {
  return writes.flatMap((write) => {
    const revision = truth.revisionOf(write) ?? Number.POSITIVE_INFINITY;
    const { from } = truth.window(write);
    // A delete of something that was being deleted already may be told of the earlier removal.
    if (revision > from || write.kind === 'delete') return [];
    const message = `${nameOf(write)} got ${revision} when ${from} had been answered`;
    return [{ rule: 'real-time', message }];
  });
}

/** Every change was asked for by somebody who was not refused. */
function checkPhantoms(history: History, truth: Truth): readonly Violation[] {
  const acknowledged = new Set(writesOf(history).map((write) => truth.revisionOf(write)));
  const unanswered = new Set(
    writesOf(history)
      .filter(({ status }) => status === 0 || status >= 500)
      .map(({ collection, key }) => `${collection} ${key}`),
  );
  const clears = history.operations.filter((operation) => operation.kind === 'deletecollection');
  return truth.collections.flatMap((collection) =>
    truth
      .changes(collection)
      .filter((change) => !acknowledged.has(change.revision) && !unanswered.has(`${collection} ${change.key}`))
      .filter((change) => !clears.some((clear) => explains(clear, collection, change)))
      .map(({ key, revision }) => ({
        rule: 'phantom',
        message: `nobody made the change of ${collection} ${key} at ${revision}`,
      })),
  );
}

const explains = ({ view }: CollectionDelete, collection: string, { after, before }: Change): boolean =>
  view.collection === collection &&
  after === undefined &&
  before !== undefined &&
  isIn({ ...view, selector: '' }, before);

/** T4.3: a refusal is right only if some state while the request was served makes it so. */
export function checkRefusals(history: History, truth: Truth): readonly Violation[] {
  return writesOf(history)
    .filter(({ status }) => status === 404 || status === 409)
    .filter((write) => !isJustified(write, truth))
    .map((write) => ({
      rule: 'refusal',
      message: `${nameOf(write)} was refused with ${write.status} without cause`,
    }));
}

function isJustified(write: Write, truth: Truth): boolean {
  const { collection, key, kind, status, expected } = write;
  const { from, to } = truth.window(write);
  const changes = truth.of(collection, key).filter(({ revision }) => revision > from && revision <= to);
  const states = [truth.objectAt(collection, key, from), ...changes.map(({ after }) => after)];
  if (status === 404) return states.includes(undefined);
  if (kind === 'create') return states.some((state) => state !== undefined);
  // Without a condition only a race is a reason.
  if (expected === undefined) return changes.length > 0;
  return states.some((state) => state === undefined || difference({ ...state, ...expected }, state) !== undefined);
}
