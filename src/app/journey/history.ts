import { isRecord } from '../../object/record.ts';
import type { JourneyState } from './state.ts';

/** One finished run, as kept in `.slipway/history.jsonl`. */
export interface PastRun {
  readonly ts: string;
  readonly totalMs: number;
  /** Only phases that ended well. */
  readonly phasesMs: Readonly<Record<string, number>>;
}

/** Medians of the last runs; nothing where there were too few (experience X23). */
export interface TypicalTimes {
  readonly totalMs: number | undefined;
  readonly phasesMs: Readonly<Record<string, number | undefined>>;
}

const LAST_RUNS = 10;
/** With the two before it, the run that is about to start is the third. */
const FEWEST_RUNS = 2;

/** Only runs of the same phases are compared: the journey grows from version to version. */
export function typicalTimes(runs: readonly PastRun[], phases: readonly string[]): TypicalTimes {
  const isAlike = ({ phasesMs }: PastRun) =>
    Object.keys(phasesMs).length === phases.length && phases.every((id) => phasesMs[id] !== undefined);
  const alike = runs.filter(isAlike).slice(-LAST_RUNS);
  const timesOf = (id: string) => runs.flatMap(({ phasesMs }) => phasesMs[id] ?? []).slice(-LAST_RUNS);
  return {
    totalMs: typical(alike.map(({ totalMs }) => totalMs)),
    phasesMs: Object.fromEntries(phases.map((id) => [id, typical(timesOf(id))])),
  };
}

function typical(times: readonly number[]): number | undefined {
  if (times.length < FEWEST_RUNS) return undefined;
  const sorted = times.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, time) => sum + time, 0) / middle.length;
}

/** The finished journey as a run, or undefined when nothing in it ended well. */
export function pastRun({ phases, startedAt, durationMs }: JourneyState): PastRun | undefined {
  const good = phases.filter(({ health }) => health === 'done' || health === 'attention');
  if (startedAt === undefined || durationMs === undefined || good.length === 0) return undefined;
  const phasesMs = Object.fromEntries(good.map((phase) => [phase.id, phase.durationMs ?? 0]));
  return { ts: startedAt, totalMs: durationMs, phasesMs };
}

/** The runs in a history file; a line that was cut short by a crash or edited by hand is ignored. */
export const parseHistory = (text: string): readonly PastRun[] =>
  text.split('\n').flatMap((line) => parseRun(line));

function parseRun(line: string): readonly PastRun[] {
  try {
    const value: unknown = JSON.parse(line);
    return isPastRun(value) ? [value] : [];
  } catch {
    return [];
  }
}

const isPastRun = (value: unknown): value is PastRun =>
  isRecord(value) &&
  typeof value['ts'] === 'string' &&
  isTime(value['totalMs']) &&
  isRecord(value['phasesMs']) &&
  Object.values(value['phasesMs']).every(isTime);

const isTime = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0;
