import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { VirtualClock } from '../../base/clock.ts';
import { WorkQueue } from './work-queue.ts';

type Step =
  | { readonly do: 'add'; readonly key: string; readonly priority: number; readonly afterMs: number }
  | { readonly do: 'take' }
  | { readonly do: 'done'; readonly at: number }
  | { readonly do: 'wait'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      priority: fc.constantFrom(-100, 0, 3),
      afterMs: fc.constantFrom(0, 0, 7, 20),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'take' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('done' as const), at: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 7, 30) }) },
);

interface Entry {
  priority: number;
  readyAtMs: number;
  order: number;
  /** Those that fell due in the same moment have no order among them. */
  fellDueMs?: number | undefined;
}

/** The rules Q1, Q2, Q4 and Q5 written down without any data structure: maps, and a sort when somebody takes. */
class Model {
  readonly queued = new Map<string, Entry>();
  readonly dirty = new Map<string, Entry>();
  readonly processing = new Set<string>();
  #orders = 0;

  add(key: string, priority: number, readyAtMs: number, nowMs: number): void {
    const where = this.processing.has(key) ? this.dirty : this.queued;
    const entry = where.get(key);
    if (entry === undefined) {
      where.set(key, { priority, readyAtMs, order: this.#orders++ });
      return;
    }
    const isReadyNow = entry.readyAtMs > nowMs && readyAtMs <= nowMs;
    if (isReadyNow || (priority > entry.priority && entry.readyAtMs <= nowMs)) {
      entry.order = this.#orders++;
      entry.fellDueMs = undefined;
    }
    entry.priority = Math.max(entry.priority, priority);
    entry.readyAtMs = Math.min(entry.readyAtMs, readyAtMs);
  }

  /** Those that fall due get their number then, in the order of their times. */
  elapse(fromMs: number, toMs: number): void {
    const due = [...this.queued.values()].filter(({ readyAtMs }) => readyAtMs > fromMs && readyAtMs <= toMs);
    for (const entry of due.sort((a, b) => a.readyAtMs - b.readyAtMs)) {
      entry.order = this.#orders++;
      entry.fellDueMs = entry.readyAtMs;
    }
  }

  /** Every key that may be next. */
  next(nowMs: number): readonly string[] {
    const ready = [...this.queued].filter(([, { readyAtMs }]) => readyAtMs <= nowMs);
    const [first] = ready.sort(([, a], [, b]) => b.priority - a.priority || a.order - b.order);
    if (first === undefined) return [];
    const isAsGood = (entry: Entry) =>
      entry.order === first[1].order ||
      (entry.priority === first[1].priority &&
        entry.fellDueMs !== undefined &&
        entry.fellDueMs === first[1].fellDueMs);
    return ready.filter(([, entry]) => isAsGood(entry)).map(([key]) => key);
  }

  take(key: string): void {
    this.queued.delete(key);
    this.processing.add(key);
  }

  done(key: string): void {
    this.processing.delete(key);
    const entry = this.dirty.get(key);
    this.dirty.delete(key);
    if (entry !== undefined) this.queued.set(key, { ...entry, order: this.#orders++ });
  }
}

/** Queue and model side by side; every difference is a failure. */
class Pair {
  readonly clock = new VirtualClock();
  readonly queue = new WorkQueue({ clock: this.clock, maxOvertakes: Infinity });
  readonly model = new Model();

  async run(given: Step): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (given.do === 'add') {
      this.queue.add(given.key, given);
      this.model.add(given.key, given.priority, nowMs + given.afterMs, nowMs);
    } else if (given.do === 'take') {
      await this.take();
    } else if (given.do === 'done') {
      const key = [...this.model.processing][given.at % 5] ?? '';
      this.queue.done(key);
      this.model.done(key);
    } else {
      this.model.elapse(nowMs, nowMs + given.ms);
      await this.clock.advance(given.ms);
    }
    this.check();
  }

  async take(): Promise<void> {
    const allowed = this.model.next(this.clock.monotonicMs());
    assert.equal(this.queue.activity.ready > 0, allowed.length > 0);
    if (allowed.length === 0) return;
    const key = (await this.queue.get())?.key ?? '';
    assert.ok(!this.model.processing.has(key), `${key} is in two hands`);
    assert.ok(allowed.includes(key), `${key} is not one of ${allowed.join()}`);
    this.model.take(key);
  }

  check(): void {
    const { ready, waiting, processing } = this.queue.activity;
    assert.deepEqual([ready + waiting, processing], [this.model.queued.size, this.model.processing.size]);
  }
}

describe('work queue against a model', () => {
  it('runtime/Q1: no key is in two hands, none is lost, and order is by priority, then by time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const pair = new Pair();
        for (const given of steps) await pair.run(given);
        while (pair.model.processing.size > 0) await pair.run({ do: 'done', at: 0 });
        await pair.run({ do: 'wait', ms: 100 });
        while (pair.model.queued.size > 0) {
          await pair.run({ do: 'take' });
          await pair.run({ do: 'done', at: 0 });
        }
        assert.deepEqual(pair.queue.activity, { ready: 0, waiting: 0, processing: 0 });
        assert.equal(pair.clock.nextDueMs, undefined);
      }),
      { numRuns: 150 },
    );
  });
});
