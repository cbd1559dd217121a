import { nearestWord } from '../object/nearest-word.ts';

/** ` Did you mean X?`, or nothing; ready to follow a sentence. */
export function suggestion(word: string, known: readonly string[], prefix = ''): string {
  const match = nearestWord(word, known);
  return match === undefined ? '' : `. Did you mean ${prefix}${match}?`;
}
