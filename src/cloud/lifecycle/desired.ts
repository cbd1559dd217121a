import type { Node } from '../../api/generated/core-v1-types.ts';
import type { InstanceAnswer } from '../instances/instance-answer.ts';
import { hasShutdownTaint, isReady, taintsWhileOff } from './shutdown-taint.ts';

/** One Node in a pass. Without an answer the cloud was not asked: it is ready, or being deleted already. */
export interface Look {
  readonly node: Node;
  readonly answer?: InstanceAnswer;
}

/** Whether the cloud is asked about a Node: a ready one stays whatever it says (L3), and one that goes needs no push. */
export const isAskedFor = (node: Node): boolean => !isReady(node) && node.metadata.deletionTimestamp === undefined;

/**
 * What the passes so far said of one Node whose machine is not there. It is kept in memory only: after a restart the
 * count begins anew, so that nothing is ever deleted earlier than allowed.
 */
export interface Absence {
  /** Answers "absent" since the last other answer. */
  readonly timesInARow: number;
  /** It was reported absent in a pass that is not to be trusted. */
  readonly doubt?: {
    /** Later passes in which the cloud, asked for this machine alone, said "absent" again. */
    readonly agreements: number;
    /** Passes in which it was its turn to be deleted: one that cannot be deleted must not block the others. */
    readonly turns: number;
  };
}

/** By the uid of the Node: another Node of the same name is another Node. */
export type Absences = ReadonlyMap<string, Absence>;

export interface DeletionRules {
  /** Answers "absent" in a row that a deletion takes (B2). */
  readonly confirmations: number;
  /** A Node that is younger stays (B2). */
  readonly minAgeMs: number;
}

export type Decision =
  | { readonly type: 'nothing' | 'addShutdownTaint' | 'removeShutdownTaint' }
  | { readonly type: 'delete'; readonly evidence: string }
  | { readonly type: 'holdBack'; readonly why: 'unconfirmed' | 'young' | 'suspected' };

export interface Decided {
  readonly node: Node;
  readonly decision: Decision;
}

/** What a pass does, and what the next one has to know. */
export interface PassPlan {
  readonly decided: readonly Decided[];
  readonly absences: Absences;
}

const NOTHING: Decision = { type: 'nothing' };

/** So often a machine in doubt must be absent again, each time in a pass of its own and asked for alone. */
const AGREEMENTS = 2;

/**
 * Whether a pass says more about the cloud than about machines (B2): of at least two machines that it was asked for it
 * knows none, whether it says "absent" of all or fails for the others. One alone is believed, as upstream does: there is
 * nothing to compare it with. "Not mine" counts for nothing, since a provider may know that without asking anybody.
 */
export function isSuspect(answers: readonly Pick<InstanceAnswer, 'state'>[]): boolean {
  const asked = answers.map(({ state }) => state).filter((state) => state !== 'unmanaged');
  return asked.length >= 2 && asked.includes('absent') && !asked.includes('present');
}

/** What is remembered of a Node after a pass; undefined when there is nothing to remember. */
function nextAbsence(
  before: Absence | undefined,
  { state }: InstanceAnswer,
  isSuspectPass: boolean,
): Absence | undefined {
  const doubt = before?.doubt;
  // An error proves nothing: it ends the row, and leaves the doubt.
  if (state === 'failed')
    return doubt === undefined ? undefined : { timesInARow: 0, doubt: { ...doubt, agreements: 0 } };
  if (state !== 'absent') return undefined;
  const timesInARow = (before?.timesInARow ?? 0) + 1;
  if (doubt !== undefined) return { timesInARow, doubt: { ...doubt, agreements: doubt.agreements + 1 } };
  return { timesInARow, ...(isSuspectPass && { doubt: { agreements: 0, turns: 0 } }) };
}

const ageMs = ({ metadata }: Node, now: Date): number =>
  now.getTime() - Date.parse(metadata.creationTimestamp ?? '');

interface Absent {
  readonly node: Node;
  readonly evidence: string;
  readonly absence: Absence;
}

function absentDecision(
  { node, evidence, absence }: Absent,
  { confirmations, minAgeMs }: DeletionRules,
  now: Date,
): Decision {
  const { timesInARow, doubt } = absence;
  if (doubt !== undefined && doubt.agreements < AGREEMENTS) return { type: 'holdBack', why: 'suspected' };
  if (timesInARow < confirmations) return { type: 'holdBack', why: 'unconfirmed' };
  // An age that is not known is no age.
  const isOldEnough = minAgeMs <= 0 || ageMs(node, now) >= minAgeMs;
  return isOldEnough ? { type: 'delete', evidence } : { type: 'holdBack', why: 'young' };
}

const presentDecision = (node: Node, power: 'on' | 'off' | 'unknown'): Decision =>
  power === 'off' && taintsWhileOff(node) !== undefined ? { type: 'addShutdownTaint' } : NOTHING;

function decisionFor(
  { node, answer }: Look,
  absence: Absence | undefined,
  rules: DeletionRules,
  now: Date,
): Decision {
  if (answer === undefined)
    return isReady(node) && hasShutdownTaint(node) ? { type: 'removeShutdownTaint' } : NOTHING;
  if (answer.state === 'present') return presentDecision(node, answer.power);
  if (answer.state !== 'absent' || absence === undefined) return NOTHING;
  return absentDecision({ node, evidence: answer.evidence, absence }, rules, now);
}

export const uidOf = ({ metadata }: Node): string => metadata.uid ?? metadata.name;

/** Whether any Node waits for the cloud to be believed again, held back by the last pass or not. */
export const isAnyInDoubt = (absences: Absences): boolean =>
  [...absences.values()].some(({ doubt }) => doubt !== undefined);

/**
 * What to do about all Nodes after the cloud has been asked (L3–L6, B2). Pure. While the cloud is suspected, nothing is
 * deleted that it has not confirmed twice more, and then one Node per pass; and nothing at all as long as no Node of the
 * cluster is ready: a cloud that has lost a whole cluster, of which this program is a part, is not believed, however often
 * it says so.
 */
export function planPass(looks: readonly Look[], before: Absences, rules: DeletionRules, now: Date): PassPlan {
  const isSuspectPass = isSuspect(looks.flatMap(({ answer }) => answer ?? []));
  const absences = new Map<string, Absence>();
  const decided = looks.map((look): Decided => {
    const uid = uidOf(look.node);
    const { answer } = look;
    const absence = answer === undefined ? undefined : nextAbsence(before.get(uid), answer, isSuspectPass);
    if (absence !== undefined) absences.set(uid, absence);
    return { node: look.node, decision: decisionFor(look, absence, rules, now) };
  });
  if (!isSuspectPass) return { decided, absences };
  const isDark = !looks.some(({ node }) => isReady(node));
  return isDark ? { decided: decided.map(heldBack), absences } : oneDeletion(decided, absences);
}

const heldBack = (one: Decided): Decided =>
  one.decision.type === 'delete' ? { ...one, decision: { type: 'holdBack', why: 'suspected' } } : one;

/** Of the Nodes that could be deleted, the one whose turn came least often; the others wait for the next pass. */
function oneDeletion(decided: readonly Decided[], absences: Map<string, Absence>): PassPlan {
  const turnsOf = ({ node }: Decided): number => absences.get(uidOf(node))?.doubt?.turns ?? 0;
  const [chosen] = decided
    .filter(({ decision }) => decision.type === 'delete')
    .toSorted((one, other) => turnsOf(one) - turnsOf(other));
  if (chosen === undefined) return { decided, absences };
  const uid = uidOf(chosen.node);
  const absence = absences.get(uid);
  if (absence?.doubt !== undefined)
    absences.set(uid, { ...absence, doubt: { ...absence.doubt, turns: absence.doubt.turns + 1 } });
  return {
    decided: decided.map((one) => (one === chosen ? one : heldBack(one))),
    absences,
  };
}
