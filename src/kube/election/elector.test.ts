import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLANK, type Fault, LeaseWorld, ProcessClock } from '../../../test/support/lease-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { LEADER_PROFILES } from './election-timing.ts';
import { Elector, isLeadershipLoss } from './elector.ts';

const foreign = (renewTime: string, leaseDurationSeconds = 15) => ({
  ...BLANK,
  spec: { holderIdentity: 'other', leaseDurationSeconds, renewTime, leaseTransitions: 7 },
});

function setUp({ world = new LeaseWorld(), timing = LEADER_PROFILES.default } = {}) {
  const time = new VirtualClock();
  const clock = new ProcessClock(time);
  const faults: { next?: Fault | undefined; slowMs: number } = { slowMs: 0 };
  const lines: string[] = [];
  const notes: string[] = [];
  const events: EventRecorder = {
    normal: (_, reason, note, details) => notes.push(`${reason}/${details?.action}: ${note}`),
    warning: () => {},
  };
  const metrics = new PrometheusMetrics();
  const stop = new AbortController();
  const counted = { elected: 0 };
  const elector = new Elector({
    name: 'demo',
    identity: 'me',
    timing,
    store: world.store('me', {
      fault: () => faults.next,
      delay: () => (faults.slowMs > 0 ? clock.sleep(faults.slowMs) : clock.running()),
    }),
    clock,
    log: createLog({ level: 'info', write: (line) => lines.push(line), now: () => time.now() }),
    metrics,
    events,
    elected: () => counted.elected++,
  });
  const outcome: { error?: unknown; isDone?: boolean } = {};
  const run = () =>
    elector.run(stop.signal).then(
      () => (outcome.isDone = true),
      (error: unknown) => (outcome.error = error),
    );
  return { world, time, clock, faults, lines, notes, metrics, stop, counted, elector, outcome, run };
}

async function leading(setup = setUp()) {
  const done = setup.run();
  await setup.time.advance(0);
  assert.equal(setup.elector.isLeader, true);
  return { ...setup, done };
}

describe('Elector as a candidate', () => {
  it('runtime/E2: creates the Lease and leads, once', async () => {
    const { world, counted, elector, stop, done } = await leading();
    assert.deepEqual(world.verbs('me'), ['get', 'create']);
    assert.equal(counted.elected, 1);
    assert.deepEqual([elector.leader, elector.fence.isValid, elector.fence.token], ['me', true, '0']);
    stop.abort();
    await done;
    assert.equal(world.holder, 'me', 'stopping alone does not give the Lease away');
  });

  it('runtime/E2: waits until the record was unchanged for its duration on the own clock, then takes over at once', async () => {
    const { world, time, elector, stop, run } = setUp();
    world.put(foreign('2099-01-01T00:00:00.000000Z'));
    const done = run();
    await time.advance(8000);
    world.put(foreign('2000-01-01T00:00:00.000000Z'));
    await time.advance(14_900);
    assert.equal(elector.isLeader, false, 'the renewal started the time anew');
    assert.equal(elector.leader, 'other');
    // Seen one retry period with its jitter after the change at the latest.
    await time.advance(4400 + 100 + 200);
    assert.equal(elector.isLeader, true);
    assert.equal(elector.fence.token, '8');
    stop.abort();
    await done;
  });

  it('runtime/E2: tries once per retry period with a jitter of up to 1.2 periods', async () => {
    const { world, time, stop, run } = setUp();
    world.put(foreign('', 3600));
    const done = run();
    await time.advance(600_000);
    const gets = world.verbs('me').length;
    assert.ok(gets > 600_000 / 4400 && gets < 600_000 / 2000, `${gets} tries in ten minutes`);
    stop.abort();
    await done;
  });

  it('leads after an answer that was lost: the record says so', async () => {
    const { world, time, faults, elector, stop, run } = setUp();
    faults.next = 'lost-answer';
    const done = run();
    await time.advance(5000);
    faults.next = undefined;
    await time.advance(10_000);
    assert.deepEqual([world.holder, elector.isLeader, elector.fence.token], ['me', true, '0']);
    stop.abort();
    await done;
  });

  it('loses the race for a free Lease without noise and goes on', async () => {
    const { world, time, lines, elector, stop, run } = setUp();
    const done = run();
    world.put(foreign(''));
    await time.advance(1000);
    assert.deepEqual([elector.isLeader, world.holder, lines.length], [false, 'other', 0]);
    stop.abort();
    await done;
  });

  it('says once that the API server cannot be reached, and leads when it can', async () => {
    const { time, faults, lines, elector, stop, run } = setUp();
    faults.next = 'refused';
    const done = run();
    await time.advance(60_000);
    assert.equal(lines.length, 1, lines.join('\n'));
    assert.match(lines[0] ?? '', /Cannot get or renew the leader lease/);
    faults.next = undefined;
    await time.advance(4400);
    assert.equal(elector.isLeader, true);
    stop.abort();
    await done;
  });
});

describe('Elector as leader', () => {
  it('runtime/E3: renews every retry period with one update and no read', async () => {
    const { world, time, stop, done } = await leading();
    world.requests.length = 0;
    await time.advance(20_000);
    assert.deepEqual(
      world.verbs('me'),
      Array.from({ length: 10 }, () => 'update'),
    );
    assert.equal(world.lease?.spec?.leaseTransitions, 0);
    stop.abort();
    await done;
  });

  it('runtime/E3: reads and writes again when somebody changed the Lease, and counts it', async () => {
    const { world, time, metrics, elector, stop, done } = await leading();
    world.put({ ...(world.lease ?? BLANK), metadata: { ...BLANK.metadata, labels: { touched: 'yes' } } });
    world.requests.length = 0;
    await time.advance(2000);
    assert.deepEqual(world.verbs('me'), ['update', 'get', 'update']);
    assert.equal(elector.isLeader, true);
    assert.deepEqual(world.lease?.metadata.labels, { touched: 'yes' });
    assert.match(await metrics.text(), /leader_election_slowpath_total\{name="demo"\} 1/);
    stop.abort();
    await done;
  });

  it('makes the Lease again when somebody deleted it', async () => {
    const { world, time, elector, stop, done } = await leading();
    world.lease = undefined;
    await time.advance(2000);
    assert.deepEqual([world.holder, elector.isLeader], ['me', true]);
    stop.abort();
    await done;
  });

  for (const fault of ['refused', 'lost-request', 'lost-answer'] as const) {
    it(`runtime/E3: loses after the renew deadline, not before (${fault}); sample 9`, async () => {
      const { time, faults, elector, outcome } = await leading();
      faults.next = fault;
      await time.advance(9999);
      assert.deepEqual([elector.isLeader, elector.fence.isValid, outcome.error], [true, true, undefined]);
      await time.advance(1);
      assert.deepEqual([elector.isLeader, elector.fence.isValid], [false, false]);
      assert.ok(isLeadershipLoss(outcome.error), String(outcome.error));
      assert.match(String(outcome.error), /leader election lost: lease demo: it was not renewed within 10s/);
    });
  }

  it('reliability/P35: survives 60 s without an API server with the openshift profile', async () => {
    const { time, faults, elector, stop, done } = await leading(setUp({ timing: LEADER_PROFILES.openshift }));
    await time.advance(25_000);
    faults.next = 'refused';
    await time.advance(60_000);
    faults.next = undefined;
    await time.advance(26_000);
    assert.deepEqual([elector.isLeader, elector.fence.isValid], [true, true]);
    stop.abort();
    await done;
  });

  it('loses at once when the Lease has another holder', async () => {
    const { world, time, elector, outcome } = await leading();
    world.put(foreign(''));
    await time.advance(2000);
    assert.equal(elector.isLeader, false);
    assert.match(String(outcome.error), /other holds it now/);
  });

  it('runtime/E7: the fence counts from before the request: a slow answer buys no time', async () => {
    const { time, faults, elector } = await leading();
    faults.slowMs = 2000;
    // Sent at 2 s, in force at 4 s, answered at 6 s: whoever watches counts from 4 s at the latest.
    await time.advance(6000);
    faults.next = 'refused';
    await time.advance(12_000 - 6000 - 1);
    assert.deepEqual([elector.isLeader, elector.fence.isValid], [true, true]);
    await time.advance(1);
    assert.deepEqual([elector.isLeader, elector.fence.isValid], [false, false]);
  });

  it('runtime/E7: refuses while the event loop is blocked, before the elector has noticed', async () => {
    const { time, clock, elector, outcome } = await leading();
    clock.pause();
    await time.advance(10_000);
    assert.deepEqual([elector.isLeader, elector.fence.isValid], [true, false]);
    clock.resume();
    await time.advance(0);
    assert.equal(elector.isLeader, false);
    assert.ok(isLeadershipLoss(outcome.error));
  });

  it('refuses after a suspend that only the wall clock has seen, until the next renewal', async () => {
    const { time, clock, elector, stop, done } = await leading();
    clock.step(3_600_000);
    assert.deepEqual([elector.isLeader, elector.fence.isValid], [true, false]);
    await time.advance(2000);
    assert.deepEqual([elector.isLeader, elector.fence.isValid], [true, true]);
    stop.abort();
    await done;
  });

  for (const { stallMs, isLeader } of [
    { stallMs: 5000, isLeader: true },
    { stallMs: 5001, isLeader: false },
  ]) {
    it(`runtime/E8: a stall of ${stallMs} ms ${isLeader ? 'is borne' : 'costs the leadership'} (15 s - 10 s)`, async () => {
      const { time, clock, lines, elector, stop, outcome } = await leading();
      await time.advance(1000);
      clock.pause();
      await time.advance(1000 + stallMs);
      clock.resume();
      await time.advance(0);
      assert.equal(elector.isLeader, isLeader);
      assert.equal(
        lines.some((line) => line.includes('The event loop stood still')),
        !isLeader,
      );
      assert.equal(isLeadershipLoss(outcome.error), !isLeader);
      stop.abort();
    });
  }

  it('runtime/E9: tells of both changes by events on the Lease and by the metric', async () => {
    const { notes, metrics, elector, stop, done } = await leading();
    assert.deepEqual(notes, ['LeaderElection/BecomeLeader: me became leader']);
    assert.match(await metrics.text(), /leader_election_master_status\{name="demo"\} 1/);
    stop.abort();
    await done;
    await elector.release(new AbortController().signal);
    assert.deepEqual(notes[1], 'LeaderElection/StopLeading: me stopped leading');
    assert.match(await metrics.text(), /leader_election_master_status\{name="demo"\} 0/);
  });
});

describe('Elector.release', () => {
  const never = new AbortController().signal;

  it('runtime/E4: frees the Lease for the next one and closes the fence first', async () => {
    const { world, elector, stop, done } = await leading();
    stop.abort();
    await done;
    const releasing = elector.release(never);
    assert.equal(elector.fence.isValid, false);
    await releasing;
    const { holderIdentity, leaseDurationSeconds, leaseTransitions } = world.lease?.spec ?? {};
    assert.deepEqual([holderIdentity, leaseDurationSeconds, leaseTransitions], ['', 1, 0]);
  });

  it('runtime/E4: gives a slow server the usual time, although the fence is closed already', async () => {
    const { world, time, faults, lines, elector, stop, done } = await leading();
    stop.abort();
    await done;
    faults.slowMs = 1000;
    world.requests.length = 0;
    const releasing = elector.release(never);
    await time.advance(2000);
    await releasing;
    assert.deepEqual([world.holder, world.verbs('me')], ['', ['update']]);
    assert.deepEqual(
      lines.filter((line) => line.includes('Cannot release')),
      [],
    );
  });

  it('runtime/E4: tries again after a conflict while it is the holder', async () => {
    const { world, elector, stop, done } = await leading();
    stop.abort();
    await done;
    world.put(world.lease ?? BLANK);
    await elector.release(never);
    assert.equal(world.holder, '');
  });

  it('runtime/E4: leaves the Lease of another holder alone', async () => {
    const { world, elector, stop, done } = await leading();
    stop.abort();
    await done;
    world.put(foreign(''));
    await elector.release(never);
    assert.equal(world.holder, 'other');
  });

  it('runtime/E4: frees a Lease that it got without knowing, by an answer that was lost', async () => {
    const { world, time, faults, elector, stop, run } = setUp();
    world.put({ ...BLANK, spec: {} });
    const done = run();
    // The read is under way; the write that follows loses its answer.
    faults.next = 'lost-answer';
    await time.advance(0);
    stop.abort();
    await done;
    assert.deepEqual([world.holder, elector.isLeader], ['me', false]);
    faults.next = undefined;
    await elector.release(never);
    assert.equal(world.holder, '');
  });

  it('does nothing for a candidate that never wrote', async () => {
    const { world, time, elector, stop, run } = setUp();
    world.put(foreign(''));
    const done = run();
    await time.advance(100);
    stop.abort();
    await done;
    world.requests.length = 0;
    await elector.release(never);
    assert.deepEqual(world.requests, []);
  });

  it('gives up after five tries and leaves no timer behind', async () => {
    const { time, faults, elector, lines, stop, done } = await leading();
    stop.abort();
    await done;
    faults.next = 'refused';
    const releasing = elector.release(never);
    for (let second = 0; second < 10; second++) await time.advance(1000);
    await releasing;
    assert.equal(lines.filter((line) => line.includes('Cannot release')).length, 5);
    assert.equal(time.nextDueMs, undefined);
  });
});
