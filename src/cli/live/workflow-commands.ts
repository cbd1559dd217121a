import { type JourneyEvent, WHOLE_JOURNEY } from '../../api/journey.ts';
import { printable } from '../../app/journey/plain-text.ts';
import type { JourneyState } from '../../app/journey/state.ts';

/** Puts the lines of a phase into a group that GitHub Actions can fold, and marks failures (experience 4.3). */
export function inWorkflowGroup(
  lines: readonly string[],
  event: JourneyEvent,
  state: JourneyState,
): readonly string[] {
  const phase = state.phases.find(({ id }) => id === event.phase);
  if (event.phase === WHOLE_JOURNEY || phase === undefined) return lines;
  const name = `phase ${phase.number} ${phase.title}`;
  if (event.kind === 'start') return [`::group::${escaped(name)}`, ...lines];
  if (event.kind !== 'end') return lines;
  const failure = event.failure === undefined ? [] : [`::error::${escaped(`${name}: ${event.failure.cause}`)}`];
  // A skipped phase never started, so there is no group to end.
  return [...lines, ...(event.durationMs === undefined ? [] : ['::endgroup::']), ...failure];
}

/** Percent signs start an escape there; line breaks are gone already. */
const escaped = (text: string): string => printable(text).replaceAll('%', '%25');
