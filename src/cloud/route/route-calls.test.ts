import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../api/generated/core-v1-types.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { CloudRoute, RoutesFacts } from '../../sdk/capabilities/routes.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import type { RoutePlan } from './plan.ts';
import { RouteCalls } from './route-calls.ts';

const node = (name: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-${name}` },
  spec: {},
});
const route = (targetNode: string, destinationCIDR: string): CloudRoute => ({ targetNode, destinationCIDR });

/** Nodes n0, n1 … get their routes while those of old ones go. */
const planOf = (removals: number, creations: number): RoutePlan => ({
  remove: Array.from({ length: removals }, (_, at) => route('old', `10.1.${at}.0/24`)),
  nodes: Array.from({ length: creations }, (_, at) => ({
    node: node(`n${at}`),
    hasCidrs: true,
    create: [route(`n${at}`, `10.2.${at}.0/24`)],
  })),
});

interface Setup {
  readonly facts?: Partial<RoutesFacts>;
  readonly concurrency?: number;
}

/** Every call takes a second; `order` says when each began and ended. */
function callsOn({ facts = {}, concurrency = 200 }: Setup = {}) {
  const clock = new VirtualClock();
  const cloud = new FakeCloud();
  const order: string[] = [];
  let [running, most] = [0, 0];
  const slow =
    (verb: string) =>
    async ([one]: readonly unknown[]): Promise<void> => {
      const { destinationCIDR } = one as CloudRoute;
      order.push(`${verb} ${destinationCIDR}`);
      most = Math.max(most, ++running);
      await clock.sleep(1000);
      running--;
      order.push(`${verb} ${destinationCIDR} done`);
    };
  cloud.on('routes.create', slow('+'));
  cloud.on('routes.remove', slow('-'));
  const declared = { tracksNodeAddresses: false, ...facts };
  const routes = { ...cloud.capabilities.routes, declare: () => declared };
  const calls = new RouteCalls({ routes, cluster: 'c', tags: {}, clock, concurrency });
  const run = async (plan: RoutePlan, signal = new AbortController().signal) => {
    const ended = calls.carryOut(plan, { signal, log: SILENT_LOG });
    for (let second = 0; second < 20; second++) await clock.advance(1000);
    return await ended;
  };
  return { run, order, cloud, most: () => most };
}

describe('RouteCalls', () => {
  it('ccm/T7: removes everything before it creates anything, where routes hold addresses', async () => {
    const { run, order } = callsOn({ facts: { tracksNodeAddresses: true } });
    await run(planOf(3, 3));
    const lastRemoval = order.findLastIndex((text) => text.startsWith('-'));
    const firstCreation = order.findIndex((text) => text.startsWith('+'));
    assert.ok(lastRemoval < firstCreation, order.join());
  });

  it('ccm/T7: removes and creates together otherwise, except for one destination', async () => {
    const { run, order } = callsOn();
    const destination = '10.2.0.0/24';
    const plan = planOf(1, 1);
    await run({ ...plan, remove: [...plan.remove, route('old', destination)] });
    assert.deepEqual(order.slice(0, 2), ['- 10.1.0.0/24', `- ${destination}`]);
    assert.ok(order.indexOf(`- ${destination} done`) < order.indexOf(`+ ${destination}`));
    const together = callsOn();
    await together.run(planOf(1, 1));
    assert.deepEqual(together.order.slice(0, 2), ['- 10.1.0.0/24', '+ 10.2.0.0/24']);
  });

  it('ccm/T7, ccm/B14: makes so many calls at once as both the cloud and the user allow', async () => {
    const rows: readonly (readonly [Setup, number])[] = [
      [{}, 12],
      [{ concurrency: 3 }, 3],
      [{ facts: { maxConcurrent: 2 } }, 2],
      [{ facts: { maxConcurrent: 5 }, concurrency: 4 }, 4],
    ];
    for (const [setup, want] of rows) {
      const { run, most, cloud } = callsOn(setup);
      await run(planOf(6, 6));
      assert.deepEqual([most(), cloud.calls.length], [want, 12]);
    }
  });

  it('ccm/T7: never makes more than 200 calls at once, unless the cloud says that it may', async () => {
    const { run, most } = callsOn({ concurrency: 1000 });
    await run(planOf(0, 250));
    assert.equal(most(), 200);
  });

  it('ccm/B13: begins nothing more once it is told to stop', async () => {
    const { run, cloud } = callsOn({ concurrency: 1 });
    const stop = new AbortController();
    cloud.on('routes.remove', () => stop.abort());
    await run(planOf(2, 2), stop.signal);
    assert.equal(cloud.calls.length, 1);
  });

  it('says of each call that failed what it was for', async () => {
    const { run, cloud } = callsOn();
    cloud.on('routes.create', ([one]) => {
      if ((one as CloudRoute).targetNode === 'n1') throw new Error('no');
    });
    const failures = await run(planOf(1, 3));
    assert.deepEqual(
      failures.map(({ node: of, route: { destinationCIDR } }) => [of?.metadata.name, destinationCIDR]),
      [['n1', '10.2.1.0/24']],
    );
  });
});
