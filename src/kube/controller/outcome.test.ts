import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryError, terminalError, userError } from '../../base/errors.ts';
import { findCondition } from '../../object/conditions.ts';
import { ApiError, LeadershipLost } from '../client/api-error.ts';
import { failing, type Reconcile, Rig, WIDGET } from './controller-rig.ts';
import { OutcomeEchoes } from './outcome-echo.ts';
import { DONE } from './reconcile.ts';

const KEY = 'default/a';
const OUTCOME = 'applyStatus slipway/test/widget/outcome';
const busy = (text = 'it is busy') => retryError('Busy', text);
const bad = () => userError('Bad', 'bad size');

const withWidget = (kind = WIDGET) => {
  const rig = new Rig(kind);
  rig.cluster.put({ metadata: { name: 'a', generation: 3 } });
  return rig;
};
const edit = (rig: Rig) => {
  const object = rig.cluster.get(KEY);
  if (object !== undefined) rig.cluster.put({ ...object, metadata: { name: 'a', generation: 4 } });
};
const noted = (rig: Rig) => findCondition(rig.cluster.get(KEY), 'Ready');

describe('outcome: conditions', () => {
  it('a user error is Ready=False for the generation that was seen, told once, and written once', async () => {
    const rig = withWidget();
    await rig.run(failing(bad(), bad()));
    assert.deepEqual(rig.cluster.conditions(KEY), ['Ready=False Bad: bad size']);
    assert.equal(noted(rig)?.observedGeneration, 3);
    assert.equal(noted(rig)?.lastTransitionTime, '2026-01-01T00:00:00Z');
    await rig.pass(5000);
    edit(rig);
    await rig.rest();
    assert.equal(rig.runs.length, 2);
    assert.equal(noted(rig)?.observedGeneration, 4);
    assert.equal(noted(rig)?.lastTransitionTime, '2026-01-01T00:00:00Z');
    assert.deepEqual(rig.told, ['Bad: bad size']);
    assert.deepEqual(rig.cluster.requests, [OUTCOME, OUTCOME]);
  });

  it('a terminal error is also Stalled=True, and that goes when a retryable one follows', async () => {
    const rig = withWidget();
    await rig.run(failing(terminalError('Never', 'no such disk'), busy()));
    assert.deepEqual(rig.cluster.conditions(KEY), [
      'Ready=False Never: no such disk',
      'Stalled=True Never: no such disk',
    ]);
    edit(rig);
    await rig.rest();
    assert.deepEqual(rig.cluster.conditions(KEY), ['Ready=False Busy: it is busy']);
  });

  it('a success takes back what was shown, then costs no request any more (reliability P33)', async () => {
    const rig = withWidget();
    await rig.run(failing(busy()));
    await rig.pass(5);
    assert.deepEqual(rig.cluster.conditions(KEY), []);
    assert.deepEqual(rig.cluster.requests, [OUTCOME, `live.find ${KEY}`, OUTCOME]);
    rig.cluster.requests.length = 0;
    edit(rig);
    await rig.rest();
    assert.deepEqual([rig.runs.length, rig.cluster.requests], [3, []]);
  });

  it('takes back what a process before it showed', async () => {
    const first = withWidget();
    await first.run(failing(bad()));
    first.stop.abort();
    const second = new Rig();
    Object.assign(second, { cluster: first.cluster });
    await second.run(() => DONE);
    assert.deepEqual(first.cluster.conditions(KEY), []);
  });

  it('leaves a failure that the reconciler itself shows, and asks the server about it once', async () => {
    const rig = withWidget();
    const waiting: Reconcile = async (object, { client }) => {
      const condition = {
        type: 'Ready',
        status: 'False',
        reason: 'Importing',
        message: 'x',
        lastTransitionTime: 'x',
      };
      const config = { metadata: object.metadata, status: { conditions: [condition] } };
      await client.applyStatus(WIDGET, config);
      return { requeueAfterMs: 1000 };
    };
    await rig.run(waiting);
    await rig.pass(10_000);
    assert.deepEqual(rig.cluster.conditions(KEY), ['Ready=False Importing: x']);
    assert.equal(rig.cluster.requests.filter((request) => request.startsWith('live')).length, 1);
  });

  it('gives up what it shows when the reconciler applies the same condition without force', async () => {
    const rig = withWidget();
    let runs = 0;
    await rig.run(async (object, { client }) => {
      if (runs++ === 0) throw busy();
      const condition = { type: 'Ready', status: 'True', reason: 'Fine', message: '', lastTransitionTime: 'x' };
      await client.applyStatus(WIDGET, {
        metadata: object.metadata,
        status: { conditions: [condition] },
      } as never);
      return DONE;
    });
    await rig.pass(100);
    assert.deepEqual(rig.cluster.conditions(KEY), ['Ready=True Fine: ']);
    assert.deepEqual([rig.told, rig.said], [[], ['warn Reconcile failed']]);
  });

  it('kinds without conditions get events and lines only', async () => {
    const { hasConditions: _, ...plain } = WIDGET;
    const rig = withWidget(plain);
    await rig.run(failing(bad()));
    assert.deepEqual(
      [rig.told, rig.said, rig.cluster.requests],
      [['Bad: bad size'], ['info Reconcile failed'], []],
    );
  });
});

describe('outcome: events', () => {
  it('a retryable failure is told after the fifth in a row, once', async () => {
    const rig = withWidget();
    await rig.run(failing(...Array.from({ length: 9 }, () => busy())));
    await rig.pass(5 + 10 + 20);
    assert.deepEqual([rig.runs.length, rig.told], [4, []]);
    await rig.pass(40);
    assert.deepEqual(rig.told, ['Busy: it is busy']);
    await rig.pass(10_000);
    assert.deepEqual([rig.runs.length, rig.told], [10, ['Busy: it is busy']]);
    assert.deepEqual(rig.cluster.conditions(KEY), []);
  });

  it('a failure that the object shows already is not told again after a restart', async () => {
    const first = withWidget();
    await first.run(failing(bad()));
    first.stop.abort();
    const second = new Rig();
    Object.assign(second, { cluster: first.cluster });
    await second.run(failing(bad()));
    assert.deepEqual([second.runs.length, second.told], [1, []]);
    assert.deepEqual(first.cluster.requests, [OUTCOME]);
  });

  it('a failure after a success is told again', async () => {
    const rig = withWidget();
    let runs = 0;
    await rig.run(() => {
      if (runs++ % 2 === 0) throw bad();
      return DONE;
    });
    edit(rig);
    await rig.rest();
    rig.cluster.put({ metadata: { name: 'a', generation: 5 } });
    await rig.rest();
    assert.deepEqual(rig.told, ['Bad: bad size', 'Bad: bad size']);
  });
});

describe('outcome: its own writes', () => {
  for (const isWatchFirst of [false, true]) {
    const order = isWatchFirst ? 'before' : 'after';
    it(`do not make the object ready again when their event comes ${order} the answer`, async () => {
      const rig = withWidget();
      rig.cluster.isWatchFirst = isWatchFirst;
      await rig.run(failing(bad(), bad()));
      await rig.pass(1000);
      assert.equal(rig.runs.length, 1);
    });
  }

  it('a text that changes every time is written once a minute, and backoff holds (reliability P34)', async () => {
    const rig = withWidget();
    let count = 0;
    await rig.run(() => {
      throw busy(`try ${count++}`);
    });
    await rig.pass(50_000);
    assert.deepEqual(rig.cluster.requests, [OUTCOME]);
    assert.equal(rig.runs.length, 14);
    await rig.pass(200_000);
    assert.equal(rig.cluster.requests.length, 3);
  });

  it('that fail hide nothing: the failure is told, and the key comes back though an edit alone would help', async () => {
    const rig = withWidget();
    rig.cluster.failures.set(OUTCOME, new ApiError({ code: 500, reason: 'InternalError', message: 'etcd' }));
    await rig.run(failing(bad(), bad()));
    assert.deepEqual(rig.told, ['Bad: bad size']);
    assert.deepEqual(rig.said, ['info Reconcile failed', 'warn Could not write the outcome of a reconcile']);
    await rig.pass(5);
    assert.deepEqual(rig.cluster.conditions(KEY), ['Ready=False Bad: bad size']);
    await rig.pass(100_000);
    assert.equal(rig.runs.length, 2);
  });

  it('that keep failing are retried with growing delays', async () => {
    const rig = withWidget();
    let count = 0;
    const fails = () =>
      rig.cluster.failures.set(OUTCOME, new ApiError({ code: 403, reason: 'Forbidden', message: 'no' }));
    await rig.run(() => {
      fails();
      count++;
      throw bad();
    });
    await rig.pass(1000);
    assert.equal(count, 8);
  });

  it('come a second later when the fence was closed, and cost no worker', async () => {
    const rig = withWidget();
    rig.cluster.failures.set(OUTCOME, new LeadershipLost());
    await rig.run(() => {
      throw bad();
    });
    rig.cluster.failures.delete(OUTCOME);
    await rig.pass(999);
    assert.deepEqual([rig.runs.length, rig.said], [1, ['info Reconcile failed']]);
    await rig.pass(1);
    assert.equal(rig.runs.length, 2);
    assert.equal(rig.cluster.conditions(KEY).length, 1);
  });

  it('count a failure once when they fail as well: 5, 10, 20 ms', async () => {
    const rig = withWidget();
    let count = 0;
    await rig.run(() => {
      rig.cluster.failures.set(OUTCOME, new ApiError({ code: 403, reason: 'Forbidden', message: 'no' }));
      count++;
      throw retryError('Busy', 'later');
    });
    await rig.pass(1000);
    assert.equal(count, 8);
  });

  it('are not made by a process that does not lead any more', async () => {
    const rig = withWidget();
    await rig.run(() => {
      rig.fence.isValid = false;
      throw bad();
    });
    assert.deepEqual(rig.cluster.requests, []);
  });

  it('are not made for an object that was replaced by another of the same name', async () => {
    const rig = withWidget();
    await rig.run(() => {
      if (rig.runs.length > 1) return DONE;
      rig.cluster.put({ metadata: { name: 'a', uid: 'another' } });
      throw bad();
    });
    assert.deepEqual([rig.cluster.requests, rig.cluster.conditions(KEY)], [[], []]);
  });
});

describe('outcome echoes', () => {
  const state = (version: string, conditions: readonly object[], more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Widget',
    metadata: { name: 'a', resourceVersion: version, ...more },
    status: { conditions },
  });
  const update = (old: ReturnType<typeof state>, object: ReturnType<typeof state>) =>
    ({ type: 'update', old, object, isInInitialList: false, isFinalStateUnknown: false }) as const;
  const failed = [{ type: 'Ready', status: 'False' }];
  const rows = [
    { name: 'an echo', event: update(state('1', []), state('2', failed)), want: true },
    { name: 'another version', event: update(state('1', []), state('3', failed)), want: false },
    {
      name: 'our version together with a label',
      event: update(state('1', []), state('2', failed, { labels: { a: 'b' } })),
      want: false,
    },
    {
      name: 'our version together with another condition',
      event: update(state('1', []), state('2', [...failed, { type: 'Other' }])),
      want: false,
    },
  ];
  for (const { name, event, want } of rows)
    it(`${want ? 'drops' : 'keeps'} ${name}`, async () => {
      const echoes = new OutcomeEchoes(() => assert.fail('nothing was held'));
      assert.equal(echoes.hears('a', event), false);
      await echoes.during('a', () => Promise.resolve(state('2', failed)));
      assert.equal(echoes.hears('a', event), want);
      assert.equal(echoes.hears('a', event), false);
    });

  it('gives back an event that was held and is not ours, also when the write failed', async () => {
    for (const answer of [Promise.resolve(state('9', failed)), Promise.reject(new Error('reset'))]) {
      const back: string[] = [];
      const echoes = new OutcomeEchoes((key) => back.push(key));
      const write = echoes.during('a', async () => {
        assert.equal(echoes.hears('a', update(state('1', []), state('2', failed))), true);
        assert.equal(echoes.hears('a', update(state('2', failed), state('3', []))), false);
        return await answer;
      });
      await write.catch(() => undefined);
      assert.deepEqual(back, ['a']);
    }
  });

  it('forgets what it expects when the object is deleted', async () => {
    const echoes = new OutcomeEchoes(() => undefined);
    await echoes.during('a', () => Promise.resolve(state('2', failed)));
    echoes.hears('a', { ...update(state('1', []), state('1', [])), type: 'delete' });
    assert.equal(echoes.hears('a', update(state('1', []), state('2', failed))), false);
  });
});
