import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lease } from '../../src/api/generated/coordination-v1.ts';
import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { CHILDREN, childPod, WEB } from '../support/lab-children.ts';

/** Ready and alive as long as it answers. */
const PROBED = {
  image: 'test/sh',
  args: ['echo up $$; exec sleep 1000'],
  livenessProbe: { exec: { command: ['/bin/sh', '-c', 'exit 0'] }, periodSeconds: 60, timeoutSeconds: 5 },
  readinessProbe: { exec: { command: ['/bin/sh', '-c', 'exit 0'] }, periodSeconds: 60, timeoutSeconds: 5 },
};
/** Heartbeats, tokens that are renewed, and events that are over after an hour. */
const BACKGROUND = /\/leases\/|\/nodes\/[^/]+\/status$|\/token$|^system:apiserver DELETE .*\/events\//;
const HOUR_MS = 3_600_000;

async function picture(lab: Lab) {
  const { client } = lab.cluster();
  const { items: pods } = await client.list(Pod, { namespace: 'default' });
  const { items: nodes } = await client.list(Node);
  return {
    pods: pods.map(({ metadata, spec, status }) => ({
      uid: metadata.uid,
      node: spec.nodeName,
      phase: status?.phase,
      containers: status?.containerStatuses?.map(({ restartCount, ready, containerID }) => [
        restartCount,
        ready,
        containerID,
      ]),
    })),
    nodes: nodes.map(({ spec, status }) => ({
      taints: spec?.taints ?? [],
      ready: status?.conditions?.map(({ type, status: is, lastTransitionTime }) => [type, is, lastTransitionTime]),
    })),
  };
}

/** No older than the node lifecycle controller bears. */
async function assertFresh(lab: Lab): Promise<void> {
  const { items } = await lab.cluster().client.list(Lease, { namespace: 'kube-node-lease' });
  assert.equal(items.length, 2);
  for (const { spec, metadata } of items) {
    const ageMs = lab.clock.now().getTime() - Date.parse(spec?.renewTime ?? '');
    assert.ok(ageMs >= 0 && ageMs < 40_000, `Lease ${metadata.name} is ${ageMs} ms old`);
  }
}

function assertMonotone(lab: Lab): void {
  const times = lab.writes().map(({ at }) => at.getTime());
  const backwards = times.findIndex((time, at) => time < (times[at - 1] ?? 0));
  assert.equal(backwards, -1, 'a write is older than the one before');
}

describe('a clock that jumps by an hour', () => {
  const kinds = [
    { name: 'simulated pods', images: {}, probed: false },
    { name: 'simulated pods and a child', images: CHILDREN, probed: true },
  ];
  for (const { name, images, probed } of kinds)
    it(`lab/T5: leaves ${name} alone: no restart, no lost node, no stale Lease`, async () => {
      await using lab = await startLab({ nodes: 2, images, clock: 'auto', maxGraceMs: 500 });
      const cluster = lab.cluster();
      await cluster.apply(WEB);
      if (probed) await cluster.apply(childPod('child', PROBED));
      await lab.until(() => cluster.rolledOut('default', 'web'), { within: '5m' });
      const isReady = async () =>
        (await cluster.client.list(Pod, { namespace: 'default' })).items.every(
          ({ status }) => status?.containerStatuses?.[0]?.ready === true,
        );
      await lab.until(isReady, { within: '5m' });
      await lab.clock.advance('1m');
      const before = await picture(lab);
      const [since, startMs] = [lab.mark(), lab.clock.monotonicMs()];
      await lab.clock.advanceTo(new Date(lab.clock.now().getTime() + HOUR_MS));
      assert.ok(lab.clock.monotonicMs() - startMs >= HOUR_MS);
      assert.deepEqual(await picture(lab), before);
      await assertFresh(lab);
      assertMonotone(lab);
      const changes = lab
        .writes({ since })
        .map(({ user, method, path }) => `${user} ${method} ${path}`)
        .filter((write) => !BACKGROUND.test(write));
      assert.deepEqual(changes, [], 'nothing happened but heartbeats');
    });
});
