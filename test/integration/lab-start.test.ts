import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Deployment, ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import { CronJob } from '../../src/api/generated/batch-v1.ts';
import { Node } from '../../src/api/generated/core-v1.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { connect } from '../../src/kube/transport/connection.ts';
import { startLab } from '../../src/lab/index.ts';

const web = (image: string, more = '') => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 4
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
        - name: app
          image: ${image}
${more}`;

describe('a lab on automatic time', () => {
  it('lab/B1: has its nodes ready when it starts, and leaves nothing when it ends', async () => {
    let directory = '';
    {
      await using lab = await startLab({ nodes: 3, clock: 'auto' });
      ({ directory } = lab);
      await lab.settle();
      const { items } = await lab.cluster().client.list(Node);
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name),
        ['w-1', 'w-2', 'w-3'],
      );
      const ready = items.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status);
      assert.deepEqual(ready, ['True', 'True', 'True']);
    }
    assert.equal(existsSync(directory), false);
  });

  it('lab/B1: several labs of one process do not see each other', async () => {
    await using first = await startLab({ nodes: 1, clock: 'auto' });
    await using second = await startLab({ nodes: 2, clock: 'auto' });
    const names = async (lab: typeof first) =>
      (await lab.cluster().client.list(Node)).items.map(({ metadata }) => metadata.name);
    assert.deepEqual([await names(first), await names(second)], [['w-1'], ['w-1', 'w-2']]);
    assert.notEqual(first.cluster().url, second.cluster().url);
  });

  it('lab/A5: its parts act as the users that they stand in for', async () => {
    await using lab = await startLab({ nodes: 2, clock: 'auto' });
    const cluster = lab.cluster();
    const since = lab.mark();
    await cluster.apply(web('nginx'));
    await lab.until(() => cluster.rolledOut('default', 'web'), { within: '1m' });
    const users = new Set(lab.writes({ since }).map(({ user }) => user));
    for (const user of [
      'system:serviceaccount:kube-system:deployment-controller',
      'system:serviceaccount:kube-system:replicaset-controller',
      'system:kube-scheduler',
      'system:node:w-1',
      'system:node:w-2',
    ])
      assert.ok(users.has(user), user);
    const { metadata } = await cluster.client.get(Deployment, { namespace: 'default', name: 'web' });
    assert.ok(metadata.managedFields?.some(({ manager }) => manager === 'slipway/lab/deployment'));
  });

  it('lab/A4: leaves to others what is switched off', async () => {
    await using lab = await startLab({ nodes: 1, clock: 'auto', replace: { deployment: 'off', node: 'off' } });
    const cluster = lab.cluster();
    await cluster.apply(web('nginx'));
    await lab.clock.advance(60_000);
    assert.deepEqual((await cluster.client.list(ReplicaSet)).items, []);
    assert.deepEqual((await cluster.client.list(Node)).items, []);
  });

  it('warns whoever creates what nobody acts on', async () => {
    await using lab = await startLab({ clock: 'auto' });
    const { kubeconfigPath: kubeconfigFlag } = lab.cluster();
    const [clock, log] = [new SystemClock(), SILENT_LOG];
    const access = await loadKubeconfig({ env: {}, homeDir: lab.directory, kubeconfigFlag });
    const warnings: string[] = [];
    await using connection = connect(access, { clock, log, onWarning: (text) => void warnings.push(text) });
    const client = createClient({ transport: connection.transport, fieldManager: 'test', clock, log });
    const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' as const } };
    await client.create(CronJob, {
      metadata: { namespace: 'default', name: 'nightly' },
      spec: { schedule: '0 3 * * *', jobTemplate: { spec: { template } } },
    });
    assert.deepEqual(warnings, [
      'the lab has no controller for CronJobs: the object is kept, and nothing happens to it',
    ]);
  });

  it('lab/A6: writes nothing when idle but Leases and the status of nodes every five minutes', async () => {
    await using lab = await startLab({ nodes: 2, clock: 'auto' });
    await lab.clock.advance(60_000);
    const since = lab.mark();
    await lab.clock.advance(3_600_000);
    const counts = Object.entries(
      Object.groupBy(lab.writes({ since }), ({ path }) => path.replace(/^.*\/(\w+)\/w-\d(\/\w+)?$/, '$1$2')),
    ).map(([what, writes = []]) => [what, writes.length]);
    assert.deepEqual(
      counts.toSorted((one, other) => String(one).localeCompare(String(other))),
      [
        ['leases', 720],
        ['nodes/status', 24],
      ],
    );
  });

  it('lab/B2: says why it has not happened', async () => {
    await using lab = await startLab({ nodes: 1, clock: 'auto' });
    const cluster = lab.cluster();
    await cluster.apply(web('nginx', '          resources: { requests: { cpu: "3" } }'));
    await assert.rejects(
      lab.until(() => cluster.rolledOut('default', 'web'), { within: '30s' }),
      (error: Error) => {
        assert.match(
          error.message,
          /^not within 30s of lab time: Deployment default\/web is rolled out\nDeployment/,
        );
        assert.match(error.message, /Available=False MinimumReplicasUnavailable/);
        assert.match(error.message, /0\/1 nodes are available: 1 Insufficient cpu/);
        return true;
      },
    );
  });

  it('lab/T4: does the same at the same time with the same seed', async () => {
    // What happens at one moment on several nodes goes through the file system, whose order is nobody's.
    const journal = async () => {
      await using lab = await startLab({ nodes: 2, clock: 'auto', seed: 11 });
      const cluster = lab.cluster();
      await cluster.apply(web('nginx'));
      await lab.until(() => cluster.rolledOut('default', 'web'), { within: '1m' });
      await lab.clock.advance(120_000);
      return lab
        .writes()
        .map(({ at, user, method, path }) => `${at.toISOString()} ${user} ${method} ${path}`)
        .toSorted();
    };
    assert.deepEqual(await journal(), await journal());
  });
});
