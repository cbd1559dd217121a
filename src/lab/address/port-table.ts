import { appendFileSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { retryError } from '../../base/errors.ts';
import type { Endpoint } from './address-plan.ts';

/** Above what programs ask for, below what kernels give to connections. */
const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;

export interface PortTableOptions {
  readonly file: string;
  readonly random: () => number;
  /** Whether nobody listens on the port of this machine. */
  readonly isFree: (port: number) => Promise<boolean>;
}

/**
 * Which port of this machine stands for a port of a lab address in mode `ports` (X10). It is a file, because children
 * read and extend it as well (in the preload): lines are only ever added. It grows with the places that are listened on.
 */
export class PortTable implements AsyncDisposable {
  readonly #options: PortTableOptions;

  constructor(options: PortTableOptions) {
    this.#options = options;
  }

  /** Begins with an empty table. */
  async start(): Promise<void> {
    await writeFile(this.#options.file, '');
  }

  /** Undefined when nobody ever listened there. */
  find(place: Endpoint): number | undefined {
    return portsByPlace(readFileSync(this.#options.file, 'utf8')).get(keyOf(place));
  }

  /** The port of a place, which it keeps: who listens there a second time gets EADDRINUSE, as anywhere (X5). */
  async claim(place: Endpoint): Promise<number> {
    for (let tries = 0; tries < 1000; tries++) {
      const ports = portsByPlace(readFileSync(this.#options.file, 'utf8'));
      const known = ports.get(keyOf(place));
      if (known !== undefined) return known;
      const port = FIRST_PORT + Math.floor(this.#options.random() * PORT_COUNT);
      // Others may have claimed the place, or the port, meanwhile: the next round shows whose line came first.
      if (![...ports.values()].includes(port) && (await this.#options.isFree(port))) this.add(place, port);
    }
    throw retryError('AddressPoolEmpty', `no port of 127.0.0.1 is free for ${place.host}:${place.port}`);
  }

  add(place: Endpoint, port: number): void {
    appendFileSync(this.#options.file, `${keyOf(place)}\t${port}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#options.file, { force: true });
  }
}

const keyOf = ({ host, port }: Endpoint): string => `${host}\t${port}`;

/** Of two lines for one place, or for one port of this machine, the first one counts; a line that has no end does not. */
function portsByPlace(text: string): ReadonlyMap<string, number> {
  const ports = new Map<string, number>();
  const taken = new Set<string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [host = '', port = '', actual = ''] = line.split('\t');
    const key = `${host}\t${port}`;
    if (ports.has(key) || taken.has(actual)) continue;
    ports.set(key, Number(actual));
    // A port that the kernel chose stands for itself, and may be given to another address later.
    if (port !== actual) taken.add(actual);
  }
  return ports;
}
