import assert from 'node:assert/strict';
import type { AddressInfo, Server } from 'node:net';
import { type Clock, SystemClock, VirtualClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import type { Endpoint } from '../../src/lab/address/address-plan.ts';
import { LabAddressPool } from '../../src/lab/address/address-pool.ts';
import { type AddressScheme, labAddress, toApi, toWire } from '../../src/lab/address/address-scheme.ts';
import type { CloudOptions } from '../../src/lab/cloud/cloud-options.ts';
import type { CloudAddresses } from '../../src/lab/cloud/resources/resource-kind.ts';
import { type LabCloud, startCloud } from '../../src/lab/cloud/start-cloud.ts';
import { isRecord } from '../../src/object/record.ts';
import { scratchDirectory } from './scratch.ts';

const HOST = '127.0.0.1';
const START = new Date('2030-01-01T00:00:00Z');
const PLENTY = { perSecond: 100_000, burst: 100_000 };

export type Body = Readonly<Record<string, unknown>>;

/** An answer of the cloud. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Empty when the answer was no JSON object. */
  readonly body: Body;
  /** Of an error; empty for anything else. */
  readonly error: Body;
  /** Of a list; none for anything else. */
  readonly items: readonly Body[];
}

export interface Asking {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Client identifier; the administrator unless told otherwise. */
  readonly as?: string;
  readonly signal?: AbortSignal;
}

export interface CloudWorld extends AsyncDisposable {
  readonly cloud: LabCloud;
  /** Lab time. */
  readonly clock: VirtualClock;
  readonly directory: string;
  /** With a token of the client; `PATH` begins with a slash. */
  ask(method: string, path: string, asking?: Asking): Promise<Answered>;
  /** Creates something and gives its identifier; fails when that is refused. */
  make(kind: string, body: Body): Promise<string>;
  /** The truth about an object. */
  look(kind: string, id: string): Promise<Body>;
  /** Lets lab time pass, and everything that follows happen. */
  pass(ms: number): Promise<void>;
  token(clientId: string, scope?: string): Promise<string>;
}

export interface CloudWorldOptions extends Partial<CloudOptions> {
  /** Of an earlier world: it goes on there, and whoever made the directory removes it. */
  readonly directory?: string;
  readonly clock?: VirtualClock;
  readonly real?: Clock;
}

export const listenAnywhere = (server: Server): Promise<Endpoint> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, HOST, () => {
      // A TCP server that listens has an address of this form.
      const { port } = server.address() as AddressInfo;
      resolve({ host: HOST, port });
    });
  });

/** Addresses that nobody listens at. */
export function pretendAddresses(octet = 77): CloudAddresses {
  const scheme: AddressScheme = { octet, mode: 'loopback' };
  return {
    octet,
    node: (cluster, node) => labAddress(scheme, cluster, node),
    balancers: new LabAddressPool(scheme, 128, 159),
    toWire: (address) => toWire(scheme, address),
    toApi: (address) => toApi(scheme, address),
  };
}

/** A cloud on loopback with time of its own; it and its directory are gone at the end of the block. */
export async function cloudWorld(options: CloudWorldOptions = {}): Promise<CloudWorld> {
  await using stack = new AsyncDisposableStack();
  const directory = options.directory ?? stack.use(await scratchDirectory()).path;
  const clock = options.clock ?? new VirtualClock({ start: START });
  const defaults = { real: new SystemClock(), log: SILENT_LOG, rates: { read: PLENTY, write: PLENTY } };
  const addresses = options.addresses ?? pretendAddresses();
  const cloud = stack.use(
    await startCloud({ listen: listenAnywhere, ...defaults, ...options, addresses, directory, clock }),
  );
  const world = new RunningWorld(cloud, clock, directory);
  const owned = stack.move();
  return Object.assign(world, { [Symbol.asyncDispose]: () => owned.disposeAsync() });
}

class RunningWorld {
  readonly cloud: LabCloud;
  readonly clock: VirtualClock;
  readonly directory: string;
  readonly #tokens = new Map<string, string>();

  constructor(cloud: LabCloud, clock: VirtualClock, directory: string) {
    this.cloud = cloud;
    this.clock = clock;
    this.directory = directory;
  }

  async ask(
    method: string,
    path: string,
    { body, headers = {}, as = 'lab-admin', signal }: Asking = {},
  ): Promise<Answered> {
    const authorization = headers['authorization'] ?? `Bearer ${await this.#knownToken(as)}`;
    const response = await fetch(`${this.cloud.url}${path}`, {
      method,
      headers: { ...headers, authorization },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    return answered(response, await response.text());
  }

  async make(kind: string, body: Body): Promise<string> {
    const answer = await this.ask('POST', `/v1/${kind}`, { body });
    assert.ok(answer.status === 201 || answer.status === 202, `${kind}: ${answer.status} ${answer.text}`);
    return String(answer.body['id']);
  }

  async look(kind: string, id: string): Promise<Body> {
    const answer = await this.ask('GET', `/v1/${kind}/${id}`, { headers: { 'lab-consistent': 'true' } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async pass(ms: number): Promise<void> {
    // In steps, since what ends by itself may begin something else, and both may do I/O in between.
    const stepMs = 500;
    for (let left = ms; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(stepMs, left));
      await this.cloud.idle();
    }
  }

  async token(clientId: string, scope?: string): Promise<string> {
    const credential = this.cloud.credentials().find((each) => each.clientId === clientId);
    const body = JSON.stringify({ clientId, clientSecret: credential?.clientSecret ?? '', scope });
    const response = await fetch(`${this.cloud.url}/v1/tokens`, { method: 'POST', body });
    const { body: found, text } = answered(response, await response.text());
    assert.equal(response.status, 201, text);
    return String(found['token']);
  }

  async #knownToken(clientId: string): Promise<string> {
    const known = this.#tokens.get(clientId) ?? (await this.token(clientId));
    this.#tokens.set(clientId, known);
    return known;
  }
}

function answered({ status, headers }: Response, text: string): Answered {
  const body = objectIn(text);
  const { error, items } = body;
  return {
    status,
    headers,
    text,
    body,
    error: isRecord(error) ? error : {},
    items: Array.isArray(items) ? items : [],
  };
}

function objectIn(text: string): Body {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
