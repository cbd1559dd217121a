import { createHash } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { VirtualClock } from '../../src/base/clock.ts';
import { messageOf } from '../../src/base/errors.ts';
import type { Endpoint } from '../../src/lab/address/address-plan.ts';

/** Who ends first: the client says all and then listens, the backend does so, or both talk at once. */
const ENDINGS = ['client', 'backend', 'both'] as const;
type Ending = (typeof ENDINGS)[number];

/** One talk: what each side says, and in which order they end. */
interface Talk {
  readonly ending: Ending;
  readonly question: Buffer;
  readonly answer: Buffer;
  /** What the backend heard, as soon as it has heard all. */
  readonly heard: PromiseWithResolvers<string>;
}

const PATIENCE_MS = 20_000;

/** What everybody says is known to both sides by the number of the talk. */
export class Torture {
  readonly #talks = new Map<number, Talk>();
  readonly #random: () => number;

  constructor(seed: number) {
    const clock = new VirtualClock({ seed });
    this.#random = () => clock.random();
  }

  /** A backend that talks as it should. */
  server(): Server {
    return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => {});
      void this.#answer(socket).catch(() => socket.destroy());
    });
  }

  /** So many talks, some at once; what went wrong, one line each. */
  async run(at: Endpoint, count: number, concurrency: number): Promise<readonly string[]> {
    const problems: string[] = [];
    let next = 0;
    const worker = async () => {
      while (next < count) {
        const id = next++;
        const problem = await this.#talk(at, id).catch((error: unknown) => messageOf(error));
        if (problem !== undefined)
          problems.push(`talk ${id} (${this.#talks.get(id)?.ending} ends first): ${problem}`);
        this.#talks.delete(id);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return problems;
  }

  async #talk(at: Endpoint, id: number): Promise<string | undefined> {
    const talk: Talk = {
      ending: ENDINGS[Math.floor(this.#random() * ENDINGS.length)] ?? 'both',
      question: this.#bytes(),
      answer: this.#bytes(),
      heard: Promise.withResolvers(),
    };
    this.#talks.set(id, talk);
    const socket = connect({ ...at, allowHalfOpen: true, noDelay: true });
    const number = Buffer.alloc(4);
    number.writeUInt32BE(id);
    socket.write(number);
    // One of the two waits for the end of the other before it says a word; both ways are open in between.
    if (talk.ending === 'client') this.#say(socket, talk.question);
    const hearing = heardOn(socket.iterator({ destroyOnReturn: false }));
    if (talk.ending === 'both') this.#say(socket, talk.question);
    const heard = await hearing;
    if (talk.ending === 'backend') this.#say(socket, talk.question);
    await new Promise((resolve) => (socket.closed ? resolve(undefined) : socket.once('close', resolve)));
    if (heard !== digestOf(talk.answer)) return 'the client heard something else';
    // The last bytes of the client may be under way although it is closed.
    const late = sleep(PATIENCE_MS, 'nothing', { ref: false });
    const told = await Promise.race([talk.heard.promise, late]);
    return told === digestOf(talk.question) ? undefined : 'the backend heard something else';
  }

  async #answer(socket: Socket): Promise<void> {
    const chunks = socket.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
    let head = Buffer.alloc(0);
    while (head.length < 4) {
      const { value, done } = (await chunks.next()) as IteratorResult<Buffer, undefined>;
      // A health check.
      if (done === true) return void socket.destroy();
      head = Buffer.concat([head, value]);
    }
    const id = head.readUInt32BE(0);
    const talk = this.#talks.get(id);
    if (talk === undefined) throw new Error(`nobody is talk ${id}`);
    if (talk.ending !== 'client') this.#say(socket, talk.answer);
    talk.heard.resolve(await heardOn(rest(head.subarray(4), chunks)));
    if (talk.ending === 'client') this.#say(socket, talk.answer);
  }

  /** In several pieces, and then no more. */
  #say(socket: Socket, bytes: Buffer): void {
    const cut = Math.floor(this.#random() * bytes.length);
    socket.write(bytes.subarray(0, cut));
    socket.end(bytes.subarray(cut));
  }

  /** Mostly little, sometimes more than all buffers on the way hold. */
  #bytes(): Buffer {
    const most = this.#random() < 0.01 ? 600_000 : 5000;
    const length = Math.floor(this.#random() * most);
    const seed = Math.floor(this.#random() * 2 ** 32);
    return createHash('shake256', { outputLength: Math.max(1, length) })
      .update(String(seed))
      .digest();
  }
}

async function* rest(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function heardOn(chunks: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}
