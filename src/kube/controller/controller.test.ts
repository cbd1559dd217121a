import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from '../../api/object.ts';
import { retryError, SlipwayError, userError } from '../../base/errors.ts';
import { LeadershipLost } from '../client/api-error.ts';
import { exitCodeOf } from '../manager/exit-code.ts';
import { needs } from '../rbac/need.ts';
import { Channel } from './channel.ts';
import { controllerFor, controllerOf } from './controller.ts';
import { done, Rig, WIDGET } from './controller-rig.ts';
import { after, DONE } from './reconcile.ts';
import { currentReconcile } from './reconcile-scope.ts';

const CONFIG_MAP: Kind = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
};
const reconciler = { reconcile: () => Promise.resolve(DONE) };

const gate = () => Promise.withResolvers<void>();

describe('controller: description', () => {
  it('runtime/R1: the name is the kind in lower case unless told otherwise', () => {
    assert.equal(controllerFor(WIDGET).reconcile(reconciler).name, 'widget');
    assert.equal(controllerFor(WIDGET, { name: 'widget-backup' }).reconcile(reconciler).name, 'widget-backup');
  });

  it('runtime/R1: a controller without sources or with a bad name is refused', () => {
    assert.throws(() => controllerOf('routes').reconcileKeys(() => Promise.resolve(DONE)), /has no sources/);
    assert.throws(
      () => controllerFor(WIDGET, { name: 'My Widget' }).reconcile(reconciler),
      /no name for a controller/,
    );
  });

  it('tells its kind, its sources and the rights that they, the loop and the reconciler need', () => {
    const controller = controllerFor(WIDGET)
      .owns(CONFIG_MAP)
      .watchesChannel(new Channel())
      .needs(needs(CONFIG_MAP, ['patch']))
      .reconcile(reconciler);
    assert.equal(controller.kind, WIDGET);
    assert.deepEqual(controller.sources, ['widgets.example.com', 'configmaps', 'channel']);
    assert.deepEqual(controller.needs, [
      needs(WIDGET, ['get', 'list', 'watch']),
      needs(CONFIG_MAP, ['get', 'list', 'watch']),
      needs(WIDGET, ['patch'], { subresource: 'status' }),
      // OpenShift asks for it when an owner is made to wait for what it owns.
      needs(WIDGET, ['update'], { subresource: 'finalizers' }),
      needs(CONFIG_MAP, ['patch']),
    ]);
  });

  it('runtime/B4: takes the reason for reading all objects of a kind', () => {
    const reason = 'credentials lie beside what uses them';
    const owning = controllerFor(WIDGET).owns(CONFIG_MAP, { reason }).reconcile(reconciler);
    const watching = controllerOf('routes')
      .watches(CONFIG_MAP, () => [], [], { reason })
      .reconcileKeys(() => Promise.resolve(DONE));
    for (const { needs: all } of [owning, watching]) {
      assert.deepEqual(
        all.filter(({ resource }) => resource === 'configmaps'),
        [needs(CONFIG_MAP, ['get', 'list', 'watch'], { reason })],
      );
    }
  });
});

describe('controller: start and stop', () => {
  it('runtime/R2: fails with the kinds that were not synced in time, and exit code 3', async () => {
    const rig = new Rig();
    rig.cluster.problem = '403 Forbidden';
    const { ended } = await rig.run(done, { cacheSyncTimeoutMs: 5000 });
    await rig.pass(5000);
    await assert.rejects(ended, (error) => {
      assert.ok(error instanceof SlipwayError);
      assert.match(error.message, /could not read these kinds within 5s: widgets.example.com \(403 Forbidden\)/);
      assert.equal(exitCodeOf(error), 3);
      return true;
    });
  });

  for (const warmUp of [true, false]) {
    it(`runtime/18.1: sample 19: waits without end for a kind that is not served, warm-up ${warmUp}`, async () => {
      const rig = new Rig();
      rig.cluster.problem = 'the server could not find the requested resource';
      rig.cluster.problemReason = 'NotServed';
      const { ended } = await rig.run(done, { cacheSyncTimeoutMs: 5000, warmUp });
      await rig.pass(60_000);
      assert.deepEqual(rig.said, ['warn Waiting for kinds that the API server does not serve']);
      rig.stop.abort();
      await ended;
    });
  }

  it('runtime/R2: no worker starts before every source is synced', async () => {
    const rig = new Rig();
    const other = new Rig(CONFIG_MAP);
    other.cluster.problem = 'waiting';
    rig.cluster.put({ metadata: { name: 'a' } });
    const controller = controllerFor(WIDGET, { warmUp: false })
      .watches(CONFIG_MAP, () => [], [], { cache: other.cluster.cache })
      .reconcile({ reconcile: async () => (rig.runs.push({ name: 'a', atMs: 0 }), DONE) });
    const { bound, ended } = rig.start(controller);
    await rig.rest();
    assert.deepEqual([rig.runs.length, bound.activity.ready], [0, 1]);
    rig.stop.abort();
    await ended;
  });

  it('runtime/R11: sources start before this process leads, workers only then', async () => {
    const rig = new Rig();
    rig.cluster.put({ metadata: { name: 'a' } });
    const bound = rig.widgets(done).bind(rig.environment);
    const [warmUp, leader] = bound.runnables;
    assert.deepEqual([warmUp?.group, leader?.group], ['warm-up', 'leader']);
    const warm = warmUp?.run(rig.stop.signal);
    await warmUp?.ready?.(rig.stop.signal);
    assert.deepEqual([bound.activity.ready, rig.runs.length], [1, 0]);
    const lead = leader?.run(rig.stop.signal);
    await rig.rest();
    assert.deepEqual([bound.activity.ready, rig.runs.length], [0, 1]);
    rig.stop.abort();
    await Promise.all([warm, lead]);
  });

  it('runtime/R11: a warm-up without leadership ends and lets go of its sources', async () => {
    const rig = new Rig();
    const bound = rig.widgets(done).bind(rig.environment);
    const warm = bound.runnables[0]?.run(rig.stop.signal);
    rig.stop.abort();
    await warm;
    rig.cluster.put({ metadata: { name: 'a' } });
    await rig.rest();
    assert.equal(bound.activity.ready, 0);
  });

  it('refuses to run twice', async () => {
    const rig = new Rig();
    const { bound, ended } = await rig.run(done);
    await assert.rejects(bound.runnables.at(-1)?.run(rig.stop.signal) ?? Promise.resolve(), /was started before/);
    rig.stop.abort();
    await ended;
  });

  it('lets a reconcile in flight end when the process stops, and takes no further key (sample 8)', async () => {
    const rig = new Rig();
    const open = gate();
    for (const name of ['a', 'b']) rig.cluster.put({ metadata: { name } });
    let isAborted = false;
    const { ended } = await rig.run(async (_, { signal }) => {
      await open.promise;
      isAborted = signal.aborted;
      return DONE;
    });
    rig.stop.abort();
    await rig.pass(5000);
    open.resolve();
    await ended;
    assert.deepEqual([rig.runs.map(({ name }) => name), isAborted], [['a'], false]);
  });

  it('aborts a reconcile that does not end within the grace of a stop, and blames nobody', async () => {
    const rig = new Rig();
    rig.cluster.put({ metadata: { name: 'a' } });
    const { ended } = await rig.run(async (_, { signal }) => rig.clock.sleep(1e6, signal).then(() => DONE));
    rig.stop.abort();
    await rig.pass(14_999);
    assert.equal(await rig.metric('controller_runtime_active_workers{controller="widget"}'), 1);
    await rig.pass(1);
    await ended;
    assert.deepEqual([rig.said, rig.told, rig.cluster.requests], [[], [], []]);
  });

  it('runtime/R9: a process that stops because it does not lead any more aborts its reconciles at once', async () => {
    const rig = new Rig();
    rig.cluster.put({ metadata: { name: 'a' } });
    const { ended } = await rig.run(async (_, { signal }) => rig.clock.sleep(1e6, signal).then(() => DONE));
    rig.fence.isValid = false;
    rig.stop.abort();
    await rig.pass(0);
    await ended;
    assert.deepEqual([rig.clock.monotonicMs(), rig.said], [0, []]);
  });

  it('runtime/R9: lost leadership is swallowed, and ends the workers with the process', async () => {
    const rig = new Rig();
    rig.cluster.put({ metadata: { name: 'a' } });
    const { ended } = await rig.run(() => {
      rig.fence.isValid = false;
      throw new LeadershipLost();
    });
    rig.cluster.put({ metadata: { name: 'b' } });
    await rig.pass(60_000);
    assert.equal(rig.runs.length, 1);
    assert.deepEqual([rig.said, rig.cluster.requests], [[], []]);
    rig.stop.abort();
    await ended;
  });

  it('runtime/R9: a fence that was closed for a moment, by a step of the wall clock, costs neither keys nor workers', async () => {
    const rig = new Rig();
    for (const name of ['a', 'b']) rig.cluster.put({ metadata: { name } });
    const { ended } = await rig.run(({ metadata: { name } }) => {
      if (rig.runs.length > 1) return DONE;
      rig.fence.isValid = false;
      throw new LeadershipLost(`no write for ${name}`);
    });
    assert.deepEqual(
      rig.runs.map(({ name }) => name),
      ['a'],
    );
    rig.fence.isValid = true;
    await rig.pass(1000);
    assert.deepEqual(
      rig.runs
        .slice(1)
        .map(({ name }) => name)
        .toSorted(),
      ['a', 'b'],
    );
    assert.deepEqual(rig.said, []);
    rig.stop.abort();
    await ended;
  });
});

describe('controller: context', () => {
  it('runtime/R9: gives object, client, clock, token and a log that names the object', async () => {
    const rig = new Rig();
    rig.cluster.put({ metadata: { name: 'a' } });
    await rig.run((object, { client, fencingToken, log, now, reconcileId, signal }) => {
      assert.equal(object.metadata.name, 'a');
      assert.equal(client.fieldManager, 'slipway/test/widget');
      assert.equal(fencingToken, '7');
      assert.equal(now().toISOString(), '2026-01-01T00:00:00.000Z');
      assert.equal(signal.aborted, false);
      log.info({ size: 3 }, 'Hello');
      log.child({ child: 1 }).warn({}, 'Child');
      assert.match(reconcileId, /^[0-9a-f-]{36}$/);
      return DONE;
    });
    assert.deepEqual(rig.said, ['info Hello', 'warn Child']);
    const { reconcileId, ...fields } = rig.lines.find(({ message }) => message === 'Hello')?.fields ?? {};
    assert.equal(typeof reconcileId, 'string');
    assert.deepEqual(fields, { controller: 'widget', Widget: { namespace: 'default', name: 'a' }, size: 3 });
  });

  it('runtime/O2: what runs inside of a reconcile finds its scope, and nothing outside does', async () => {
    const rig = new Rig();
    for (const name of ['a', 'b']) rig.cluster.put({ metadata: { name } });
    const seen: string[] = [];
    await rig.run(
      async (object) => {
        await rig.clock.sleep(10);
        seen.push(`${object.metadata.name} ${currentReconcile()?.controller} ${currentReconcile()?.key}`);
        return DONE;
      },
      { maxConcurrent: 2 },
    );
    await rig.pass(10);
    assert.deepEqual(seen, ['a widget default/a', 'b widget default/b']);
    assert.equal(currentReconcile(), undefined);
  });

  it('runtime/O4: a state is logged when it changes and not when it stays', async () => {
    const rig = new Rig();
    let state = 'importing';
    rig.cluster.put({ metadata: { name: 'a' } });
    await rig.run((_, { log }) => {
      log.changed('state', state, 'Image changed');
      return after(1000);
    });
    await rig.pass(3000);
    state = 'ready';
    await rig.pass(3000);
    const states = rig.lines
      .filter(({ message }) => message === 'Image changed')
      .map(({ fields }) => fields['state']);
    assert.deepEqual(states, ['importing', 'ready']);
  });
});

describe('controller of keys', () => {
  it('reconciles keys that are no objects, and retries them', async () => {
    const rig = new Rig();
    const channel = new Channel();
    const seen: string[] = [];
    const controller = controllerOf('routes')
      .watchesChannel(channel)
      .watches(WIDGET, ({ metadata }) => [{ name: `zone-${metadata.labels?.['zone']}` }])
      .needs(needs(WIDGET, ['get']))
      .reconcileKeys(async ({ name }) => {
        seen.push(name);
        if (seen.length === 1) throw retryError('Busy', 'the router is busy');
        if (name === 'bad') throw userError('Bad', 'no such router');
        return DONE;
      });
    channel.send({ name: 'early' });
    rig.cluster.put({ metadata: { name: 'a', labels: { zone: 'x' } } });
    rig.start(controller);
    await rig.rest();
    channel.send({ name: 'bad' });
    await rig.pass(5);
    assert.deepEqual(seen.toSorted(), ['bad', 'early', 'early', 'zone-x']);
    assert.deepEqual(rig.said, ['warn Reconcile failed', 'info Reconcile failed']);
    assert.deepEqual(rig.told, []);
  });
});
