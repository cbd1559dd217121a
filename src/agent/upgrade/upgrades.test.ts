import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  agentCrds,
  CLUSTER,
  type ControlPlaneInput,
  cpKey,
  FakeReleases,
  getControlPlane,
  listMachines,
  NAMESPACE,
  prepare,
  provider,
  setInstall,
  shownCondition,
} from '../../../test/support/agent-control-plane-world.ts';
import {
  completed,
  partial,
  startWorkload,
  type WorkloadVersion,
} from '../../../test/support/workload-version.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import { expectNoWrites, type RecordedRequest } from '../../testing/recorder.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { WorkloadConnector } from './upgrades.ts';

const KUBECONFIG = 'kubeconfig of ocp';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Scene extends AsyncDisposable {
  readonly env: TestEnv;
  readonly workload: WorkloadVersion;
  readonly kubeconfigs: string[];
  readonly releases: FakeReleases;
  /** Instead of the workload cluster. */
  connect: WorkloadConnector | undefined;
}

/** A cluster whose API answers, although nobody has its kubeconfig yet. */
async function startEarlyScene(input: ControlPlaneInput = {}): Promise<Scene> {
  const env = await TestEnv.start({ crds: agentCrds() });
  const workload = await startWorkload(env);
  const scene: Scene = {
    env,
    workload,
    kubeconfigs: [],
    releases: new FakeReleases(),
    connect: undefined,
    [Symbol.asyncDispose]: async () => {
      await env[Symbol.asyncDispose]();
      await workload[Symbol.asyncDispose]();
    },
  };
  const connectWorkload: WorkloadConnector = async (kubeconfig) => {
    scene.kubeconfigs.push(kubeconfig);
    return scene.connect === undefined ? workload.client : scene.connect(kubeconfig);
  };
  await env.startManager({ add: provider(scene.releases, { connectWorkload }) });
  await workload.say({ desired: { version: '4.20.1', image: 'x' }, history: [partial('4.20.1')] });
  await prepare(env.client, { spec: { replicas: 1 }, ...input });
  await env.settle();
  return scene;
}

/** What assisted-service does when the installation begins. */
async function giveKubeconfig({ env }: Scene): Promise<void> {
  await env.client.create(Secret, {
    metadata: { namespace: NAMESPACE, name: 'admin' },
    data: { kubeconfig: base64(KUBECONFIG) },
  });
  const clusterMetadata = { clusterID: 'c', infraID: 'i', adminKubeconfigSecretRef: { name: 'admin' } };
  await setInstall(env.client, { debugInfo: { state: 'installing' } }, { clusterMetadata });
  await env.settle();
}

/** A cluster that is being installed, whose API answers. */
async function startScene(input: ControlPlaneInput = {}): Promise<Scene> {
  const scene = await startEarlyScene(input);
  await giveKubeconfig(scene);
  return scene;
}

const change = ({ env }: Scene, body: JsonObject) =>
  env.client.patch(OpenshiftAssistedControlPlane, cpKey, { type: 'merge', body });
const shown = async ({ env }: Scene, type = 'UpgradeCompleted') =>
  shownCondition(await getControlPlane(env.client), type);

async function installed(scene: Scene): Promise<void> {
  await scene.workload.say({ desired: { version: '4.20.1', image: 'x' }, history: [completed('4.20.1')] });
  await scene.env.advance(61_000);
}

describe('the version of a workload cluster', () => {
  it('agent/U6: the first installation is an upgrade in progress, and then complete', async () => {
    await using scene = await startScene();
    assert.deepEqual(new Set(scene.kubeconfigs), new Set([KUBECONFIG]));
    assert.equal(await shown(scene), 'False/UpgradeInProgress: upgrade to version 4.20.1 in progress');
    assert.equal((await getControlPlane(scene.env.client)).status?.distributionVersion, undefined);
    await installed(scene);
    assert.equal(await shown(scene), 'True/UpgradeCompleted');
    assert.equal((await getControlPlane(scene.env.client)).status?.distributionVersion, '4.20.1', 'agent/U2');
    assert.equal(await scene.workload.desiredUpdate(), undefined, 'agent/U4');
    await scene.env.advance(900_000);
    await expectNoWrites(scene.env.recorder, () => scene.env.advance(3_600_000));
  });

  it('agent/X1: a release goes by its version, without force, when nobody named a repository', async () => {
    await using scene = await startScene();
    await installed(scene);
    await change(scene, { spec: { distributionVersion: '4.20.2' } });
    await scene.env.settle();
    assert.deepEqual(await scene.workload.desiredUpdate(), { version: '4.20.2' });
    assert.match((await shown(scene)) ?? '', /^False\/UpgradeInProgress: upgrade to version 4\.20\.2 in progress/);
    await scene.workload.say({
      desired: { version: '4.20.2', image: 'x' },
      history: [partial('4.20.2'), completed('4.20.1')],
    });
    await scene.env.advance(61_000);
    assert.match((await shown(scene)) ?? '', /^False\/UpgradeInProgress/, 'agent/U3');
    await scene.workload.say({
      desired: { version: '4.20.2', image: 'x' },
      history: [completed('4.20.2'), completed('4.20.1')],
    });
    await scene.env.advance(61_000);
    assert.equal(await shown(scene), 'True/UpgradeCompleted');
    assert.equal((await getControlPlane(scene.env.client)).status?.distributionVersion, '4.20.2');
  });

  for (const { name, annotations, version, want } of [
    {
      name: 'a candidate',
      annotations: {},
      version: '4.21.0-rc.1',
      want: /^quay\.io\/openshift-release-dev\/ocp-release@sha256:[0-9a-f]{64}$/,
    },
    {
      name: "a release of a repository of one's own",
      annotations: { 'cluster.x-k8s.io/release-image-repository-override': 'registry.example/release' },
      version: '4.20.2',
      want: /^registry\.example\/release@sha256:[0-9a-f]{64}$/,
    },
  ])
    it(`agent/U5: ${name} goes by its digest, and by force`, async () => {
      await using scene = await startScene({ metadata: { annotations } });
      await installed(scene);
      await change(scene, { spec: { distributionVersion: version } });
      await scene.env.settle();
      const { image, force } = (await scene.workload.desiredUpdate()) as { image: string; force: boolean };
      assert.match(image, want);
      assert.equal(force, true);
    });

  it('tells a topology of the new Kubernetes when the cluster runs it, and others at once', async () => {
    for (const { version, early } of [{ version: 'v1.33.0', early: '1.33.5' }, { early: '1.34.2' }]) {
      await using scene = await startScene({ spec: { replicas: 1, ...(version !== undefined && { version }) } });
      await installed(scene);
      scene.releases.kubernetesVersion = '1.34.2';
      await change(scene, { spec: { distributionVersion: '4.20.2' } });
      await scene.env.settle();
      const shownVersion = async () => (await getControlPlane(scene.env.client)).status?.version;
      assert.equal(await shownVersion(), early);
      const history = [completed('4.20.2'), completed('4.20.1')];
      await scene.workload.say({ desired: { version: '4.20.2', image: 'y' }, history });
      await scene.env.advance(60_000);
      assert.equal(await shownVersion(), '1.34.2');
    }
  });

  it('says that a topology asks for more than the release has, and that nothing comes of it', async () => {
    await using scene = await startScene({ spec: { replicas: 1, version: 'v1.33.0' } });
    await installed(scene);
    await change(scene, { spec: { version: 'v1.34.0' } });
    await scene.env.settle();
    assert.match(
      (await shown(scene, 'UpgradeAvailable')) ?? '',
      /^False\/KubernetesVersionTooNew: spec\.version is v1/,
    );
    scene.releases.kubernetesVersion = '1.34.2';
    await change(scene, { spec: { distributionVersion: '4.20.2' } });
    await scene.env.settle();
    assert.equal(await shown(scene, 'UpgradeAvailable'), 'True/UpgradeAvailable');
  });

  it('agent/U6: an upgrade that ended without success is told, with what the cluster says', async () => {
    await using scene = await startScene();
    await installed(scene);
    await change(scene, { spec: { distributionVersion: '4.20.2' } });
    await scene.env.settle();
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    await scene.workload.say({
      desired: { version: '4.20.2', image: 'x' },
      history: [partial('4.20.2', '2026-01-01T01:00:00Z'), completed('4.20.1')],
      conditions: [
        { type: 'Available', status: 'True', reason: 'R', message: 'Done applying 4.20.1', lastTransitionTime },
        { type: 'Failing', status: 'True', reason: 'R', message: 'etcd is degraded', lastTransitionTime },
      ],
    });
    await scene.env.advance(61_000);
    assert.equal(
      await shown(scene),
      'False/UpgradeFailed: upgrade to version 4.20.2 has failed\nDone applying 4.20.1\netcd is degraded',
    );
  });

  it('agent/C11: no upgrade is tried before the kubeconfig is there, and Machines are made all the same', async () => {
    await using scene = await startEarlyScene();
    // A Secret by the right name is not enough: only the condition says that it leads to this installation.
    const early = { namespace: NAMESPACE, name: `${CLUSTER}-kubeconfig` };
    await scene.env.client.create(Secret, { metadata: early, data: { value: base64('of an earlier cluster') } });
    await change(scene, { spec: { distributionVersion: '4.20.2', replicas: 3 } });
    await scene.env.advance(120_000);
    assert.match((await shown(scene, 'KubeconfigAvailable')) ?? '', /^False\/KubeconfigUnavailable/);
    assert.deepEqual(scene.kubeconfigs, []);
    assert.equal(await shown(scene), undefined);
    assert.equal(await scene.workload.desiredUpdate(), undefined);
    assert.equal((await listMachines(scene.env.client)).length, 3, 'agent/C12');
    await scene.env.client.delete(Secret, early);
    await giveKubeconfig(scene);
    assert.deepEqual(new Set(scene.kubeconfigs), new Set([KUBECONFIG]));
    assert.match((await shown(scene)) ?? '', /^False\/UpgradeInProgress/);
    assert.deepEqual(await scene.workload.desiredUpdate(), { version: '4.20.2' });
  });

  it('agent/U1: reads the kubeconfig once, and again when it does not work', async () => {
    await using scene = await startScene();
    const isRead = ({ method, target }: RecordedRequest) =>
      method === 'GET' && target.includes('/secrets/ocp-kubeconfig');
    const reads = () => scene.env.recorder.requests.filter(isRead).length;
    const [before, connected] = [reads(), scene.kubeconfigs.length];
    await scene.env.advance(240_000);
    assert.equal(reads(), before);
    assert.ok(scene.kubeconfigs.length > connected);
    scene.connect = (kubeconfig) =>
      kubeconfig === 'new' ? Promise.resolve(scene.workload.client) : Promise.reject(new Error('Unauthorized'));
    const body = { data: { value: base64('new') } };
    await scene.env.client.patch(
      Secret,
      { namespace: NAMESPACE, name: 'ocp-kubeconfig' },
      { type: 'merge', body },
    );
    await scene.env.advance(121_000);
    assert.equal(scene.kubeconfigs.at(-1), 'new');
    assert.equal(await shown(scene), 'False/UpgradeInProgress: upgrade to version 4.20.1 in progress');
  });

  it('agent/X29: a workload cluster that does not answer holds nothing up', async () => {
    await using scene = await startScene();
    scene.connect = () => Promise.reject(new Error('connection refused'));
    await change(scene, { spec: { replicas: 3 } });
    await scene.env.settle();
    assert.equal((await listMachines(scene.env.client)).length, 3);
    assert.equal(
      await shown(scene),
      'False/WorkloadClusterUnreachable: the version of the workload cluster is not known: connection refused',
    );
    scene.connect = undefined;
    await installed(scene);
    assert.equal(await shown(scene), 'True/UpgradeCompleted');
  });

  it('agent/X29: neither does one that never answers', async () => {
    await using scene = await startScene();
    scene.connect = () => new Promise(() => {});
    await change(scene, { spec: { replicas: 2 } });
    await scene.env.advance(90_000);
    assert.equal((await listMachines(scene.env.client)).length, 2);
    assert.match((await shown(scene)) ?? '', /no answer within 15 s$/);
  });

  it('agent/X29: a cluster that was at its version and does not answer is not said to be at another', async () => {
    await using scene = await startScene();
    await installed(scene);
    scene.connect = () => Promise.reject(new Error('connection refused'));
    await change(scene, { spec: { replicas: 2 } });
    await scene.env.settle();
    assert.equal(await shown(scene), 'True/UpgradeCompleted');
  });
});
