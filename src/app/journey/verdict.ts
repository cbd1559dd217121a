import type { JourneyEvent } from '../../api/journey.ts';
import { humanDuration } from '../../base/duration.ts';
import { hasNothingRegistered, type JourneyState, type PhaseState } from './state.ts';

/** `done in 23.4 s, 7 phases, 0 failed, 1 attention` (experience 4.3). */
export function endSentence(state: JourneyState, durationMs: number): string {
  if (hasNothingRegistered(state)) return 'no phase is part of this version yet, so nothing was started';
  const count = (health: string) => state.phases.filter((phase) => phase.health === health).length;
  const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`;
  const counts = `${state.phases.length} phases, ${count('failed')} failed, ${count('attention')} attention${skipped}`;
  return `done in ${humanDuration(durationMs)}, ${counts}`;
}

interface Ending {
  /** Phases that make the command fail. */
  readonly failed: readonly PhaseState[];
  /** The user stopped it, as opposed to: it came to its end. */
  readonly wasAsked: boolean;
  readonly isOnce: boolean;
  /** The data folder, as a shell takes it. */
  readonly place: string;
}

/** The very last line (experience X26, X30). */
export function lastWords({ failed, wasAsked, isOnce, place }: Ending): Pick<JourneyEvent, 'kind' | 'detail'> {
  if (failed.length > 0)
    return { kind: 'error', detail: `failed: ${failed.map(({ title }) => title).join(', ')}` };
  if (wasAsked) {
    const detail = `everything is stopped; data stays in ${place}, to remove it: rm -r ${place}`;
    return { kind: 'progress', detail };
  }
  const detail = isOnce ? 'nothing is left running' : 'nothing is running, so this ends here';
  return { kind: 'progress', detail };
}
