import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Endpoint } from '../../../api/generated/discovery-v1-types.ts';
import { MOST_ENDPOINTS, type Packed, type Packing, packing } from './packing.ts';

const endpoint = (id: number, ready = true): Endpoint => ({
  addresses: [`10.16.32.${id}`],
  conditions: { ready },
  targetRef: { kind: 'Pod', uid: `${id}` },
});
const endpoints = (from: number, count: number): readonly Endpoint[] =>
  Array.from({ length: count }, (_, at) => endpoint(from + at));
const slice = (name: string, held: readonly Endpoint[]): Packed => ({ name, endpoints: held });

let made = 0;
/** What is there once the plan is carried out. */
const applied = (slices: readonly Packed[], { update, create, remove }: Packing): readonly Packed[] => [
  ...slices
    .filter(({ name }) => !remove.includes(name))
    .map(({ name, endpoints: old }) => slice(name, update.get(name) ?? old)),
  ...create.map((held) => slice(`made-${made++}`, held)),
];

const sizes = (slices: readonly Packed[]): readonly number[] => slices.map((one) => one.endpoints.length);
const writes = ({ update, create, remove }: Packing): number => update.size + create.length + remove.length;

describe('packing', () => {
  it('lab/W31: puts no more than 100 endpoints into a slice', () => {
    assert.equal(MOST_ENDPOINTS, 100);
    assert.deepEqual(sizes(applied([], packing(endpoints(0, 250), []))), [100, 100, 50]);
    assert.deepEqual(sizes(applied([], packing(endpoints(0, 100), []))), [100]);
  });

  it('lab/W31: fills slices that are written anyway, the fullest first', () => {
    const slices = [slice('a', endpoints(0, 50)), slice('b', endpoints(100, 90)), slice('c', endpoints(200, 10))];
    const desired = [...endpoints(1, 49), ...endpoints(101, 89), ...endpoints(200, 10), ...endpoints(300, 20)];
    const plan = packing(desired, slices);
    assert.deepEqual([plan.update.size, plan.update.get('a')?.length, plan.update.get('b')?.length], [2, 58, 100]);
    assert.deepEqual([plan.create, plan.remove], [[], []]);
  });

  it('lab/W31: puts what is new together into the slice that it fills best', () => {
    const slices = [slice('a', endpoints(0, 50)), slice('b', endpoints(100, 80)), slice('c', endpoints(200, 95))];
    const desired = [...slices.flatMap((one) => one.endpoints), ...endpoints(300, 20)];
    const plan = packing(desired, slices);
    assert.deepEqual([...plan.update.keys()], ['b']);
    assert.equal(plan.create.length, 0);
  });

  it('lab/W31: makes a new slice rather than spread what is new over several', () => {
    const slices = [slice('a', endpoints(0, 90)), slice('b', endpoints(100, 90))];
    const desired = [...slices.flatMap((one) => one.endpoints), ...endpoints(300, 15)];
    const plan = packing(desired, slices);
    assert.deepEqual([plan.update.size, sizes(plan.create.map((held) => slice('', held)))], [0, [15]]);
  });

  it('lab/W31: writes a slice again for one endpoint that changed, and no other', () => {
    const slices = [slice('a', endpoints(0, 100)), slice('b', endpoints(100, 100))];
    const desired = [...endpoints(0, 150), endpoint(150, false), ...endpoints(151, 49)];
    const plan = packing(desired, slices);
    assert.deepEqual([...plan.update.keys()], ['b']);
    assert.equal(writes(plan), 1);
  });

  it('lab/W31: deletes slices that hold nothing any more, and doubles', () => {
    const slices = [slice('a', endpoints(0, 3)), slice('b', endpoints(0, 3)), slice('c', endpoints(50, 2))];
    const plan = packing(endpoints(0, 3), slices);
    assert.deepEqual([plan.remove, plan.update.size], [['b', 'c'], 0]);
  });

  it('lab/W31: takes a pod that comes again under its old address for another one', () => {
    const again = { ...endpoint(1), targetRef: { kind: 'Pod', uid: 'other' } };
    const plan = packing([again], [slice('a', [endpoint(1)])]);
    assert.deepEqual([plan.remove, plan.create], [['a'], [[again]]]);
  });

  it('lab/W31: writes slices whose labels changed', () => {
    const plan = packing(endpoints(0, 2), [{ ...slice('a', endpoints(0, 2)), isChanged: true }]);
    assert.deepEqual([...plan.update.keys()], ['a']);
  });

  const MOST = 4;
  const step = fc.uniqueArray(fc.record({ id: fc.nat(30), ready: fc.boolean() }), { selector: ({ id }) => id });

  it('lab/W31: law: every endpoint is in one slice, no slice is too full, and the second time there is nothing to do', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (history) => {
        let slices: readonly Packed[] = [];
        for (const wanted of history) {
          const desired = wanted.map(({ id, ready }) => endpoint(id, ready));
          slices = applied(slices, packing(desired, slices, MOST));
          const held = slices.flatMap((one) => one.endpoints);
          const sorted = (list: readonly Endpoint[]) => list.map((one) => JSON.stringify(one)).toSorted();
          assert.deepEqual(sorted(held), sorted(desired));
          for (const one of slices) assert.ok(one.endpoints.length > 0 && one.endpoints.length <= MOST);
          assert.equal(writes(packing(desired, slices, MOST)), 0);
        }
      }),
    );
  });

  it('lab/W31: law: nothing moves, and no more is written than what changed asks for', () => {
    fc.assert(
      fc.property(step, step, (before, after) => {
        const old = applied(
          [],
          packing(
            before.map(({ id, ready }) => endpoint(id, ready)),
            [],
            MOST,
          ),
        );
        const desired = after.map(({ id, ready }) => endpoint(id, ready));
        const plan = packing(desired, old, MOST);
        const now = applied(old, plan);
        const placeOf = (slices: readonly Packed[], id: string) =>
          slices.find((one) => one.endpoints.some(({ targetRef }) => targetRef?.uid === id))?.name;
        const stay = desired.map(({ targetRef }) => targetRef?.uid ?? '').filter((id) => placeOf(old, id));
        for (const id of stay) assert.equal(placeOf(now, id), placeOf(old, id));
        const texts = new Set(desired.map((one) => JSON.stringify(one)));
        const touched = old.filter((one) => one.endpoints.some((held) => !texts.has(JSON.stringify(held))));
        const added = desired.length - stay.length;
        assert.ok(writes(plan) <= touched.length + Math.ceil(added / MOST));
      }),
    );
  });
});
