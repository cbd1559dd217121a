import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { adminClient } from '../../../test/support/admin-client.ts';
import { beforeCluster, type PhaseWorld, toldFailure } from '../../../test/support/journey-phases.ts';
import { scratchDirectory, until } from '../../../test/support/scratch.ts';
import { Node } from '../../api/generated/core-v1.ts';
import { Infrastructure, SINGLETON } from '../../api/openshift/config-v1.ts';
import { SystemClock } from '../../base/clock.ts';
import { clusterPhase } from './cluster-phase.ts';
import { JOURNEY_CLUSTER } from './journey-cluster.ts';

/** Time is up when the test says so. */
class JumpingClock extends SystemClock {
  aheadMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.aheadMs;
  }
}

/** What listens in this process. */
const listeners = (): number =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPServerWrap').length;

/** Resolves when the machines are there and hosts are waited for. */
const isWaiting = ({ waits }: PhaseWorld) => until(() => waits.length > 0, 'the phase waits for hosts');

const HOSTS = ['cp-0', 'cp-1', 'cp-2', 'w-0', 'w-1'];
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';

describe('the phase that installs a cluster on bare metal', () => {
  it('experience/X22: shows every host until all are nodes that wait for their cloud, and leaves nothing', async () => {
    await using folder = await scratchDirectory();
    const listening = listeners();
    await using parts = new AsyncDisposableStack();
    const world = parts.use(await beforeCluster(folder.path));
    const { context, rows, kept } = world;
    const outcome = await clusterPhase.run(context);
    const kubeconfig = '.slipway/lab/acme-lab.kubeconfig';
    assert.partialDeepStrictEqual(outcome, {
      health: 'done',
      detail: '5 of 5 hosts, OpenShift 4.20.4, no bootstrap node',
      addresses: [{ label: 'cluster', note: `kubeconfig ${kubeconfig}` }, { label: 'assisted-service' }],
      tries: [
        { text: `kubectl --kubeconfig ${kubeconfig} get nodes -o wide` },
        { text: 'npx slipway describe cluster acme-lab --kubeconfig .slipway/kubeconfig' },
      ],
    });
    const words = (host: string) =>
      rows.filter(({ path }) => path.at(-1) === host).map(({ word, health }) => `${word} ${health}`);
    for (const host of HOSTS) {
      assert.equal(words(host).at(-1), 'Done done', host);
      assert.ok(
        words(host).some((word) => word.endsWith(' working')),
        words(host).join(),
      );
    }
    const bootstraps = rows.filter(({ note }) => note === 'bootstrap').map(({ path }) => path.join(' '));
    assert.equal(new Set(bootstraps).size, 1);
    assert.match(bootstraps[0] ?? '', /^control plane cp-\d$/);
    // No bootstrap node: as many hosts were switched on as there are nodes.
    const switched = world.metal.record.map(({ name, event }) => `${name} ${event}`).toSorted();
    assert.deepEqual(
      switched,
      HOSTS.map((host) => `${host} on`),
    );

    const client = await adminClient(parts, join(folder.path, kubeconfig));
    const { items: nodes } = await client.list(Node);
    assert.deepEqual(nodes.map(({ metadata }) => metadata.name).toSorted(), HOSTS);
    for (const { spec } of nodes) assert.ok(spec?.taints?.some(({ key }) => key === UNINITIALIZED));
    const { status } = await client.get(Infrastructure, SINGLETON);
    assert.partialDeepStrictEqual(status?.platformStatus, {
      type: 'External',
      external: { cloudControllerManager: { state: 'External' } },
    });

    assert.deepEqual(
      kept.map(([name]) => name),
      ['the Kubernetes API', 'the lab'],
    );
    await parts.disposeAsync();
    assert.equal(listeners(), listening);
  });

  for (const { name, isReached } of [
    { name: 'while machines start', isReached: async () => {} },
    { name: 'while hosts are installed', isReached: isWaiting },
  ])
    it(`experience/X26: ends at once when it is interrupted ${name}, and leaves nothing`, async () => {
      await using folder = await scratchDirectory();
      const listening = listeners();
      const world = await beforeCluster(folder.path);
      const running = clusterPhase.run(world.context);
      await isReached(world);
      const stoppedMs = performance.now();
      world.stop.abort(new Error('Ctrl-C'));
      await assert.rejects(running, { message: 'Ctrl-C' });
      assert.ok(performance.now() - stoppedMs < 1000);
      await world[Symbol.asyncDispose]();
      assert.equal(listeners(), listening);
    });

  it('experience/X31: says why the installation has failed, and how to look at it', async () => {
    await using folder = await scratchDirectory();
    await using world = await beforeCluster(folder.path);
    const running = clusterPhase.run(world.context);
    await isWaiting(world);
    world.metal.faults.failInstall(JOURNEY_CLUSTER, { kind: 'error', message: 'the disks are too slow' });
    const { what, cause, next, code } = await toldFailure(clusterPhase, await running, world.context);
    assert.equal(what, 'the installation ended: the disks are too slow');
    assert.equal(cause, 'the installation is error: the disks are too slow');
    assert.deepEqual(next, [
      'while the lab runs, so without --once:',
      'npx slipway describe cluster acme-lab --kubeconfig .slipway/kubeconfig',
    ]);
    assert.equal(code, 'SW1109');
  });

  it('experience/X31: names what it waited for in vain', async () => {
    await using folder = await scratchDirectory();
    const clock = new JumpingClock();
    await using world = await beforeCluster(folder.path, { clock });
    const running = clusterPhase.run(world.context);
    await isWaiting(world);
    world.metal.faults.failRest({ status: 503 });
    clock.aheadMs = 600_000;
    const { what, cause, code } = await toldFailure(clusterPhase, await running, world.context);
    assert.match(what, /^0 of 5 hosts are installed; the installation says: /);
    assert.match(cause, /^5 of 5 hosts have not registered with assisted-service$/);
    assert.equal(code, 'SW1109');
    assert.match(world.waits.at(-1) ?? '', /^the installation is done \(.*, 0 of 5 hosts/);
  });
});
