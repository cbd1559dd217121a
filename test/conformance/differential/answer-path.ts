/** One step of a path: a key, `*` for every member, or the items of a list whose member equals a text. */
type Segment =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'where'; readonly key: string; readonly value: string };

const SEGMENT = /\.?(?:([^.[\]]+)|\[(\*)\]|\["([^"]*)"\]|\[(\d+)\]|\[([\w.]+)=([^\]]*)\])/y;

/** `items[0].metadata.annotations["a.b/c"]`, `groups[name=ex.io].versions[*]`; `$` alone is the whole value. */
function parsePath(text: string): readonly Segment[] {
  if (text === '$') return [];
  const segments: Segment[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < text.length) {
    const at = SEGMENT.lastIndex;
    const match = SEGMENT.exec(text);
    if (match === null) throw new Error(`not a path: ${text} (at ${at})`);
    segments.push(segmentOf(match));
  }
  return segments;
}

function segmentOf([, word, star, quoted, index, key, value]: RegExpExecArray): Segment {
  if (star !== undefined || word === '*') return { kind: 'all' };
  if (key !== undefined) return { kind: 'where', key, value: value ?? '' };
  return { kind: 'key', key: word ?? quoted ?? index ?? '' };
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function membersOf(value: unknown, segment: Segment): readonly string[] {
  if (!isContainer(value)) return [];
  if (segment.kind === 'key') return Object.hasOwn(value, segment.key) ? [segment.key] : [];
  const keys = Object.keys(value);
  if (segment.kind === 'all') return keys;
  return keys.filter((key) => String(valuesAt(value[key], segment.key)[0]) === segment.value);
}

/** Every value that the path leads to. */
export function valuesAt(root: unknown, path: string): readonly unknown[] {
  return parsePath(path).reduce<readonly unknown[]>(
    (values, segment) =>
      values.flatMap((value) => membersOf(value, segment).map((key) => (value as Record<string, unknown>)[key])),
    [root],
  );
}

/** Takes away what the path leads to; items of a list that a condition names leave no gap. */
export function removeAt(root: unknown, path: string): void {
  const segments = parsePath(path);
  const last = segments.at(-1);
  if (last === undefined) return;
  for (const parent of parentsOf(root, segments.slice(0, -1))) {
    const keys = membersOf(parent, last);
    if (last.kind === 'where' && Array.isArray(parent))
      for (const key of keys.toReversed()) parent.splice(+key, 1);
    else for (const key of keys) delete (parent as Record<string, unknown>)[key];
  }
}

const parentsOf = (root: unknown, segments: readonly Segment[]): readonly unknown[] =>
  segments.reduce<readonly unknown[]>(
    (values, segment) =>
      values.flatMap((value) => membersOf(value, segment).map((key) => (value as Record<string, unknown>)[key])),
    [root],
  );
