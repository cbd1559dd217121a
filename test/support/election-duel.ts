import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { VirtualClock } from '../../src/base/clock.ts';
import { type Claim, parseClaims } from './claims.ts';
import { claimsFile, DuelCandidate, type DuelOptions } from './duel-candidate.ts';

export type Disturbance = 'pause' | 'kill' | 'terminate';

/** What is done next, and to whom. */
interface Step {
  readonly disturbance: Disturbance;
  /** Else one of the others. */
  readonly hitsLeader: boolean;
  readonly pauseMs: number;
  /** How long the leader leads before. */
  readonly dwellMs: number;
  /** Which of several, in [0, 1). */
  readonly choice: number;
}

const POLL_MS = 20;
/** Whoever has claimed so recently leads. */
const RECENT_MS = 150;
const LEADER_TIMEOUT_MS = 20_000;
/** A lease that changes hands and back within the silence that parts two tenures would look like one tenure. */
const LEAST_DWELL_MS = 1200;
const MORE_DWELL_MS = 1000;
const LEADER_SHARE = 0.75;

/** The same for the same seed, without end. */
export function* duelSchedule(seed: number, leaseMs: number): Generator<Step, never> {
  const random = new VirtualClock({ seed });
  for (;;) {
    const kinds: readonly Disturbance[] = ['pause', 'kill', 'terminate'];
    yield {
      disturbance: kinds[Math.floor(random.random() * kinds.length)] ?? 'pause',
      hitsLeader: random.random() < LEADER_SHARE,
      pauseMs: Math.round(random.random() * 2 * leaseMs),
      dwellMs: LEAST_DWELL_MS + Math.round(random.random() * MORE_DWELL_MS),
      choice: random.random(),
    };
  }
}

/** Candidates that compete for one Lease. */
export class ElectionDuel implements AsyncDisposable {
  readonly candidates: readonly DuelCandidate[];
  readonly disturbances: Record<Disturbance, number> = { pause: 0, kill: 0, terminate: 0 };
  readonly #options: DuelOptions;

  constructor(options: DuelOptions, counts: { readonly ours: number; readonly clientGo: number }) {
    this.#options = options;
    const some = (type: 'ours' | 'client-go', count: number) =>
      Array.from({ length: count }, (_, index) => new DuelCandidate(`${type}-${index + 1}`, type, options));
    this.candidates = [...some('ours', counts.ours), ...some('client-go', counts.clientGo)];
  }

  start(): void {
    for (const candidate of this.candidates) candidate.start();
  }

  claims(): readonly Claim[] {
    const file = claimsFile(this.#options);
    return existsSync(file) ? parseClaims(readFileSync(file, 'utf8')) : [];
  }

  /** Whoever has claimed just now; waits until somebody does, other than `former`. */
  async leader(former?: DuelCandidate): Promise<DuelCandidate> {
    const found = () => {
      const last = this.claims().at(-1);
      if (last === undefined || last.atMs < Date.now() - RECENT_MS) return undefined;
      return this.candidates.find((candidate) => candidate.identity === last.by && candidate !== former);
    };
    const endMs = performance.now() + LEADER_TIMEOUT_MS;
    for (let leader = found(); ; leader = found()) {
      if (leader !== undefined) return leader;
      if (performance.now() > endMs) throw new Error(`nobody leads; ${this.#logs()}`);
      await sleep(POLL_MS);
    }
  }

  /** Disturbs one candidate after the other, each time when somebody leads. */
  async disturb(steps: Iterable<Step>, durationMs: number): Promise<void> {
    const endMs = performance.now() + durationMs;
    for (const step of steps) {
      if (performance.now() >= endMs) return;
      await this.leader();
      await sleep(step.dwellMs);
      const leader = await this.leader();
      const others = this.candidates.filter((candidate) => candidate !== leader);
      const other = others[Math.floor(step.choice * others.length)] ?? leader;
      await this.#apply(step, step.hitsLeader ? leader : other);
    }
  }

  /** Lets everybody else give way until this one leads. */
  async letLead(chosen: DuelCandidate): Promise<void> {
    for (let leader = await this.leader(); leader !== chosen; leader = await this.leader()) {
      await sleep(LEAST_DWELL_MS);
      await leader.terminate();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.candidates.map((candidate) => candidate[Symbol.asyncDispose]()));
  }

  async #apply({ disturbance, pauseMs }: Step, candidate: DuelCandidate): Promise<void> {
    this.disturbances[disturbance] += 1;
    if (disturbance === 'kill') return candidate.kill();
    if (disturbance === 'terminate') return candidate.terminate();
    const { resume } = candidate.pause();
    await sleep(pauseMs);
    resume();
    await sleep(POLL_MS);
  }

  #logs(): string {
    return this.candidates.map(({ name, log }) => `${name}: ${log.slice(-500)}`).join('\n');
  }
}
