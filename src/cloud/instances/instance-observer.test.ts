import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { InstanceObservation, InstanceRef, Instances } from '../../sdk/capabilities/instances.ts';
import { ProviderError, type ProviderErrorKind } from '../../sdk/provider/provider-error.ts';
import { InstanceObserver } from './instance-observer.ts';
import { instanceRef } from './instance-ref.ts';

const ref = (name: string): InstanceRef =>
  instanceRef({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec: {} });
const found = (name: string): InstanceObservation => ({ state: 'absent', evidence: name });
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `n${at}`);
const call = (signal: AbortSignal = new AbortController().signal) => ({ signal, log: SILENT_LOG });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Cloud {
  readonly maxBatch?: number;
  /** Names that make every call fail in which they are. */
  readonly bad?: ReadonlySet<string>;
  /** Names that get no answer. */
  readonly silent?: ReadonlySet<string>;
  readonly kind?: ProviderErrorKind;
}

/** Calls that wait until the test lets them go. */
function instancesOf({ maxBatch, bad = new Set(), silent = new Set(), kind = 'unknown' }: Cloud = {}) {
  const batches: (readonly string[])[] = [];
  const singles: string[] = [];
  const gates: (() => void)[] = [];
  const signals: AbortSignal[] = [];
  const checked = (asked: readonly string[]) => {
    const broken = asked.find((name) => bad.has(name));
    if (broken !== undefined) throw new ProviderError(kind, `cannot ask about ${broken}`);
  };
  const instances: Instances = {
    declare: () => (maxBatch === undefined ? {} : { maxBatch }),
    describe: async ({ nodeName }) => {
      singles.push(nodeName);
      await turn();
      checked([nodeName]);
      return found(nodeName);
    },
    describeMany: async (refs, { signal }) => {
      const asked = refs.map(({ nodeName }) => nodeName);
      batches.push(asked);
      signals.push(signal);
      await new Promise<void>((resolve) => gates.push(resolve));
      checked(asked);
      return new Map(asked.filter((name) => !silent.has(name)).map((name) => [name, found(name)]));
    },
  };
  const release = () => {
    for (const open of gates.splice(0)) open();
  };
  return { instances, batches, singles, signals, release };
}

/** Lets calls go until the promise is settled. */
async function through<T>(promise: Promise<T>, release: () => void): Promise<T> {
  let isDone = false;
  const ended = promise.finally(() => {
    isDone = true;
  });
  ended.catch(() => {});
  while (!isDone) {
    await turn();
    release();
  }
  return await ended;
}

describe('InstanceObserver', () => {
  it('ccm/B6: asks about all of one turn in one call', async () => {
    const { instances, batches, singles, release } = instancesOf();
    const observer = new InstanceObserver(instances, new VirtualClock());
    const all = Promise.all(names(200).map((name) => observer.observe(ref(name), call())));
    const answers = await through(all, release);
    assert.deepEqual(answers, names(200).map(found));
    assert.deepEqual([batches.length, singles.length], [1, 0]);
  });

  it('ccm/B6: collects who asks while a call is under way for the next one', async () => {
    const { instances, batches, release } = instancesOf();
    const observer = new InstanceObserver(instances, new VirtualClock());
    const first = observer.observe(ref('n0'), call());
    await turn();
    await turn();
    const others = names(5)
      .slice(1)
      .map((name) => observer.observe(ref(name), call()));
    await turn();
    await turn();
    assert.deepEqual(batches, [['n0']]);
    await through(Promise.all([first, ...others]), release);
    assert.deepEqual(batches, [['n0'], ['n1', 'n2', 'n3', 'n4']]);
  });

  it('ccm/B6: makes full batches at once, so that one that hangs does not hold up all', async () => {
    const { instances, batches } = instancesOf({ maxBatch: 2 });
    const observer = new InstanceObserver(instances, new VirtualClock());
    const stop = new AbortController();
    const all = Promise.allSettled(names(20).map((name) => observer.observe(ref(name), call(stop.signal))));
    await turn();
    await turn();
    assert.deepEqual(
      batches.map((batch) => batch.length),
      [2, 2, 2, 2],
    );
    stop.abort(new Error('stopped'));
    assert.ok((await all).every(({ status }) => status === 'rejected'));
  });

  it('ccm/B6: a call that hangs holds up who asks after it for a second, and four of them at most hang', async () => {
    const { instances, batches, release } = instancesOf();
    const clock = new VirtualClock();
    const observer = new InstanceObserver(instances, clock);
    const asked: Promise<unknown>[] = [];
    const ask = async (name: string, ms: number) => {
      asked.push(observer.observe(ref(name), call()));
      await turn();
      await turn();
      await clock.advance(ms);
    };
    await ask('n0', 0);
    await ask('n1', 999);
    assert.deepEqual(batches, [['n0']]);
    await ask('n2', 1);
    assert.deepEqual(batches, [['n0'], ['n1', 'n2']]);
    for (const name of ['n3', 'n4', 'n5', 'n6']) await ask(name, 1000);
    assert.deepEqual(batches.slice(2), [['n3'], ['n4']]);
    await through(Promise.all(asked), release);
    assert.deepEqual(batches.slice(4), [['n5', 'n6']]);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('ccm/B13: waits for nothing when everybody has left', async () => {
    const clock = new VirtualClock();
    const observer = new InstanceObserver(instancesOf().instances, clock);
    const stop = new AbortController();
    const asked: Promise<unknown>[] = [];
    for (const name of names(2)) {
      asked.push(assert.rejects(observer.observe(ref(name), call(stop.signal)), /stopped/));
      await turn();
      await turn();
    }
    assert.notEqual(clock.nextDueMs, undefined);
    stop.abort(new Error('stopped'));
    await Promise.all(asked);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('ccm/N4: a name without an answer is unknown, and not gone', async () => {
    const { instances, release } = instancesOf({ silent: new Set(['n1']) });
    const observer = new InstanceObserver(instances, new VirtualClock());
    const asked = Promise.allSettled(names(2).map((name) => observer.observe(ref(name), call())));
    const [first, second] = await through(asked, release);
    assert.equal(first?.status, 'fulfilled');
    const reason: unknown = second?.status === 'rejected' ? second.reason : undefined;
    assert.ok(reason instanceof ProviderError);
    assert.equal(reason.kind, 'unknown');
    assert.match(reason.message, /n1/);
  });

  it('ccm/N4: whatever a provider throws is a ProviderError with its cause', async () => {
    const cause = new TypeError('broken');
    const broken = { declare: () => ({}), describe: () => Promise.reject(cause) };
    const observer = new InstanceObserver(broken, new VirtualClock());
    await assert.rejects(observer.observe(ref('n0'), call()), { name: 'ProviderError', kind: 'unknown', cause });
  });

  it('ccm/N4: one machine that cannot be asked about does not hide the others for long', async () => {
    const { instances, singles, release } = instancesOf({ bad: new Set(['n1']), kind: 'invalid' });
    const observer = new InstanceObserver(instances, new VirtualClock());
    const ask = () => Promise.allSettled(names(3).map((name) => observer.observe(ref(name), call())));
    const statuses = async () => (await through(ask(), release)).map(({ status }) => status);
    assert.deepEqual(await statuses(), ['rejected', 'rejected', 'rejected']);
    assert.deepEqual(await statuses(), ['fulfilled', 'rejected', 'fulfilled']);
    assert.deepEqual(singles, ['n0', 'n1', 'n2']);
    assert.deepEqual(await statuses(), ['fulfilled', 'rejected', 'fulfilled']);
    assert.deepEqual(singles, ['n0', 'n1', 'n2', 'n1']);
  });

  it('ccm/N4: a cloud that is down is not asked about each machine alone', async () => {
    const { instances, singles, batches, release } = instancesOf({ bad: new Set(['n1']), kind: 'throttled' });
    const observer = new InstanceObserver(instances, new VirtualClock());
    for (let round = 0; round < 3; round++) {
      const asked = Promise.allSettled(names(3).map((name) => observer.observe(ref(name), call())));
      await through(asked, release);
    }
    assert.deepEqual([batches.length, singles.length], [3, 0]);
  });

  it('ccm/B13: who stops waiting leaves the others alone; the call ends when nobody waits', async () => {
    const { instances, signals, batches, release } = instancesOf();
    const observer = new InstanceObserver(instances, new VirtualClock());
    const [one, other, late] = [new AbortController(), new AbortController(), new AbortController()];
    const first = observer.observe(ref('n0'), call(one.signal));
    const second = observer.observe(ref('n1'), call(other.signal));
    await turn();
    const third = observer.observe(ref('n2'), call(late.signal));
    one.abort(new Error('first'));
    late.abort(new Error('third'));
    await assert.rejects(first, /first/);
    await assert.rejects(third, /third/);
    assert.equal(signals[0]?.aborted, false);
    other.abort(new Error('second'));
    await assert.rejects(second, /second/);
    assert.equal(signals[0]?.aborted, true);
    release();
    await turn();
    await turn();
    assert.deepEqual(batches, [['n0', 'n1']]);
    await assert.rejects(observer.observe(ref('n3'), call(other.signal)), /second/);
  });

  it('ccm/B13: leaves nothing behind at a signal that lives as long as the program', async () => {
    const { instances, release } = instancesOf({ bad: new Set(['n1']), maxBatch: 1 });
    const observer = new InstanceObserver(instances, new VirtualClock());
    const { signal } = new AbortController();
    await through(Promise.allSettled(names(3).map((name) => observer.observe(ref(name), call(signal)))), release);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('ccm/B13: remembers ten thousand names that it asks about alone, and no more', async () => {
    const { instances, batches, singles, release } = instancesOf({ bad: new Set(['n1']), kind: 'invalid' });
    const observer = new InstanceObserver(instances, new VirtualClock());
    const refs = names(10_001).map(ref);
    const ask = () => through(observer.observeMany(refs, { concurrency: 5000 }, call()), release);
    await ask();
    await ask();
    assert.deepEqual([batches.map((batch) => batch.length), singles.length], [[10_001, 1], 10_000]);
  });

  it('ccm/B6: everybody gets the right answer, in batches of at most what the cloud takes', async () => {
    const maxBatch = fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined });
    const waits = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 40 });
    const arbitrary = [maxBatch, waits, fc.nat(39), fc.nat(39)] as const;
    await fc.assert(
      fc.asyncProperty(...arbitrary, async (most, delays, bad, silent) => {
        const [broken, mute] = [`n${bad}`, `n${silent}`];
        const cloud = instancesOf({
          ...(most !== undefined && { maxBatch: most }),
          bad: new Set([broken]),
          silent: new Set([mute]),
        });
        const observer = new InstanceObserver(cloud.instances, new VirtualClock());
        const ask = async (name: string, delay: number) => {
          for (let left = delay; left > 0; left--) await turn();
          return await observer.observe(ref(name), call());
        };
        const asked = delays.map((delay, at) => ask(`n${at}`, delay));
        const results = await through(Promise.allSettled(asked), cloud.release);
        const withBroken = cloud.batches.filter((batch) => batch.includes(broken)).flat();
        for (const [at, result] of results.entries()) {
          const name = `n${at}`;
          const isLost = name === mute || withBroken.includes(name);
          assert.deepEqual(
            result,
            isLost ? { ...result, status: 'rejected' } : { status: 'fulfilled', value: found(name) },
          );
        }
        assert.ok(cloud.batches.every((batch) => batch.length <= (most ?? Number.POSITIVE_INFINITY)));
        assert.deepEqual(cloud.batches.flat().toSorted(), delays.map((_, at) => `n${at}`).toSorted());
      }),
      { numRuns: 60 },
    );
  });
});

describe('InstanceObserver.observeMany', () => {
  const observeAll = async (cloud: ReturnType<typeof instancesOf>, count: number, concurrency = 1) => {
    const observer = new InstanceObserver(cloud.instances, new VirtualClock());
    const refs = names(count).map(ref);
    return await through(observer.observeMany(refs, { concurrency }, call()), cloud.release);
  };

  it('ccm/N16: answers for every node in batches; one that fails fails only its members', async () => {
    const cloud = instancesOf({ maxBatch: 4, bad: new Set(['n5']) });
    const answers = await observeAll(cloud, 10, 2);
    assert.deepEqual(
      cloud.batches.map((batch) => batch.length),
      [4, 4, 2],
    );
    const states = names(10).map((name) => answers.get(name)?.state);
    assert.deepEqual(states, [...Array(4).fill('absent'), ...Array(4).fill('failed'), 'absent', 'absent']);
  });

  it('ccm/N16: asks one by one, so many at once, where the cloud knows no other way', async () => {
    let [now, most] = [0, 0];
    const observer = new InstanceObserver(
      {
        declare: () => ({}),
        describe: async ({ nodeName }) => {
          now++;
          most = Math.max(most, now);
          await turn();
          now--;
          if (nodeName === 'n3') throw new Error('broken');
          return found(nodeName);
        },
      },
      new VirtualClock(),
    );
    const answers = await observer.observeMany(names(10).map(ref), { concurrency: 3 }, call());
    assert.equal(most, 3);
    const failed = [...answers].filter(([, { state }]) => state === 'failed').map(([name]) => name);
    assert.deepEqual([answers.size, failed], [10, ['n3']]);
  });

  it('ccm/B13: asks no more once it is told to stop, and says so of the rest', async () => {
    const stop = new AbortController();
    const asked: string[] = [];
    const observer = new InstanceObserver(
      {
        declare: () => ({}),
        describe: ({ nodeName }) => {
          asked.push(nodeName);
          stop.abort(new Error('stopped'));
          return Promise.resolve(found(nodeName));
        },
      },
      new VirtualClock(),
    );
    const answers = await observer.observeMany(names(3).map(ref), { concurrency: 1 }, call(stop.signal));
    assert.deepEqual(asked, ['n0']);
    assert.deepEqual(
      names(3).map((name) => answers.get(name)?.state),
      ['absent', 'failed', 'failed'],
    );
  });

  it('ccm/N16: has nothing to ask for no nodes', async () => {
    const cloud = instancesOf();
    assert.equal((await observeAll(cloud, 0)).size, 0);
    assert.equal(cloud.batches.length, 0);
  });
});
