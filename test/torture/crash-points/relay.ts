import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Transport } from '../../../src/kube/transport/transport.ts';
import { PointCounter, roleOf, writeIn } from '../../../src/testing/crash-point.ts';
import type { Cloud, Machine, WantedMachine } from './cloud.ts';

export interface RelayTarget {
  readonly point: string;
  readonly fault: 'kill-before' | 'kill-after';
}

export interface RelayOptions {
  readonly api: Transport;
  readonly cloud: Cloud;
  readonly target?: RelayTarget | undefined;
  /** SIGKILL, now. */
  readonly kill: () => void;
}

/** Stands between a process and its world, counts its writes, and kills it at one of them (reliability T1.5). */
export class Relay implements AsyncDisposable {
  readonly points: string[] = [];
  readonly #options: RelayOptions;
  readonly #server: Server;
  readonly #counter = new PointCounter();
  #target: RelayTarget | undefined;
  #lastPointAtMs = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#target = options.target;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** Whether the process has not been killed yet, and was to be. */
  get isArmed(): boolean {
    return this.#target !== undefined;
  }

  /** Of `performance.now()`. */
  get lastPointAtMs(): number {
    return this.#lastPointAtMs;
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { url = '/' } = request;
    if (!url.startsWith('/cloud/')) return this.#serveApi(request, response, body);
    const args: readonly unknown[] = JSON.parse(body.toString('utf8'));
    const verb = url.slice('/cloud/'.length);
    const role =
      verb === 'list' ? undefined : roleOf({ verb, kind: 'machine', name: await this.#tagOf(verb, args) });
    await this.#made(role, async () => {
      const answer = await this.#call(verb, args);
      return () => response.end(JSON.stringify(answer ?? null));
    });
  }

  async #serveApi(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const { method = 'GET', url: target = '/' } = request;
    const hangUp = new AbortController();
    response.on('close', () => hangUp.abort());
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const sent = { method, target, headers, body, signal: hangUp.signal };
    await this.#made(writeIn(sent)?.role, async () => {
      const answer = await this.#options.api(sent);
      return async () => {
        const told = Object.entries(answer.headers).filter(([, value]) => value !== undefined);
        response.writeHead(answer.status, Object.fromEntries(told) as Record<string, string>);
        for await (const chunk of answer.stream()) response.write(chunk);
        response.end();
      };
    });
  }

  /** Makes a call and delivers its answer, unless this is where the process dies. */
  async #made(role: string | undefined, act: () => Promise<() => unknown>): Promise<void> {
    const fault = role === undefined ? undefined : this.#faultAt(this.#counter.next(role));
    if (fault === 'kill-before') return this.#options.kill();
    const deliver = await act();
    if (fault === 'kill-after') return this.#options.kill();
    await deliver();
  }

  #faultAt(point: string): RelayTarget['fault'] | undefined {
    this.points.push(point);
    this.#lastPointAtMs = performance.now();
    const target = this.#target;
    if (target?.point !== point) return undefined;
    this.#target = undefined;
    return target.fault;
  }

  /** The role of a machine, as the controllers would say it. */
  async #tagOf(verb: string, [first, second]: readonly unknown[]): Promise<string> {
    const { tag } = (second ?? {}) as Partial<WantedMachine>;
    if (verb === 'create' || tag !== undefined) return tag ?? '';
    const machines: readonly Machine[] = await this.#options.cloud.list();
    return machines.find(({ id }) => id === first)?.tag ?? '';
  }

  #call(verb: string, [first, second]: readonly unknown[]): Promise<unknown> {
    const { cloud } = this.#options;
    if (verb === 'create') return cloud.create((first as string | null) ?? undefined, second as WantedMachine);
    if (verb === 'change') return cloud.change(first as string, second as Partial<WantedMachine>);
    if (verb === 'remove') return cloud.remove(first as string);
    return cloud.list();
  }
}
