/** One way to say who asks, as a registry offers it in `WWW-Authenticate` (RFC 9110, 11.6.1). */
export interface AuthChallenge {
  /** In lower case: `basic`, `bearer`. */
  readonly scheme: string;
  /** Names in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Nobody needs more. */
const LONGEST_HEADER = 8192;
const MOST_CHALLENGES = 8;
const PIECE =
  /[\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~0-9A-Za-z/:-]+))|(?=\s|,|$))/y;

/** All challenges of a header, in its order. What is no challenge ends the list: nothing is guessed. */
export function parseAuthChallenges(header: string): readonly AuthChallenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  const text = header.slice(0, LONGEST_HEADER);
  const piece = new RegExp(PIECE);
  for (let match = piece.exec(text); match !== null; match = piece.exec(text)) {
    const [, name = '', quoted, token] = match;
    const value = quoted?.replace(/\\(.)/g, '$1') ?? token;
    const last = challenges.at(-1);
    if (value === undefined) challenges.push({ scheme: name.toLowerCase(), parameters: Object.create(null) });
    else if (last === undefined) break;
    else last.parameters[name.toLowerCase()] = value;
    if (challenges.length >= MOST_CHALLENGES) break;
  }
  return challenges;
}
