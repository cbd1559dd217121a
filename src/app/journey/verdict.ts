import type { JourneyEvent } from '../../api/journey.ts';
import { humanDuration } from '../../base/duration.ts';
import { hasNothingRegistered, type JourneyState } from './state.ts';

/** `done in 23.4 s, 7 phases, 0 failed, 1 attention` (experience 4.3). */
export function endSentence(state: JourneyState, durationMs: number): string {
  if (hasNothingRegistered(state)) return 'no phase is part of this version yet, so nothing was started';
  const count = (health: string) => state.phases.filter((phase) => phase.health === health).length;
  const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`;
  const counts = `${state.phases.length} phases, ${count('failed')} failed, ${count('attention')} attention${skipped}`;
  return `done in ${humanDuration(durationMs)}, ${counts}`;
}

interface Ending {
  /** Titles of the phases that make the command fail. */
  readonly failed: readonly string[];
  /** Names of what did not stop. */
  readonly stillRunning: readonly string[];
  /** The user stopped it, as opposed to: it came to its end. */
  readonly wasAsked: boolean;
  readonly isOnce: boolean;
  /** The data folder, as a shell takes it. */
  readonly place: string;
}

/** What a user who asked for the end reads last; `place` = the data folder, as a shell takes it. */
export const stoppedSentence = (place: string | undefined): string =>
  place === undefined
    ? 'everything is stopped'
    : `everything is stopped; data stays in ${place}, to remove it: rm -r ${place}`;

/** The very last line (experience X26, X30). */
export function lastWords(ending: Ending): Pick<JourneyEvent, 'kind' | 'detail'> {
  const { failed, stillRunning, wasAsked, isOnce, place } = ending;
  const problems = [
    ...(stillRunning.length === 0 ? [] : [`not stopped, and perhaps still running: ${stillRunning.join(', ')}`]),
    ...(failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`]),
  ];
  if (problems.length > 0) return { kind: 'error', detail: problems.join('; ') };
  if (wasAsked) {
    return { kind: 'progress', detail: stoppedSentence(place) };
  }
  const detail = isOnce ? 'nothing is left running' : 'nothing is running, so this ends here';
  return { kind: 'progress', detail };
}
