/** One clause of an Accept header. Names are compared letter by letter, as upstream does. */
export interface Clause {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

// Nobody needs more; a header of thousands of clauses is an attack (reliability T7.4).
export const MOST_CLAUSES = 64;

/** Best first. Sorted by insertion, as upstream does: its order is none in the strict sense, so the way to it counts. */
export function acceptClauses(accept: string): readonly Clause[] {
  const sorted: Clause[] = [];
  for (const text of accept.split(',', MOST_CLAUSES)) {
    const clause = clauseOf(text);
    if (clause === undefined) continue;
    let at = sorted.length;
    for (let before = sorted[at - 1]; before !== undefined && isBetter(clause, before); before = sorted[at - 1])
      at--;
    sorted.splice(at, 0, clause);
  }
  return sorted;
}

/** Any name is better than a wildcard, even one of lower quality. */
const isBetter = (a: Clause, b: Clause): boolean =>
  a.quality > b.quality || (a.type !== '*' && b.type === '*') || (a.subtype !== '*' && b.subtype === '*');

function clauseOf(text: string): Clause | undefined {
  const [range = '', ...pairs] = text.split(';');
  const [type = '', subtype = '', ...more] = range.split('/').map((part) => part.trim());
  if (more.length > 0) return undefined;
  if (subtype === '' && type !== '*') return undefined;
  const parameters = new Map<string, string>();
  for (const pair of pairs) {
    const [name = '', value = '', ...rest] = pair.split('=');
    if (rest.length === 0) parameters.set(name.trim(), value.trim());
  }
  return { type, subtype: subtype === '' ? '*' : subtype, parameters, quality: qualityOf(parameters.get('q')) };
}

function qualityOf(text = ''): number {
  if (text === '') return 1;
  const quality = Number(text);
  return Number.isFinite(quality) ? quality : 0;
}
