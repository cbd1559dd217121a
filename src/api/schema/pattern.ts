import { RE2JS } from 're2js';

/** Pattern → what is wrong with it. As many as the program's definitions have: kinds share most of theirs. */
const known = new Map<string, string | undefined>();

/** Why the server, whose regular expressions are RE2, cannot compile a pattern; undefined when it can (K4). */
export function re2Problem(pattern: string): string | undefined {
  if (!known.has(pattern)) known.set(pattern, compileProblem(pattern));
  return known.get(pattern);
}

function compileProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
