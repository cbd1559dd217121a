import { setTimeout as sleep } from 'node:timers/promises';
import { isWrite, type TransportRequest } from '../../../src/kube/transport/transport.ts';
import type { FaultRule, Faults } from '../../../src/testing/faults.ts';
import type { Relay } from './relay.ts';
import type { ServerProcess } from './server-process.ts';

const isRequest = ({ isStream }: TransportRequest): boolean => isStream !== true;
const isStream = (request: TransportRequest): boolean => !isRequest(request);
const isRead = (request: TransportRequest): boolean => isRequest(request) && !isWrite(request);
const isWriting = (request: TransportRequest): boolean => isRequest(request) && isWrite(request);

const refuse = (status: number, reason: string, retryAfterSeconds?: number) =>
  ({ kind: 'refuse', status, reason, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }) as const;

/** Every kind of fault, for requests and for streams. Virtual milliseconds. */
const DECK: readonly FaultRule[] = [
  { matches: isWriting, fault: refuse(409, 'Conflict'), rate: 0.3 },
  { matches: isRequest, fault: refuse(429, 'TooManyRequests', 1), rate: 0.3 },
  { matches: isRequest, fault: refuse(500, 'InternalError'), rate: 0.3 },
  { matches: isRequest, fault: refuse(503, 'ServiceUnavailable'), rate: 0.3 },
  { matches: isRequest, fault: refuse(503, 'ServiceUnavailable', 2), rate: 0.3 },
  { matches: isRequest, fault: refuse(504, 'Timeout'), rate: 0.3 },
  { matches: isRead, fault: { kind: 'expired' }, rate: 0.3 },
  { matches: isRequest, fault: { kind: 'reset' }, rate: 0.3 },
  { matches: isRequest, fault: { kind: 'lost-response' }, rate: 0.3 },
  { matches: isRequest, fault: { kind: 'duplicate' }, rate: 0.3 },
  { matches: isRequest, fault: { kind: 'delay', ms: 3_000 }, rate: 0.2 },
  { matches: isRequest, fault: { kind: 'reorder', ms: 2_000, everyLines: 2 }, rate: 0.3 },
  { matches: isRequest, fault: { kind: 'slow', bytes: 400, ms: 10 }, rate: 0.3 },
  { matches: isRequest, fault: { kind: 'cut', afterBytes: 90 }, rate: 0.2 },
  { matches: isStream, fault: refuse(410, 'Expired'), rate: 0.6 },
  { matches: isStream, fault: refuse(500, 'InternalError'), rate: 0.6 },
  { matches: isStream, fault: refuse(429, 'TooManyRequests', 1), rate: 0.6 },
  { matches: isStream, fault: { kind: 'expired' }, rate: 0.6 },
  { matches: isStream, fault: { kind: 'reset' }, rate: 0.6 },
  { matches: isStream, fault: { kind: 'cut', afterBytes: 9_000 }, rate: 0.8 },
  { matches: isStream, fault: { kind: 'torn', afterBytes: 7_777 }, rate: 0.8 },
  { matches: isStream, fault: { kind: 'silence' }, rate: 0.5 },
  { matches: isStream, fault: { kind: 'repeat' }, rate: 0.8 },
  { matches: isStream, fault: { kind: 'slow', bytes: 3_000, ms: 20 }, rate: 0.8 },
  { matches: isStream, fault: { kind: 'reorder', ms: 0, everyLines: 7 }, rate: 0.8 },
  { matches: isStream, fault: { kind: 'delay', ms: 5_000 }, rate: 0.8 },
];

/** Kinds that a long run must have seen. */
export const FAULT_KINDS = [...new Set(DECK.map(({ fault }) => fault.kind))];

export interface StormParts {
  readonly faults: Faults;
  readonly relay: Relay;
  readonly server: ServerProcess;
  readonly random: () => number;
  /** Kinds of faults that are left out, to find out which one it was. */
  readonly without?: readonly string[] | undefined;
  /** Requests that reached the sockets so far. */
  readonly attempts: () => number;
}

const SPELL_MS = 700;
const OUTAGE_MS = 2_500;
const FREEZE_MS = 1_500;

/** Two to five faults at a time (reliability T2.2), and now and then the network or the server itself. */
export class Storm {
  readonly #parts: StormParts;
  #hand: FaultRule[] = [];
  /** Attempts per real second in each outage. */
  readonly outageRates: number[] = [];
  readonly blows: Record<string, number> = { broken: 0, cut: 0, frozen: 0, outage: 0, crash: 0 };

  constructor(parts: StormParts) {
    this.#parts = parts;
  }

  /** Rages for so long, then all is well again. */
  async rage(seconds: number): Promise<void> {
    const { faults, relay } = this.#parts;
    const endMs = performance.now() + seconds * 1000;
    // Each round has one of each, in any order.
    const blows = this.#shuffled(['cut', 'frozen', 'outage', 'crash']);
    const everyMs = (seconds * 1000) / (blows.length + 1);
    let nextMs = performance.now() + everyMs / 2;
    while (performance.now() < endMs) {
      this.#deal();
      await sleep(SPELL_MS * (0.5 + this.#parts.random()));
      this.#count('broken');
      faults.breakAll();
      if (performance.now() < nextMs) continue;
      nextMs += everyMs;
      await this.#blow(blows.pop());
    }
    faults.disarmAll();
    relay.freeze(false);
    relay.refuse(false);
  }

  #deal(): void {
    const { faults, random, without = [] } = this.#parts;
    faults.disarmAll();
    const count = 2 + Math.floor(random() * 4);
    for (let at = 0; at < count; at++) {
      if (this.#hand.length === 0)
        this.#hand = this.#shuffled(DECK.filter(({ fault }) => !without.includes(fault.kind)));
      const rule = this.#hand.pop();
      if (rule !== undefined) faults.arm(rule);
    }
  }

  async #blow(blow: string | undefined): Promise<void> {
    const { relay, server } = this.#parts;
    if (blow === undefined) return;
    this.#count(blow);
    if (blow === 'cut') relay.cutAll();
    if (blow === 'crash') await server.crash();
    if (blow === 'outage') await this.#outage();
    if (blow === 'frozen') {
      relay.freeze(true);
      await sleep(FREEZE_MS);
      relay.freeze(false);
    }
  }

  /** Nobody answers, and nothing else is wrong: how often is it tried? */
  async #outage(): Promise<void> {
    const { faults, relay, attempts } = this.#parts;
    faults.disarmAll();
    relay.refuse(true);
    await sleep(OUTAGE_MS / 2);
    const before = attempts();
    await sleep(OUTAGE_MS / 2);
    this.outageRates.push((attempts() - before) / (OUTAGE_MS / 2000));
    relay.refuse(false);
  }

  #count(blow: string): void {
    this.blows[blow] = (this.blows[blow] ?? 0) + 1;
  }

  #shuffled<T>(items: T[]): T[] {
    const keyed = items.map((item) => ({ item, order: this.#parts.random() }));
    return keyed.toSorted((a, b) => a.order - b.order).map(({ item }) => item);
  }
}
