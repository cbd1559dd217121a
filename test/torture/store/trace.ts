/** One system call on a file, as far as it matters for what a power cut leaves. */
export type Call =
  | { readonly kind: 'create'; readonly path: string; readonly isTruncated: boolean }
  | { readonly kind: 'write'; readonly path: string; readonly offset: number; readonly data: Buffer }
  | { readonly kind: 'truncate'; readonly path: string; readonly size: number }
  | { readonly kind: 'sync'; readonly path: string }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string }
  /** Not a file: something the program said to the world. */
  | { readonly kind: 'said'; readonly text: string };

export const STRACE = [
  '-f',
  '-y',
  '-xx',
  '--seccomp-bpf',
  '-s',
  '8388608',
  '-e',
  'trace=openat,write,pwrite64,writev,pwritev,ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat',
  '-e',
  'signal=none',
];

interface RawCall {
  readonly name: string;
  readonly words: string;
  readonly result: string;
}

/** The calls of a trace in the order in which they were complete. */
export function* callsOf(trace: string): Generator<Call, undefined> {
  const unfinished = new Map<string, string>();
  const positions = new Map<string, number>();
  for (let start = 0; start < trace.length; ) {
    const end = trace.indexOf('\n', start);
    const line = trace.slice(start, end < 0 ? trace.length : end);
    start += line.length + 1;
    const raw = rawCall(line, unfinished);
    const call = raw === undefined || raw.result.startsWith('-1') ? undefined : interpreted(raw, positions);
    if (call !== undefined) yield call;
  }
  return undefined;
}

/** A call that another thread interrupts is printed in two pieces. */
function rawCall(line: string, unfinished: Map<string, string>): RawCall | undefined {
  const [, pid = '', text = ''] = /^(\d+) +([^]*)$/.exec(line) ?? [];
  if (text.endsWith('<unfinished ...>')) {
    unfinished.set(pid, text.slice(0, -'<unfinished ...>'.length).trimEnd());
    return undefined;
  }
  const resumed = text.startsWith('<... ') ? text.indexOf(' resumed>') : -1;
  if (resumed < 0) return splitCall(text);
  return splitCall(`${unfinished.get(pid) ?? ''}${text.slice(resumed + ' resumed>'.length)}`);
}

/** `name(words) = result`; the result of a short line is aligned by blanks. */
function splitCall(text: string): RawCall | undefined {
  const open = text.indexOf('(');
  const close = Math.max(text.lastIndexOf(') = '), text.lastIndexOf(')  '));
  if (open < 0 || close < 0) return undefined;
  const result = text.slice(text.indexOf('= ', close) + 2);
  return { name: text.slice(0, open), words: text.slice(open + 1, close), result };
}

type Interpret = (words: string, result: string, positions: Map<string, number>) => Call | undefined;

const lastNumber = (words: string): number => Number(words.slice(words.lastIndexOf(', ') + 2));
const synced: Interpret = (words) => ({ kind: 'sync', path: descriptorPath(words) });

const INTERPRETERS = new Map<string, Interpret>([
  ['openat', (words, result, positions) => opened(words, result, positions)],
  ['write', (words, _, positions) => written(words, positions)],
  [
    'pwrite64',
    (words) => ({ kind: 'write', path: descriptorPath(words), offset: lastNumber(words), data: quoted(words) }),
  ],
  ['ftruncate', (words) => ({ kind: 'truncate', path: descriptorPath(words), size: lastNumber(words) })],
  ['fsync', synced],
  ['fdatasync', synced],
  ['rename', (words) => renamed(words.split(', '))],
  ['unlink', (words) => ({ kind: 'unlink', path: quoted(words).toString() })],
]);

function interpreted({ name, words, result }: RawCall, positions: Map<string, number>): Call | undefined {
  const interpret = INTERPRETERS.get(name);
  if (interpret !== undefined) return interpret(words, result, positions);
  throw new Error(`the trace has a call that is not understood: ${name}(${words.slice(0, 100)}`);
}

const renamed = ([from = '', to = '']: readonly string[]): Call => ({
  kind: 'rename',
  path: quoted(from).toString(),
  to: quoted(to).toString(),
});

function opened(words: string, result: string, positions: Map<string, number>): Call | undefined {
  const descriptor = /^\d+/.exec(result)?.[0] ?? '';
  positions.set(descriptor, 0);
  if (!words.includes('O_CREAT')) return undefined;
  return { kind: 'create', path: descriptorPath(result), isTruncated: words.includes('O_TRUNC') };
}

function written(words: string, positions: Map<string, number>): Call {
  const descriptor = /^\d+/.exec(words)?.[0] ?? '';
  const data = quoted(words);
  if (descriptor === '1') return { kind: 'said', text: data.toString() };
  const offset = positions.get(descriptor) ?? 0;
  positions.set(descriptor, offset + data.length);
  return { kind: 'write', path: descriptorPath(words), offset, data };
}

/** `28</path/of/the/file>, …`; strace may escape the path like any string. */
function descriptorPath(words: string): string {
  const path = words.slice(words.indexOf('<') + 1, words.indexOf('>'));
  return path.startsWith('\\x') ? unescaped(path).toString() : path;
}

function quoted(words: string): Buffer {
  const start = words.indexOf('"') + 1;
  return unescaped(words.slice(start, words.indexOf('"', start)));
}

const unescaped = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');
