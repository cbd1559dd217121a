import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deployment, ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, Pod } from '../../src/api/generated/core-v1.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { CHILD_RIGHTS, CHILDREN, childPod, WEB, writer } from '../support/lab-children.ts';

const USERS = {
  deployment: 'system:serviceaccount:kube-system:deployment-controller',
  replicaset: 'system:serviceaccount:kube-system:replicaset-controller',
  scheduler: 'system:kube-scheduler',
  'node/w-1': 'system:node:w-1',
} as const;

/** What counts in the end, without what chance made up. */
async function endState(lab: Lab) {
  const { client } = lab.cluster();
  const { items: deployments } = await client.list(Deployment);
  const { items: sets } = await client.list(ReplicaSet);
  const { items: pods } = await client.list(Pod, { namespace: 'default' });
  const counts = ({ status = {} }: Deployment) => [
    status.replicas,
    status.availableReplicas,
    status.updatedReplicas,
  ];
  return {
    deployments: deployments.map(counts),
    sets: sets.map(({ spec, status }) => [spec?.replicas, status?.availableReplicas]),
    pods: pods.map(({ status, metadata }) => [status?.phase, metadata.ownerReferences?.length]),
  };
}

const DONE = {
  deployments: [[3, 3, 3]],
  sets: [[3, 3]],
  pods: [1, 2, 3].map(() => ['Running', 1]),
};

async function rolledOut(lab: Lab): Promise<void> {
  const cluster = lab.cluster();
  await cluster.apply(WEB);
  await lab.until(() => cluster.rolledOut('default', 'web'), { within: '10m' });
  await lab.clock.runUntilIdle({ max: '1h', quiet: '20s' });
}

describe('crashAfter', () => {
  for (const [component, user] of Object.entries(USERS))
    it(`lab/B3: ${component} may die after every one of its writes`, async () => {
      const options = { nodes: 2, clock: 'auto', seed: 3 } as const;
      const crashes = async (write: number) => {
        await using lab = await startLab(options);
        const since = lab.mark();
        const crash = lab.crashAfter({ component, write });
        await rolledOut(lab);
        const made = lab.writes({ since }).filter((one) => one.user === user && !one.path.includes('/leases/'));
        assert.deepEqual(await endState(lab), DONE, `after write ${write} of ${component}`);
        return {
          made: made.length,
          happened: await Promise.race([crash.then(() => true), lab.settle().then(() => false)]),
        };
      };
      const { made, happened } = await crashes(1000);
      assert.equal(happened, false);
      assert.ok(made >= 3, `${component} made only ${made} writes`);
      // Events come after what they tell of: a crash between the two leaves fewer writes to make.
      let died = 0;
      for (let write = 1; write <= made; write++) died += (await crashes(write)).happened ? 1 : 0;
      assert.ok(died >= made - 2, `${died} of ${made} crashes happened`);
    });

  it('lab/B3: a child dies with its whole group before it hears of its write', async () => {
    await using lab = await startLab({ nodes: 1, images: CHILDREN, maxGraceMs: 1000 });
    const cluster = lab.cluster();
    await cluster.apply(CHILD_RIGHTS);
    const crash = lab.crashAfter({ component: 'pod/default/child', write: 3 });
    await cluster.apply(childPod('child', writer([], { CHILD_EVERY_MS: '20' })));
    await lab.clock.through(crash, 60_000);
    const isBack = async () => {
      const pod = await cluster.client.get(Pod, { namespace: 'default', name: 'child' });
      const [status] = pod.status?.containerStatuses ?? [];
      return status?.restartCount === 1 && status.state?.running !== undefined;
    };
    await lab.until(isBack, { within: '1m' });
    const { status } = await cluster.client.get(Pod, { namespace: 'default', name: 'child' });
    assert.equal(status?.containerStatuses?.[0]?.lastState?.terminated?.exitCode, 137);
    // As many as each life has written.
    const counts = async () => {
      const { items } = await cluster.client.list(ConfigMap, { namespace: 'default' });
      const lives = Object.groupBy(items, ({ data }) => data?.['pid'] ?? '');
      return Object.entries(lives).flatMap(([pid, ticks = []]) => (pid === '' ? [] : [ticks.length]));
    };
    await lab.until(async () => Math.max(...(await counts())) > 5, { within: '1m' });
    const [dead, alive, ...more] = (await counts()).toSorted((one, other) => one - other);
    assert.deepEqual([dead, more], [3, []], `the second life has written ${alive}`);
    assert.doesNotMatch(await cluster.logs({ namespace: 'default', name: 'child' }, { previous: true }), /tick 3/);
  });

  it('lab/B3: refuses what it cannot kill, and gives up with the lab', async () => {
    let crash: Promise<void>;
    {
      await using lab = await startLab({ nodes: 1, clock: 'auto', replace: { job: 'off' } });
      await assert.rejects(lab.crashAfter({ component: 'job', write: 1 }), { reason: 'UnknownComponent' });
      await assert.rejects(lab.crashAfter({ component: 'scheduler', write: 0 }), { reason: 'InvalidCrash' });
      await assert.rejects(lab.crashAfter({ component: 'scheduler', write: 1, cluster: 'x' }), {
        reason: 'UnknownCluster',
      });
      crash = lab.crashAfter({ component: 'scheduler', write: 1 });
    }
    await assert.rejects(crash, /the lab has ended before the crash/);
  });
});
