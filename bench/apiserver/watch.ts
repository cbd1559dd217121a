import { Connection, type Credentials } from './connection.ts';
import { quantiles, type Rate } from './load.ts';

export interface WatchOptions {
  readonly watchers: number;
  readonly writers: number;
  readonly seconds: number;
  /** Collection that is watched; its objects `watched-0…` are changed. */
  readonly path: string;
  readonly objects: number;
  readonly body: (name: string, mark: string) => string;
}

const MARK = 'mark-';
const DIGITS = 9;
const markOf = (sequence: number): string => `${MARK}${String(sequence).padStart(DIGITS, '0')}`;
const QUIET_MS = 5000;

/** Writers change objects as fast as they can; every watcher gets every change. Counts deliveries and their delay. */
export async function watchLoad(credentials: Credentials, options: WatchOptions): Promise<Rate> {
  using stack = new DisposableStack();
  const open = async () => stack.use(await Connection.open(credentials));
  const writers = await Promise.all(Array.from({ length: options.writers }, open));
  const [first] = writers;
  if (first === undefined) throw new Error('no writers');
  const { body: list } = await first.send('GET', `${options.path}?limit=1`);
  const { metadata }: { metadata: { resourceVersion: string } } = JSON.parse(list.toString('utf8'));
  const sentMs: number[] = [];
  const delays: number[] = [];
  let delivered = 0;
  let lastMs = performance.now();
  for (let index = 0; index < options.watchers; index++) {
    const connection = await open();
    const scan = markScanner((sequence) => {
      delivered++;
      lastMs = performance.now();
      // Each delivery of every tenth watcher is enough to know the distribution.
      if (index % 10 === 0) delays.push(lastMs - (sentMs[sequence] ?? lastMs));
    });
    connection.stream(`${options.path}?watch=1&resourceVersion=${metadata.resourceVersion}`, scan);
  }
  const startedMs = performance.now();
  await Promise.all(writers.map((writer, at) => write(writer, at, options, sentMs)));
  await allDelivered(
    () => delivered >= sentMs.length * options.watchers,
    () => lastMs,
  );
  const elapsedSeconds = (lastMs - startedMs) / 1000;
  if (delivered !== sentMs.length * options.watchers) {
    throw new Error(`${delivered} deliveries of ${sentMs.length} changes to ${options.watchers} watchers`);
  }
  return { perSecond: delivered / elapsedSeconds, ...quantiles(delays) };
}

async function write(writer: Connection, at: number, options: WatchOptions, sentMs: number[]): Promise<void> {
  const endMs = performance.now() + options.seconds * 1000;
  while (performance.now() < endMs) {
    const sequence = sentMs.push(performance.now()) - 1;
    const name = `watched-${(sequence * options.writers + at) % options.objects}`;
    const { status } = await writer.send(
      'PATCH',
      `${options.path}/${name}`,
      options.body(name, markOf(sequence)),
      'application/merge-patch+json',
    );
    if (status !== 200) throw new Error(`change of ${name}: ${status}`);
  }
}

async function allDelivered(isDone: () => boolean, lastMs: () => number): Promise<void> {
  while (!isDone() && performance.now() - lastMs() < QUIET_MS) {
    await new Promise((done) => setTimeout(done, 2));
  }
}

/** Finds marks in a stream of chunks without parsing what is in them; a mark may be cut anywhere. */
function markScanner(found: (sequence: number) => void): (bytes: Buffer) => void {
  const needle = Buffer.from(`"${MARK}`);
  let rest: Buffer = Buffer.alloc(0);
  return unchunked((piece) => {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let end = 0;
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, end)) {
      const from = at + needle.length;
      if (from + DIGITS > bytes.length) break;
      found(Number(bytes.toString('latin1', from, from + DIGITS)));
      end = from + DIGITS;
    }
    // Enough for a cut mark, never a whole one that was counted.
    rest = Buffer.from(bytes.subarray(Math.max(end, bytes.length - needle.length - DIGITS + 1)));
  });
}

/** Takes the HTTP head and the sizes of chunks out of a stream. */
function unchunked(onPiece: (piece: Buffer) => void): (bytes: Buffer) => void {
  let held: Buffer = Buffer.alloc(0);
  let left = 0;
  let isHead = true;
  return (bytes) => {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    for (;;) {
      if (left > 0) {
        const piece = held.subarray(0, left);
        if (piece.length > 0) onPiece(piece);
        left -= piece.length;
        held = held.subarray(piece.length);
        if (left > 0) return;
      }
      const marker = isHead ? '\r\n\r\n' : '\r\n';
      const end = held.indexOf(marker);
      if (end < 0) return;
      // The line break after a chunk reads as an empty line.
      if (!isHead && end > 0) left = Number.parseInt(held.toString('latin1', 0, end), 16);
      isHead = false;
      held = held.subarray(end + marker.length);
    }
  };
}
