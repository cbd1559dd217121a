import type { JourneyEvent } from '../../api/journey.ts';

// JSON leaves these as they are, and a terminal obeys them.
// oxlint-disable-next-line no-control-regex -- control characters are exactly what must not reach the terminal
const CONTROL = /[\u007f-\u009f\u2028\u2029]/g;

/** The event as one line of JSON, safe to look at in a terminal. */
export const jsonLine = (event: JourneyEvent): string =>
  JSON.stringify(event).replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
