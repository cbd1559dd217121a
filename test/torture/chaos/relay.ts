import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Carries bytes to a port of this machine, and can be a bad network: cut, frozen, or not there. */
export class Relay implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  readonly #near = new Set<Socket>();
  readonly #far = new Set<Socket>();
  #isRefusing = false;
  #isFrozen = false;

  constructor(target: number) {
    this.#target = target;
    this.#server = createServer((socket) => this.#carry(socket));
  }

  /** The port to connect to. */
  async listen(): Promise<number> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#near.size;
  }

  cutAll(): void {
    for (const socket of [...this.#near, ...this.#far]) socket.destroy();
  }

  /** Nobody gets in, and whoever is in is thrown out. */
  refuse(isRefusing: boolean): void {
    this.#isRefusing = isRefusing;
    if (isRefusing) this.cutAll();
  }

  /** Everything stays open and nothing is carried; what was sent meanwhile arrives later. */
  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
    for (const socket of [...this.#near, ...this.#far]) {
      if (isFrozen) socket.pause();
      else socket.resume();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(near: Socket): void {
    near.on('error', () => {});
    if (this.#isRefusing) return void near.destroy();
    const far = connect(this.#target, '127.0.0.1');
    far.on('error', () => {});
    for (const [from, to, all] of [
      [near, far, this.#near],
      [far, near, this.#far],
    ] as const) {
      all.add(from);
      from.on('data', (bytes) => {
        if (!to.destroyed && !to.write(bytes)) from.pause();
      });
      to.on('drain', () => this.#isFrozen || from.resume());
      from.on('close', () => {
        all.delete(from);
        to.destroy();
      });
      if (this.#isFrozen) from.pause();
    }
  }
}
