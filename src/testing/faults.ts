import type { Clock } from '../base/clock.ts';
import { NetworkError } from '../kube/client/api-error.ts';
import { withStream } from '../kube/transport/changed-stream.ts';
import type { Transport, TransportRequest, TransportResponse } from '../kube/transport/transport.ts';
import { OpenRequests } from './open-requests.ts';
import { cutAfter, dropped, endedAfter, repeated, silenced, slowed, swapped } from './stream-faults.ts';

/**
 * What can go wrong with one request (T3). Before it reaches the server: `refuse` (answered with a Status), `reset` and
 * `delay`. After: `lost-response` (done, but the caller sees a broken connection) and `duplicate` (done twice).
 * `reorder`: another request overtakes it, unless none ends within `ms`; in a stream, of so many lines the last two are
 * swapped. On the way back: `slow` (a few bytes at a time), `cut` (broken off inside a line) and `torn` (the same, but it
 * looks like an end); for streams also `silence` (open, but nothing comes any more), `repeat` (every chunk twice), `drop`
 * (of so many lines the last is lost) and `expired` (the server forgot the version).
 */
export type Fault =
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly reason: string;
      readonly retryAfterSeconds?: number;
    }
  | { readonly kind: 'reset' }
  | { readonly kind: 'lost-response' }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'reorder'; readonly ms: number; readonly everyLines: number }
  | { readonly kind: 'slow'; readonly bytes: number; readonly ms: number }
  | { readonly kind: 'cut'; readonly afterBytes: number }
  | { readonly kind: 'torn'; readonly afterBytes: number }
  | { readonly kind: 'drop'; readonly everyLines: number }
  | { readonly kind: 'silence' }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'expired' };

export interface FaultRule {
  readonly matches: (request: TransportRequest) => boolean;
  readonly fault: Fault;
  /** How many matching requests pass before it strikes. */
  readonly skip?: number;
  /** How often it strikes; for ever unless told otherwise. */
  readonly times?: number;
  /** The share of matching requests that it strikes; all unless told otherwise. */
  readonly rate?: number;
}

interface Armed {
  readonly rule: FaultRule;
  toSkip: number;
  left: number;
}

/** Faults that strike the requests of one transport. Same clock seed, same faults. */
export class Faults {
  readonly #clock: Clock;
  readonly #armed = new Set<Armed>();
  readonly #struck = new Map<Fault['kind'], number>();
  readonly #open = new OpenRequests();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How often each kind of fault struck. */
  get struck(): ReadonlyMap<Fault['kind'], number> {
    return this.#struck;
  }

  /** The rule holds until it has struck as often as it says, or is disposed. The first rule that matches strikes. */
  arm(rule: FaultRule): Disposable {
    const armed: Armed = { rule, toSkip: rule.skip ?? 0, left: rule.times ?? Number.POSITIVE_INFINITY };
    this.#armed.add(armed);
    return { [Symbol.dispose]: () => void this.#armed.delete(armed) };
  }

  disarmAll(): void {
    this.#armed.clear();
  }

  /** Requests and streams that are under way. */
  get openRequests(): number {
    return this.#open.size;
  }

  /** Every request and every stream that is under way fails at once, as when a server goes away (GOAWAY). */
  breakAll(): void {
    this.#open.breakAll();
  }

  around(transport: Transport): Transport {
    return async (request) => {
      const fault = this.#next(request);
      if (fault?.kind === 'reorder' && request.isStream !== true) await this.#overtaken(fault.ms, request.signal);
      const opened = this.#open.open(request);
      try {
        return heldOpen(await this.#send(fault, transport, opened.request), opened);
      } catch (thrown) {
        opened[Symbol.dispose]();
        throw thrown;
      }
    };
  }

  #send(fault: Fault | undefined, transport: Transport, request: TransportRequest): Promise<TransportResponse> {
    const isWithout = fault === undefined || (fault.kind === 'reorder' && request.isStream !== true);
    return isWithout ? transport(request) : struck(fault, transport, request, this.#clock);
  }

  async #overtaken(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const enough = new AbortController();
    using _next = this.#open.onNextEnd(() => enough.abort());
    const either = signal === undefined ? enough.signal : AbortSignal.any([signal, enough.signal]);
    await this.#clock.sleep(ms, either).catch(() => {});
    signal?.throwIfAborted();
  }

  #next(request: TransportRequest): Fault | undefined {
    for (const armed of this.#armed) {
      if (!armed.rule.matches(request)) continue;
      if (armed.toSkip > 0) {
        armed.toSkip--;
        continue;
      }
      if (armed.left <= 0 || this.#clock.random() >= (armed.rule.rate ?? 1)) continue;
      armed.left--;
      const { fault } = armed.rule;
      this.#struck.set(fault.kind, (this.#struck.get(fault.kind) ?? 0) + 1);
      return fault;
    }
    return undefined;
  }
}

/** Sends a request under one fault. */
export async function struck(
  fault: Fault,
  transport: Transport,
  request: TransportRequest,
  clock: Clock,
): Promise<TransportResponse> {
  if (isOfStreams(fault))
    return withStream(await transport(request), (chunks) => changed(fault, chunks, request.signal, clock));
  switch (fault.kind) {
    case 'refuse':
      return refusal(fault);
    case 'reset':
      throw new NetworkError('connection refused (injected)', { mayHaveHappened: false });
    case 'lost-response':
      await answered(transport, request);
      throw new NetworkError('connection reset after the request was sent (injected)', { mayHaveHappened: true });
    case 'duplicate':
      await answered(transport, request);
      return transport(request);
    case 'delay':
      await clock.sleep(fault.ms, request.signal);
      return transport(request);
    case 'expired':
      return request.isStream === true ? stream(expiredLine()) : refusal(GONE);
  }
}

const OF_STREAMS = ['cut', 'torn', 'silence', 'repeat', 'slow', 'reorder', 'drop'] as const;
type StreamFault = Extract<Fault, { readonly kind: (typeof OF_STREAMS)[number] }>;

const isOfStreams = (fault: Fault): fault is StreamFault => OF_STREAMS.some((kind) => kind === fault.kind);

function changed(
  fault: StreamFault,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
  clock: Clock,
): AsyncIterable<Uint8Array> {
  switch (fault.kind) {
    case 'cut':
      return cutAfter(chunks, fault.afterBytes);
    case 'torn':
      return endedAfter(chunks, fault.afterBytes);
    case 'silence':
      return silenced(chunks, signal);
    case 'repeat':
      return repeated(chunks);
    case 'slow':
      return slowed(chunks, { ...fault, clock, signal });
    case 'reorder':
      return swapped(chunks, fault.everyLines);
    case 'drop':
      return dropped(chunks, fault.everyLines);
  }
}

/** Sends it and forgets the answer; that of a stream would not end. */
async function answered(transport: Transport, request: TransportRequest): Promise<void> {
  const response = await transport(request);
  if (request.isStream !== true) await response.bytes();
  else for await (const _first of response.stream()) break;
}

/** Under way until its body was read: that is what everybody does with an answer. */
const heldOpen = (response: TransportResponse, opened: Disposable): TransportResponse => ({
  status: response.status,
  headers: response.headers,
  stream: async function* () {
    using _opened = opened;
    yield* response.stream();
  },
  bytes: async () => {
    using _opened = opened;
    return await response.bytes();
  },
});

const GONE = { status: 410, reason: 'Expired' };

const statusOf = (code: number, reason: string, retryAfterSeconds?: number) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: `${reason} (injected)`,
  reason,
  ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
  code,
});

interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterSeconds?: number;
}

function refusal({ status, reason, retryAfterSeconds }: Refusal): TransportResponse {
  const answer = stream(Buffer.from(JSON.stringify(statusOf(status, reason, retryAfterSeconds))));
  return {
    ...answer,
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
  };
}

const expiredLine = (): Uint8Array =>
  Buffer.from(`${JSON.stringify({ type: 'ERROR', object: statusOf(410, 'Expired') })}\n`);

const stream = (bytes: Uint8Array): TransportResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  stream: async function* () {
    yield bytes;
  },
  bytes: () => Promise.resolve(bytes),
});
