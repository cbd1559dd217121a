import { type JourneyEvent, WHOLE_JOURNEY } from '../../api/journey.ts';
import { failedPhases, type JourneyState } from '../../app/journey/state.ts';
import { EMPTY_LINE, type Line, type Look, span } from './line.ts';
import { wrap } from './text-width.ts';

/** What a key means (experience X25); every key that does nothing today is not there. */
export type KeyAction = 'quit' | 'help' | 'events' | 'retry' | 'suspend';

const ACTIONS: Readonly<Record<string, KeyAction>> = {
  q: 'quit',
  Q: 'quit',
  '\u0003': 'quit',
  h: 'help',
  '?': 'help',
  e: 'events',
  r: 'retry',
  // Ctrl-Z: raw mode would swallow it.
  '\u001a': 'suspend',
};

/** The actions in a piece of input. Arrow keys and pasted sequences start with an escape and mean nothing here. */
export const keyActions = (input: string): readonly KeyAction[] =>
  input.startsWith('\u001b') ? [] : Array.from(input).flatMap((character) => ACTIONS[character] ?? []);

/** Quit first: it is what beginners look for. */
export function helpLines(state: JourneyState): readonly Line[] {
  const canRetry = state.stage === 'standing' && failedPhases(state).length > 0;
  const keys: readonly (readonly [string, string])[] = [
    ['q', 'quit, like Ctrl-C'],
    ['h', 'these lines'],
    ['e', 'the last 20 events'],
    ...(canRetry ? ([['r', 'try again what failed']] as const) : []),
  ];
  return [
    EMPTY_LINE,
    [span('  keys', 'strong')],
    ...keys.map(([key, does]) => [span(`    ${key}  `, 'strong'), span(does)]),
    EMPTY_LINE,
  ];
}

/** The newest events, oldest first, with local time and zone (experience X9). */
export function eventLines({ recent, phases }: JourneyState, look: Look, timeZone?: string): readonly Line[] {
  const title = (id: string) => phases.find((phase) => phase.id === id)?.title ?? id;
  const isWorthIt = ({ kind, phase }: JourneyEvent) => kind !== 'start' || phase !== WHOLE_JOURNEY;
  const events = recent.filter(isWorthIt);
  const lines = events.flatMap(({ ts, phase, kind, detail }) => {
    const text = look.glyphs.text(`${title(phase)}: ${detail === '' ? kind : detail}`);
    const parts = wrap(`${localTime(ts, timeZone)}  ${text}`, Math.max(1, look.width - 6));
    return parts.map((part, at) => [span(at === 0 ? '    ' : '      '), span(part)]);
  });
  return [EMPTY_LINE, [span(`  the last ${events.length} events`, 'strong')], ...lines, EMPTY_LINE];
}

const localTime = (ts: string, timeZone: string | undefined): string =>
  new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
    ...(timeZone !== undefined && { timeZone }),
  }).format(new Date(ts));
