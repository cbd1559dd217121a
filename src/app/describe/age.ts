const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, in one unit: `12 s`, `14 m`, `3 h`, `2 d`. */
export function ageText(ms: number): string {
  const age = Math.max(0, ms);
  if (age < MINUTE) return `${Math.floor(age / SECOND)} s`;
  if (age < 2 * HOUR) return `${Math.floor(age / MINUTE)} m`;
  return age < 2 * DAY ? `${Math.floor(age / HOUR)} h` : `${Math.floor(age / DAY)} d`;
}

/** Milliseconds since a time in RFC 3339; undefined where there is none that can be read. */
export function ageMs(since: string | null | undefined, at: Date): number | undefined {
  const ms = Date.parse(since ?? '');
  return Number.isNaN(ms) ? undefined : at.getTime() - ms;
}

/** Text in which the passing of time alone changes nothing: for telling whether there is news. */
export const withoutAges = (text: string): string => text.replace(/\b\d+ [smhd] (old|ago)\b/g, '$1');
