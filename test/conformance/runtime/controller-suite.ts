import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import { Event } from '../../../src/api/generated/events-v1.ts';
import { createEventRecorder } from '../../../src/kube/events/create-event-recorder.ts';
import { PrometheusMetrics } from '../../../src/kube/metrics/metrics.ts';
import { findCondition } from '../../../src/object/conditions.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import type { ManagerSetup } from '../../support/runtime-world.ts';
import { recordedLog } from '../../support/store.ts';
import { FastClock } from './cache-rig.ts';
import { FINALIZER, Hello, type HelloLog, helloController } from './hello-program.ts';

/** A controller at work (section 7), and what users see of it (10, 11). */
export const controllerSuite: RuntimeSuite = (world) => {
  before(() => world().define(Hello));

  const running = async (log: HelloLog = {}, options: ManagerSetup = {}) => {
    const namespace = await world().namespace('hello');
    const run = await world().manager({
      namespaces: [namespace],
      ...options,
      setup: (manager) => manager.add(helloController(log)),
    });
    const key = (name: string) => ({ namespace, name });
    const create = (name: string, text: string) =>
      world().client.create(Hello, { metadata: key(name), spec: { text } });
    return { ...run, namespace, key, create, [Symbol.asyncDispose]: () => run[Symbol.asyncDispose]() };
  };

  it('runtime/R3, runtime/H2: an object gets its finalizer, its child and its status, and goes when finalized', async () => {
    const finalized: string[] = [];
    await using hello = await running({ finalized: ({ metadata }) => void finalized.push(metadata.name) });
    const { client } = world();
    await hello.create('a', 'hi');
    const said = await world().state(Hello, hello.key('a'), ({ status }) => status?.said === 'hi');
    assert.deepEqual(said.metadata.finalizers, [FINALIZER]);
    const child = await client.get(ConfigMap, hello.key('a'));
    assert.deepEqual(child.data, { text: 'hi' });
    assert.equal(child.metadata.ownerReferences?.[0]?.uid, said.metadata.uid);
    await client.delete(ConfigMap, hello.key('a'));
    await world().state(ConfigMap, hello.key('a'), ({ metadata }) => metadata.uid !== child.metadata.uid);
    await client.patch(ConfigMap, hello.key('a'), { type: 'merge', body: { data: { text: 'changed' } } });
    await world().state(ConfigMap, hello.key('a'), ({ data }) => data?.['text'] === 'hi');
    await client.delete(Hello, hello.key('a'));
    await world().eventually(async () => (await client.find(Hello, hello.key('a'))) === undefined, 'it is gone');
    assert.deepEqual(finalized, ['a']);
    const managers = child.metadata.managedFields?.map(({ manager }) => manager);
    assert.deepEqual(managers, ['test-manager/hello']);
  });

  for (const { text, reason, message, stalled } of [
    {
      text: 'rude',
      reason: 'RudeText',
      message: 'spec.text is rude; write something friendly',
      stalled: undefined,
    },
    { text: 'impossible', reason: 'NoVoice', message: 'nobody here can say that', stalled: 'True' },
    {
      text: 'bug',
      reason: 'InternalError',
      message: 'the controller failed by a mistake of its own and tries again; its log has the details',
      stalled: undefined,
    },
  ]) {
    it(`runtime/R5: a failure of the kind "${text}" is shown on the object and told by an event, until it passes`, async () => {
      await using hello = await running();
      const { client } = world();
      await hello.create('f', text);
      const shown = await world().state(
        Hello,
        hello.key('f'),
        (object) => findCondition(object, 'Ready') !== undefined,
      );
      const ready = findCondition(shown, 'Ready');
      const { lastTransitionTime: _time, ...said } = ready ?? { lastTransitionTime: '' };
      const { generation: observedGeneration } = shown.metadata;
      assert.deepEqual(said, { type: 'Ready', status: 'False', reason, message, observedGeneration });
      assert.equal(findCondition(shown, 'Stalled')?.status, stalled);
      const { namespace } = hello;
      const events = async () =>
        (await client.list(Event, { namespace })).items.filter((event) => event.reason === reason);
      await world().eventually(async () => (await events()).length === 1, 'an event tells of it');
      assert.deepEqual(
        (await events()).map(({ type, note, regarding = {} }) => [type, note, regarding.name]),
        [['Warning', message, 'f']],
      );
      await client.patch(Hello, hello.key('f'), { type: 'merge', body: { spec: { text: 'hi' } } });
      await world().state(Hello, hello.key('f'), ({ status }) => status?.said === 'hi');
      await world().state(Hello, hello.key('f'), (object) => findCondition(object, 'Stalled') === undefined);
      await world().state(Hello, hello.key('f'), (object) => findCondition(object, 'Ready')?.status !== 'False');
    });
  }

  it('runtime/R5: a requeue comes without an event, and nothing is written when nothing changed', async () => {
    let runs = 0;
    await using hello = await running({ said: () => void runs++ });
    await hello.create('r', 'again');
    await world().eventually(() => runs >= 3, 'it runs again and again');
    const first = await world().client.get(ConfigMap, hello.key('r'));
    await world().eventually(() => runs >= 6, 'it runs again and again');
    const later = await world().client.get(ConfigMap, hello.key('r'));
    assert.equal(later.metadata.resourceVersion, first.metadata.resourceVersion);
  });

  it('runtime/R10: many objects, several at a time, never one twice at a time', async () => {
    const active = new Map<string, number>();
    let most = 0;
    const started = ({ metadata: { name } }: Hello) => {
      active.set(name, (active.get(name) ?? 0) + 1);
      most = Math.max(most, ...active.values());
    };
    const said = ({ metadata: { name } }: Hello) => void active.set(name, (active.get(name) ?? 0) - 1);
    await using hello = await running({ started, said }, { controllers: { maxConcurrent: 8 } });
    const names = Array.from({ length: 40 }, (_, at) => `many-${at}`);
    await Promise.all(names.map((name) => hello.create(name, name)));
    const { client } = world();
    const { namespace } = hello;
    await world().eventually(async () => {
      const { items } = await client.list(Hello, { namespace });
      return items.filter(({ spec, status }) => status?.said === spec.text).length === names.length;
    }, 'all have spoken');
    assert.equal(most, 1);
    await hello.stop();
    assert.equal(await hello.ended, undefined);
  });

  it('runtime/V2: sample 12: five events of one kind are one object, counted now and when it is quiet', async () => {
    const namespace = await world().namespace('events');
    const clock = new FastClock(240);
    await using connection = await world().connect();
    const { log } = recordedLog();
    const metrics = new PrometheusMetrics();
    const { client } = connection;
    const reporter = { controller: 'slipway.dev/test', instance: 'test-host' };
    const recorder = createEventRecorder({ client, clock, log, metrics, ...reporter });
    const stop = new AbortController();
    const ended = recorder.run(stop.signal);
    const regarding = await client.create(ConfigMap, { metadata: { namespace, name: 'w' } });
    for (let time = 0; time < 5; time++)
      recorder.warning(regarding, 'Full', 'zone b is full', { action: 'Provision' });
    await recorder.flush(480_000);
    const events = async () =>
      (await client.list(Event, { namespace })).items.filter(({ reason }) => reason === 'Full');
    const [event, ...others] = await events();
    assert.deepEqual(others, []);
    assert.ok(event !== undefined);
    const { metadata, eventTime, series, regarding: about, apiVersion: _version, kind: _kind, ...said } = event;
    assert.equal(series?.count, 2);
    const { controller: reportingController, instance: reportingInstance } = reporter;
    assert.deepEqual(said, {
      type: 'Warning',
      reason: 'Full',
      action: 'Provision',
      note: 'zone b is full',
      reportingController,
      reportingInstance,
      deprecatedSource: {},
      deprecatedFirstTimestamp: null,
      deprecatedLastTimestamp: null,
    });
    assert.equal(about?.uid, regarding.metadata.uid);
    assert.match(String(eventTime), /\.\d{6}Z$/);
    assert.match(metadata.name, /^w\.[0-9a-f]+$/);
    await world().eventually(async () => (await events())[0]?.series?.count === 5, 'the final count is written');
    stop.abort();
    await ended;
  });
};
