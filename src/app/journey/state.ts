import {
  type Address,
  type Failure,
  type Health,
  type JourneyEvent,
  type JourneyPlan,
  type JourneyStage,
  type PlannedPhase,
  type Suggestion,
  WHOLE_JOURNEY,
} from '../../api/journey.ts';
import { highest, type RowNode, rowAt, withoutRow, withRow } from './rows.ts';

/** All that any view needs to know about one phase. */
export interface PhaseState extends PlannedPhase {
  readonly number: number;
  readonly health: Health;
  readonly detail: string;
  /** In the time of events (`atMs`). */
  readonly startedMs: number | undefined;
  /** Known when it has ended. */
  readonly durationMs: number | undefined;
  readonly percent: number | undefined;
  readonly rows: readonly RowNode[];
  readonly waitingFor: string | undefined;
  readonly failure: Failure | undefined;
  /** The newest three. */
  readonly warnings: readonly string[];
  readonly addresses: readonly Address[];
  readonly tries: readonly Suggestion[];
}

/** The journey as its events have told it so far. */
export interface JourneyState {
  readonly plan: JourneyPlan | undefined;
  readonly stage: JourneyStage;
  readonly phases: readonly PhaseState[];
  readonly startedAt: string | undefined;
  readonly durationMs: number | undefined;
  /** What happened last, in a few words. */
  readonly activity: string;
  /** The newest twenty events, oldest first. */
  readonly recent: readonly JourneyEvent[];
}

const MOST_WARNINGS = 3;
const MOST_RECENT = 20;

export const EMPTY_JOURNEY: JourneyState = {
  plan: undefined,
  stage: 'running',
  phases: [],
  startedAt: undefined,
  durationMs: undefined,
  activity: '',
  recent: [],
};

/** The state after `event`. Events of phases that are not in the plan change nothing but the list of recent ones. */
export function reduce(state: JourneyState, event: JourneyEvent): JourneyState {
  const next = {
    ...state,
    recent: [...state.recent, event].slice(-MOST_RECENT),
    stage: event.stage ?? state.stage,
  };
  if (event.phase === WHOLE_JOURNEY) return reduceJourney(next, event);
  const phases = state.phases.map((phase) => (phase.id === event.phase ? reducePhase(phase, event) : phase));
  const phase = phases.find(({ id }) => id === event.phase);
  return { ...next, phases, activity: activityOf(event, phase?.rows ?? []) ?? state.activity };
}

function reduceJourney(state: JourneyState, event: JourneyEvent): JourneyState {
  switch (event.kind) {
    case 'start':
      return { ...state, ...started(event), startedAt: event.ts };
    case 'end':
      return { ...state, durationMs: event.durationMs, activity: '' };
    case 'progress':
    case 'warn':
    case 'error':
      return state;
  }
}

const started = ({ plan }: JourneyEvent): Pick<JourneyState, 'plan' | 'phases'> => ({
  plan,
  phases: (plan?.phases ?? []).map((phase, index) => ({ ...phase, ...UNTOUCHED, number: index + 1 })),
});

const UNTOUCHED = {
  health: 'waiting',
  detail: '',
  startedMs: undefined,
  durationMs: undefined,
  percent: undefined,
  rows: [],
  waitingFor: undefined,
  failure: undefined,
  warnings: [],
  addresses: [],
  tries: [],
} as const;

function reducePhase(phase: PhaseState, event: JourneyEvent): PhaseState {
  switch (event.kind) {
    case 'start':
      return { ...phase, ...UNTOUCHED, health: 'working', startedMs: event.atMs, detail: event.detail };
    case 'progress':
      return progressed(phase, event);
    case 'warn':
      return { ...phase, warnings: [...phase.warnings, event.detail].slice(-MOST_WARNINGS) };
    case 'error':
      // Something it left running is no more; its time is that of its work all the same.
      return { ...phase, health: 'failed', detail: event.detail, failure: event.failure ?? phase.failure };
    case 'end':
      return ended(phase, event);
  }
}

function progressed(phase: PhaseState, event: JourneyEvent): PhaseState {
  const { row, removedRow, waitingFor } = event;
  const isAboutPart = row !== undefined || removedRow !== undefined || waitingFor !== undefined;
  return {
    ...phase,
    detail: isAboutPart ? phase.detail : event.detail,
    percent: highest(phase.percent, event.percent),
    rows: progressedRows(phase.rows, event),
    waitingFor: waitingFor ?? phase.waitingFor,
  };
}

function progressedRows(rows: readonly RowNode[], event: JourneyEvent): readonly RowNode[] {
  const kept = event.removedRow === undefined ? rows : withoutRow(rows, event.removedRow);
  return event.row === undefined ? kept : withRow(kept, event.row, event);
}

const ended = (phase: PhaseState, event: JourneyEvent): PhaseState => ({
  ...phase,
  health: event.health ?? 'done',
  detail: event.detail,
  durationMs: event.durationMs,
  waitingFor: undefined,
  failure: event.failure ?? phase.failure,
  addresses: event.addresses ?? [],
  tries: event.tries ?? [],
});

/** With the percent that is shown elsewhere too, not the one that came: that may have gone backwards. */
function activityOf(event: JourneyEvent, rows: readonly RowNode[]): string | undefined {
  const { kind, row, waitingFor, detail } = event;
  if (kind !== 'progress') return kind === 'start' ? '' : undefined;
  if (waitingFor !== undefined) return `waiting for ${waitingFor}`;
  if (row === undefined) return detail;
  const percent = rowAt(rows, row.path)?.row?.percent;
  return `${row.path.at(-1) ?? ''}: ${row.word}${percent === undefined ? '' : ` ${Math.round(percent)} %`}`;
}

/** How long a phase has taken up to `nowMs` (in the time of events), or undefined before it starts. */
export function elapsedMs({ durationMs, startedMs }: PhaseState, nowMs: number): number | undefined {
  return durationMs ?? (startedMs === undefined ? undefined : nowMs - startedMs);
}

/** Below this a machine that was busy for a moment would look like a problem. */
const LEAST_DELAY_MS = 500;

/** More than twice its usual time here (experience X23). */
export function isSlow(phase: PhaseState, nowMs: number): boolean {
  const elapsed = elapsedMs(phase, nowMs);
  if (phase.typicalMs === undefined || elapsed === undefined) return false;
  return elapsed > 2 * phase.typicalMs && elapsed > phase.typicalMs + LEAST_DELAY_MS;
}

export const hasNothingRegistered = ({ phases }: JourneyState): boolean =>
  phases.length > 0 && phases.every(({ isRegistered }) => !isRegistered);

export const failedPhases = ({ phases }: JourneyState): readonly PhaseState[] =>
  phases.filter(({ health }) => health === 'failed');
