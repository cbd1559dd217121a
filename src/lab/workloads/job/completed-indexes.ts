/** First and last of some indexes in a row. */
type Range = readonly [first: number, last: number];

/**
 * The indexes of an Indexed job that have succeeded, as its status spells them: `0,2-4,7,8` (W26). Ranges, because a job
 * may have a billion of them.
 */
export class CompletedIndexes {
  readonly #ranges: readonly Range[];

  private constructor(ranges: readonly Range[]) {
    this.#ranges = ranges;
  }

  /** What cannot be read is left out, and so are indexes beyond the completions: those may have become fewer. */
  static parse(text: string | undefined, completions: number): CompletedIndexes {
    const ranges = (text ?? '').split(',').flatMap((part): readonly Range[] => {
      const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
      return first === undefined ? [] : [[Number(first), Math.min(Number(last), completions - 1)]];
    });
    return new CompletedIndexes(merged(ranges.filter(([first, last]) => first < completions && first <= last)));
  }

  get total(): number {
    return this.#ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  has(index: number): boolean {
    return this.#ranges.some(([first, last]) => first <= index && index <= last);
  }

  with(indexes: readonly number[]): CompletedIndexes {
    return new CompletedIndexes(merged([...this.#ranges, ...indexes.map((index): Range => [index, index])]));
  }

  /** The lowest indexes that are not among these, `count` at most. */
  missing(count: number, completions: number): readonly number[] {
    const found: number[] = [];
    let next = 0;
    for (const [first, last] of [...this.#ranges, [completions, completions] as const]) {
      while (next < Math.min(first, completions) && found.length < count) found.push(next++);
      next = Math.max(next, last + 1);
    }
    return found;
  }

  toString(): string {
    return this.#ranges.map(printed).join(',');
  }
}

function printed([first, last]: Range): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}

/** In order, and those that touch each other as one. */
function merged(ranges: readonly Range[]): readonly Range[] {
  const result: Range[] = [];
  for (const [first, last] of ranges.toSorted(([a], [b]) => a - b)) {
    const [before, end] = result.at(-1) ?? [0, -2];
    if (first > end + 1) result.push([first, last]);
    else result[result.length - 1] = [before, Math.max(end, last)];
  }
  return result;
}
