import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { factsLike, type PodSketch } from '../../../../test/support/pretend-cluster.ts';
import type { FilterName } from './filter-names.ts';
import { backoffMs, SchedulingQueue } from './scheduling-queue.ts';

const named = (name: string, more: PodSketch = {}) => factsLike({ name, ...more });
const important = (name: string, priority: number) => named(name, { spec: { priority } });
const filters = (...names: readonly FilterName[]) => new Set(names);

const drained = (queue: SchedulingQueue): readonly string[] => {
  const names: string[] = [];
  for (let pod = queue.next(); pod !== undefined; pod = queue.next()) names.push(pod.pod.metadata.name);
  return names;
};

/** With one pod that was refused at 0. */
const refused = (by: ReadonlySet<FilterName>, attempts = 1): SchedulingQueue => {
  const queue = new SchedulingQueue();
  queue.track(named('p'), 0);
  queue.next();
  for (let count = 0; count < attempts; count++) queue.refused('uid-p', by, 0);
  return queue;
};

describe('the scheduling queue', () => {
  it('lab/K7: hands out the most important pod first, then the one that came first', () => {
    const queue = new SchedulingQueue();
    queue.track(named('a'), 5);
    queue.track(named('b'), 5);
    queue.track(named('early'), 1);
    queue.track(important('vip', 1000), 9);
    queue.track(important('last', -1), 0);
    assert.equal(queue.hasNext, true);
    assert.deepEqual(drained(queue), ['vip', 'early', 'a', 'b', 'last']);
    assert.equal(queue.hasNext, false);
  });

  it('lab/K7: lets a pod that comes late overtake those that are less important', () => {
    const queue = new SchedulingQueue();
    for (const name of ['a', 'b', 'c']) queue.track(named(name), 0);
    assert.equal(queue.next()?.key, 'default/a');
    queue.track(important('vip', 1), 1);
    assert.deepEqual(drained(queue), ['vip', 'b', 'c']);
  });

  it('lab/K7: lets those go first that have failed first', () => {
    const queue = new SchedulingQueue();
    for (const name of ['a', 'b', 'c']) queue.track(named(name), 0);
    drained(queue);
    for (const name of ['b', 'c', 'a']) queue.failed(`uid-${name}`, 0);
    queue.wake(1000);
    assert.deepEqual(drained(queue), ['b', 'c', 'a']);
  });

  it('hands out a pod once, however often it changes meanwhile', () => {
    const queue = new SchedulingQueue();
    queue.track(named('p'), 0);
    queue.track(named('p', { labels: { a: 'b' } }), 0);
    assert.deepEqual(queue.next()?.labels, { a: 'b' });
    queue.track(named('p', { labels: { a: 'c' } }), 0);
    assert.equal(queue.next(), undefined);
  });

  it('forgets pods that are gone, wherever they wait', () => {
    const active = new SchedulingQueue();
    active.track(named('p'), 0);
    active.remove('uid-p');
    assert.deepEqual(drained(active), []);
    const waiting = refused(filters('NodePorts'));
    waiting.remove('uid-p');
    waiting.wake(Infinity);
    assert.deepEqual(drained(waiting), []);
    waiting.refused('uid-p', filters(), 0);
    assert.equal(waiting.nextMs, undefined);
  });

  for (const [attempts, ms] of [
    [0, 0],
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [4, 8000],
    [5, 10_000],
    [60, 10_000],
  ] as const) {
    it(`lab/K7: holds a pod back for ${ms} ms after ${attempts} attempts`, () =>
      assert.equal(backoffMs(attempts), ms));
  }

  it('lab/K7: tries again after a change that may cure what was found, and not before the back-off is over', () => {
    const queue = refused(filters('NodePorts', 'TaintToleration'), 2);
    queue.cured(filters('NodeAffinity'), 500);
    assert.equal(queue.nextMs, 300_000);
    queue.cured(filters('TaintToleration'), 500);
    assert.equal(queue.next(), undefined);
    assert.equal(queue.nextMs, 2000);
    queue.wake(1999);
    assert.equal(queue.next(), undefined);
    queue.wake(2000);
    assert.deepEqual(drained(queue), ['p']);
  });

  it('lab/K7: tries again at once after a change when the last attempt is long ago', () => {
    const queue = refused(filters('NodePorts'));
    queue.cured(filters('NodePorts'), 1000);
    assert.deepEqual(drained(queue), ['p']);
  });

  it('lab/K7: takes any change for a cure where nobody has refused the pod', () => {
    const queue = refused(filters());
    queue.cured(filters(), 5000);
    assert.equal(queue.next(), undefined);
    queue.cured(filters('NodeAffinity'), 5000);
    assert.deepEqual(drained(queue), ['p']);
  });

  it('lab/K7: tries again after five minutes without any change', () => {
    const queue = refused(filters('NodePorts'));
    assert.equal(queue.nextMs, 300_000);
    queue.wake(299_999);
    assert.equal(queue.next(), undefined);
    queue.wake(300_000);
    assert.deepEqual(drained(queue), ['p']);
  });

  it('lab/K7: tries again after a back-off when something went wrong on the way', () => {
    const queue = new SchedulingQueue();
    queue.track(named('p'), 0);
    queue.next();
    queue.failed('uid-p', 100);
    assert.equal(queue.nextMs, 1100);
    queue.wake(1100);
    assert.deepEqual(drained(queue), ['p']);
  });

  it('waits no longer than it would have when the clock is set back', () => {
    const queue = new SchedulingQueue();
    queue.track(named('p'), 3_600_000);
    queue.next();
    queue.failed('uid-p', 3_600_000);
    queue.wake(5000);
    assert.equal(queue.nextMs, 6000);
    queue.wake(6000);
    assert.deepEqual(drained(queue), ['p']);
  });

  const WISHES: readonly (readonly [what: string, change: PodSketch, isAnother: boolean])[] = [
    ['its labels change', { labels: { a: 'b' } }, true],
    ['its generation changes', { metadata: { generation: 2 } }, true],
    ['only its status changes', { phase: 'Pending' }, false],
    ['only its annotations change', { metadata: { annotations: { a: 'b' } } }, false],
  ];
  for (const [what, change, isAnother] of WISHES) {
    it(`${isAnother ? 'tries a pod again' : 'leaves a pod alone'} when ${what}`, () => {
      const queue = new SchedulingQueue();
      const metadata = { generation: 1 };
      queue.track(named('p', { metadata }), 0);
      queue.next();
      queue.refused('uid-p', filters('NodePorts'), 0);
      queue.track(named('p', { ...change, metadata: { ...metadata, ...change.metadata } }), 60_000);
      assert.deepEqual(drained(queue), isAnother ? ['p'] : []);
    });
  }

  it('looks at what a pod asks for where its server does not count generations', () => {
    const queue = refused(filters('TaintToleration'));
    queue.track(named('p'), 60_000);
    assert.deepEqual(drained(queue), []);
    queue.track(named('p', { spec: { tolerations: [{ operator: 'Exists' }] } }), 60_000);
    assert.deepEqual(drained(queue), ['p']);
  });
});
