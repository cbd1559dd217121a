import { RE2JS } from 're2js';

/** A compiled user pattern; never JavaScript's RegExp, whose backtracking a client could abuse. */
export interface Pattern {
  readonly source: string;
  /** Whether the pattern occurs anywhere in the text. */
  matches(text: string): boolean;
  /** Why the pattern cannot be used, in the words of Go's regexp package. */
  readonly problem?: string;
}

/** Patterns repeat a lot over the versions of a CRD; the bound keeps a flood of different ones from piling up. */
const MAX_CACHED = 4096;
const compiled = new Map<string, Pattern>();

export function patternOf(source: string): Pattern {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = compile(source);
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(source, pattern);
  return pattern;
}

function compile(source: string): Pattern {
  try {
    const regex = RE2JS.compile(source);
    return { source, matches: (text) => regex.test(text) };
  } catch (error) {
    return { source, matches: () => false, problem: error instanceof Error ? error.message : String(error) };
  }
}
