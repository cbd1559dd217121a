import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { devicesOf } from './device.ts';
import { type ChoiceRequest, chosenDevices, poolsOf } from './device-choice.ts';

/** `a@1` is near to NUMA node 1; `a!` is not healthy. */
const devices = (text: string) =>
  devicesOf(
    text.split(' ').flatMap((one) => {
      const [, ID = '', sick, node] = /^(\w+)(!)?(?:@(\d))?$/.exec(one) ?? [];
      const topology = node === undefined ? {} : { topology: { nodes: [{ ID: BigInt(node) }] } };
      return [{ ID, health: sick === undefined ? 'Healthy' : 'Unhealthy', ...topology }];
    }),
  );

interface Case {
  readonly name: string;
  readonly has: string;
  readonly count: number;
  readonly inUse?: readonly string[];
  readonly reusable?: readonly string[];
  readonly near?: readonly bigint[];
  readonly preferred?: readonly string[];
  readonly want: readonly string[];
  /** What the plugin is asked. */
  readonly asked?: string;
}

const CASES: readonly Case[] = [
  {
    name: 'takes free healthy devices in the order of the plugin',
    has: 'a! b c d',
    count: 2,
    inUse: ['b'],
    want: ['c', 'd'],
  },
  {
    name: 'takes reusable devices first',
    has: 'a b c',
    count: 2,
    inUse: ['c'],
    reusable: ['c'],
    want: ['c', 'a'],
  },
  {
    name: 'asks nobody when reusable devices are enough',
    has: 'a b',
    count: 1,
    inUse: ['b'],
    reusable: ['b'],
    preferred: ['a'],
    want: ['b'],
  },
  {
    name: 'does not reuse what is not healthy any more',
    has: 'a b!',
    count: 1,
    inUse: ['b'],
    reusable: ['b'],
    want: ['a'],
  },
  {
    name: 'takes what the plugin prefers',
    has: 'a b c',
    count: 2,
    preferred: ['c', 'b'],
    want: ['c', 'b'],
    asked: 'a,b,c with  of 2',
  },
  {
    name: 'tops up a short answer',
    has: 'a b c',
    count: 2,
    preferred: ['c'],
    want: ['c', 'a'],
    asked: 'a,b,c with  of 2',
  },
  {
    name: 'takes an answer for a hint: nothing unknown, in use or too much',
    has: 'a b c',
    count: 1,
    inUse: ['a'],
    preferred: ['a', 'x', 'c', 'b'],
    want: ['c'],
    asked: 'b,c with  of 1',
  },
  {
    name: 'says what must be among the answer',
    has: 'a b c d',
    count: 3,
    inUse: ['d'],
    reusable: ['d'],
    preferred: ['d', 'c', 'b'],
    want: ['d', 'c', 'b'],
    asked: 'a,b,c,d with d of 3',
  },
  {
    name: 'offers only what is near when that is more than enough',
    has: 'a@0 b@1 c@1 d',
    count: 1,
    near: [1n],
    preferred: ['a', 'c'],
    want: ['c'],
    asked: 'b,c with  of 1',
  },
  {
    name: 'fills up from what is near',
    has: 'a@0 b@1 c@1 d@1',
    count: 2,
    near: [1n],
    preferred: ['d'],
    want: ['d', 'b'],
    asked: 'b,c,d with  of 2',
  },
  {
    name: 'asks nobody when what is near is just enough',
    has: 'a@0 b@1 c@1',
    count: 2,
    near: [1n],
    preferred: ['a'],
    want: ['b', 'c'],
  },
  {
    name: 'takes all that is near, then what the plugin prefers, then what is elsewhere, then what is nowhere',
    has: 'n a@0 b@1 c@0 d@0',
    count: 4,
    near: [1n],
    preferred: ['d'],
    want: ['b', 'd', 'a', 'c'],
    asked: 'n,a,c,d,b with b of 4',
  },
];

function requestOf(
  { has, count, inUse = [], reusable = [], near, preferred }: Case,
  asked: string[],
): ChoiceRequest {
  return {
    resource: 'acme.example/npu',
    count,
    devices: devices(has),
    inUse: new Set(inUse),
    reusable: new Set(reusable),
    ...(near !== undefined && { affinity: new Set(near) }),
    preference: ({ available, mustInclude, size }) => {
      if (preferred === undefined) return undefined;
      asked.push(`${available.join()} with ${mustInclude.join()} of ${size}`);
      return Promise.resolve(preferred);
    },
  };
}

describe('chosenDevices', () => {
  for (const given of CASES) {
    it(`hardware/D14: ${given.name}`, async () => {
      const asked: string[] = [];
      assert.deepEqual(await chosenDevices(requestOf(given, asked)), given.want);
      const { asked: want } = given;
      // Of the devices that are offered only the set counts.
      const sorted = (text: string) => text.replace(/^[^ ]*/, (ids) => ids.split(',').toSorted().join());
      assert.deepEqual(asked.map(sorted), want === undefined ? [] : [sorted(want)]);
    });
  }

  it('hardware/D13: refuses when there are too few, and says how many', async () => {
    const given = { name: '', has: 'a b! c', count: 2, inUse: ['a'], want: [] };
    await assert.rejects(chosenDevices(requestOf(given, [])), {
      message: 'requested number of devices unavailable for acme.example/npu. Requested: 2, Available: 1',
    });
  });

  it('hardware/D14: fails when the plugin cannot be asked', async () => {
    const request = requestOf({ name: '', has: 'a b', count: 1, want: [] }, []);
    const failing = { ...request, preference: () => Promise.reject(new Error('boom')) };
    await assert.rejects(chosenDevices(failing), {
      message: 'device plugin GetPreferredAllocation rpc failed with err: boom',
    });
  });

  it('hardware/D14: gives, whatever the plugin answers, exactly so many different healthy devices', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const some = fc.subarray(ids);
    const places = fc.array(fc.constantFrom('', '!', '@0', '@1'), { minLength: 6, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        places,
        some,
        some,
        fc.shuffledSubarray([...ids, 'x']),
        fc.integer({ min: 1, max: 4 }),
        async (...given) => {
          const [place, inUse, reusable, preferred, count] = given;
          const has = ids.map((id, index) => `${id}${place[index]}`).join(' ');
          // What may be used again is in use: by an init container of the same pod.
          const used = [...new Set([...inUse, ...reusable])];
          const request = requestOf(
            { name: '', has, count, inUse: used, reusable, near: [1n], preferred, want: [] },
            [],
          );
          const chosen = await chosenDevices(request).catch(() => undefined);
          const healthy = ids.filter((_, index) => place[index] !== '!');
          const usable = healthy.filter((id) => !used.includes(id) || reusable.includes(id));
          assert.equal(chosen !== undefined, usable.length >= count);
          assert.equal(new Set(chosen).size, chosen === undefined ? 0 : count);
          for (const id of chosen ?? []) assert.ok(usable.includes(id));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('poolsOf', () => {
  it('hardware/D18: has nothing near to anything when no device says where it is', () => {
    const pools = poolsOf(['a', 'b'], devices('a b'), new Set([0n]));
    assert.deepEqual(pools, { aligned: [], unaligned: [], noAffinity: ['a', 'b'] });
  });

  it('hardware/D14: has nothing near to anything when nobody cares', () => {
    assert.deepEqual(poolsOf(['a'], devices('a@0')), { aligned: [], unaligned: [], noAffinity: ['a'] });
  });

  it('hardware/D18: keeps those apart that are near, elsewhere and nowhere', () => {
    const pools = poolsOf(['a', 'b', 'c'], devices('a@0 b@1 c'), new Set([1n]));
    assert.deepEqual(pools, { aligned: ['b'], unaligned: ['a'], noAffinity: ['c'] });
  });
});
