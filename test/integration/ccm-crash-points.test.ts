import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CloudController } from '../../src/cloud/cloud-controller.ts';
import { cloudControllerManager } from '../../src/cloud/index.ts';
import { isAside, withoutOrdinal } from '../../src/testing/crash-point.ts';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { acmeDefinition } from '../support/acme-definition.ts';
import {
  BALANCER_CRASHES,
  LIFECYCLE_CRASHES,
  NODE_CRASHES,
  ROUTE_CRASHES,
} from '../support/ccm-crash-scenarios.ts';

/** One for each controller; `npm run test:full` has the others, and every fault. */
const QUICK: Readonly<Record<CloudController['alias'], (typeof NODE_CRASHES)[number]>> = {
  'cloud-node': NODE_CRASHES[0],
  'cloud-node-lifecycle': LIFECYCLE_CRASHES[0],
  service: BALANCER_CRASHES[0],
  route: ROUTE_CRASHES[0],
};

const READING = new Set(['get', 'list', 'watch']);

/** The quick tier of reliability T1. */
describe('the cloud controller manager, killed anywhere', () => {
  const written = new Set<string>();

  for (const { alias } of cloudControllerManager.controllers) {
    const scenario = QUICK[alias];
    it(`reliability/P30, ccm/I2: ${scenario.name}, and a kill at any write changes nothing`, async (t) => {
      const { failures, tried, points } = await enumerateCrashPoints(scenario, { faults: ['kill-after'] });
      t.diagnostic(`${tried} runs: ${points.join()}`);
      for (const point of points) written.add(withoutOrdinal(point).split('|').slice(0, 2).join(' '));
      assert.deepEqual(failures, []);
    });
  }

  it('reliability/T1: every write that the roles allow was a point, and every change of the cloud', () => {
    const { process, accounts } = cloudControllerManager.needs(acmeDefinition(), [
      '--cluster-cidr=10.128.0.0/14',
      '--allocate-node-cidrs=true',
    ]);
    const allowed = [...process, ...[...accounts.values()].flat()]
      .filter(({ resource }) => !isAside(resource))
      .flatMap(({ verbs, resource }) =>
        verbs.filter((verb) => !READING.has(verb)).map((verb) => `${verb} ${resource}`),
      );
    const cloud = ['ensure', 'setBackends', 'remove'].map((verb) => `${verb} outside:balancer`);
    const routes = ['create', 'remove'].map((verb) => `${verb} outside:route`);
    const wanted = new Set([...allowed, ...cloud, ...routes]);
    assert.deepEqual([...written].toSorted(), [...wanted].toSorted());
  });
});
