import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Fault, LeaseWorld, ProcessClock } from '../../../test/support/lease-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { LEADER_PROFILES } from './election-timing.ts';
import { Elector } from './elector.ts';

const log = createLog({ level: 'error', write: () => {}, now: () => new Date(0) });

type Step =
  | { readonly kind: 'run'; readonly ms: number }
  | { readonly kind: 'pause' | 'resume' | 'replace'; readonly who: number }
  | { readonly kind: 'step-clock'; readonly who: number; readonly ms: number }
  | { readonly kind: 'fault'; readonly who: number; readonly fault: Fault | undefined }
  | { readonly kind: 'slow'; readonly who: number; readonly ms: number };

const who = fc.nat({ max: 2 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
    },
    fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const, 'replace' as const), who }),
    fc.record({ kind: fc.constant('step-clock' as const), who, ms: fc.integer({ min: -100_000, max: 100_000 }) }),
    fc.record({
      kind: fc.constant('fault' as const),
      who,
      fault: fc.constantFrom<Fault | undefined>(undefined, undefined, 'lost-request', 'lost-answer', 'refused'),
    }),
    fc.record({ kind: fc.constant('slow' as const), who, ms: fc.nat({ max: 6000 }) }),
  ),
  { minLength: 5, maxLength: 40 },
);

/** One machine: its process ends when it loses, as the manager makes it, and may be replaced by a new one. */
class Machine {
  readonly clock: ProcessClock;
  readonly #world: LeaseWorld;
  readonly #name: string;
  fault: Fault | undefined;
  slowMs = 0;
  elector: Elector;
  #stop = new AbortController();
  #count = 0;

  constructor(world: LeaseWorld, clock: ProcessClock, name: string) {
    this.#world = world;
    this.clock = clock;
    this.#name = name;
    this.elector = this.#launch();
  }

  /** The process is killed: whatever it sent may still arrive. */
  replace(): void {
    this.end();
    this.clock.resume();
    this.elector = this.#launch();
  }

  end(): void {
    this.#stop.abort();
  }

  #launch(): Elector {
    const identity = `${this.#name}-${this.#count++}`;
    this.#stop = new AbortController();
    const delay = async () => {
      if (this.slowMs > 0) await this.clock.sleep(this.slowMs);
      await this.clock.running();
    };
    const elector = new Elector({
      name: 'demo',
      identity,
      timing: LEADER_PROFILES.default,
      store: this.#world.store(identity, { fault: () => this.fault, delay }),
      clock: this.clock,
      log,
      metrics: new PrometheusMetrics(),
      elected: () => {},
    });
    elector.run(this.#stop.signal).catch(() => undefined);
    return elector;
  }
}

class Cluster {
  readonly time: VirtualClock;
  readonly machines: Machine[];
  leaders = 0;

  constructor(seed: number) {
    this.time = new VirtualClock({ seed });
    const world = new LeaseWorld();
    this.machines = [
      { rate: 1, startMs: 0, skewMs: 0 },
      { rate: 1.02, startMs: 9_000_000, skewMs: 500_000 },
      { rate: 0.98, startMs: 5, skewMs: -90_000_000 },
    ].map((off, index) => new Machine(world, new ProcessClock(this.time, off), `m${index}`));
  }

  async run(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 500) {
      await this.time.advance(Math.min(500, left));
      this.check();
    }
  }

  check(): void {
    const valid = this.machines.filter(({ elector }) => elector.fence.isValid);
    assert.ok(valid.length <= 1, `two may write at ${this.time.monotonicMs()} ms`);
    this.leaders += valid.length;
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'run') return this.run(step.ms);
    const machine = this.machines[step.who];
    assert.ok(machine);
    if (step.kind === 'step-clock') machine.clock.step(step.ms);
    else if (step.kind === 'fault') machine.fault = step.fault;
    else if (step.kind === 'slow') machine.slowMs = step.ms;
    else if (step.kind === 'replace') machine.replace();
    else machine.clock[step.kind]();
    this.check();
  }
}

describe('Elector in bad company', () => {
  it('runtime/E7: never two processes whose fence is valid at the same instant, and a leader when all is well again', async () => {
    let ledInAll = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(), steps, async (seed, story) => {
        const cluster = new Cluster(seed);
        for (const step of story) await cluster.take(step);
        ledInAll += cluster.leaders;
        for (const machine of cluster.machines) {
          Object.assign(machine, { fault: undefined, slowMs: 0 });
          machine.clock.resume();
          machine.replace();
        }
        await cluster.run(25_000);
        assert.equal(cluster.machines.filter(({ elector }) => elector.fence.isValid).length, 1);
        for (const machine of cluster.machines) machine.end();
        await cluster.time.advance(10_000);
      }),
      { numRuns: 60 },
    );
    assert.ok(ledInAll > 100, 'the stories had leaders');
  });
});
