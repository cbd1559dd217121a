// From the static pod of the bootstrap machine to the Deployment of the operator, with processes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Lease } from '../../src/api/generated/coordination-v1.ts';
import { type Node, Node as NodeKind, Pod } from '../../src/api/generated/core-v1.ts';
import { UNINITIALIZED } from '../../src/app/cloud/cloud-facts.ts';
import { slipwayImages } from '../../src/app/cloud/slipway-image.ts';
import { releaseImage, releaseVersion } from '../../src/app/release.ts';
import {
  BOOTSTRAP_USER,
  bootstrapFiles,
  bootstrapKubeconfig,
  renderedBootstrap,
} from '../support/bootstrap-machine.ts';
import { NodeRecord } from '../support/node-record.ts';
import { ACME, OperatorLab } from '../support/operator-lab.ts';
import { scratchDirectory } from '../support/scratch.ts';

const CONTROL_PLANE = ['m-1', 'm-2', 'm-3'];
const BOOTSTRAP_CLIENT = 'bootstrap';
/** Of the partner: it has the definition in it, which here is on this machine. */
const PARTNER_IMAGE = 'partner.invalid/acme-cloud-controller-manager:1';
const DEPLOYED_USER =
  'system:serviceaccount:openshift-acme-cloud-cloud-controller-manager:cloud-controller-manager';
const STATIC_POD = { namespace: 'kube-system', name: 'acme-cloud-cloud-controller-manager-bootstrap' };

function partnerImages() {
  const slipway = slipwayImages()[releaseImage()] ?? assert.fail('Slipway has no image');
  return { [PARTNER_IMAGE]: { ...slipway, bind: [`--provider=${ACME}`] } };
}

describe('the handover from the bootstrap machine to the cloud operator', () => {
  const things = new AsyncDisposableStack();
  let world: OperatorLab;
  let record: NodeRecord;
  before(async () => {
    world = things.use(await OperatorLab.start({ provider: 'acme-cloud', scaled: 4, images: partnerImages() }));
    record = things.use(await NodeRecord.start(world.cluster));
    await world.describeExternal();
  });
  after(() => things.disposeAsync());

  /** Who has written to these nodes, besides the nodes themselves. */
  const writersOf = (...names: readonly string[]) => {
    const isOf = (path: string) => names.some((name) => new RegExp(`/nodes/${name}(/status)?(\\?|$)`).test(path));
    const users = world.lab
      .writes()
      .filter(({ path }) => isOf(path))
      .map(({ user }) => user);
    return [...new Set(users)].filter((user) => user === BOOTSTRAP_USER || user === DEPLOYED_USER).toSorted();
  };
  const staticPod = () => world.cluster.client.find(Pod, STATIC_POD);
  const restarts = async () => (await staticPod())?.status?.containerStatuses?.[0]?.restartCount;

  it('operator/R88: the static pod that was rendered initialises the control plane, with the files of its machine alone', async () => {
    await using scratch = await scratchDirectory();
    const files = await renderedBootstrap(world.cluster, await bootstrapInput(world), scratch.path);
    assert.deepEqual([...files.keys()].toSorted(), [
      'bootstrap/acme-cloud-cloud-controller-manager-pod.yaml',
      'config/cloud.conf',
      'secrets/cloud-credentials/ACME_CLOUD_CLIENT_ID',
      'secrets/cloud-credentials/ACME_CLOUD_CLIENT_SECRET',
    ]);
    const kubeconfig = await bootstrapKubeconfig(world.cluster, world.operandAccess);
    await world.bootWith('bootstrap', bootstrapFiles(files, kubeconfig));
    await world.boot(...CONTROL_PLANE);
    for (const node of await world.untilInitialised('bootstrap', ...CONTROL_PLANE)) assertInitialised(node);
    assert.deepEqual(writersOf(...CONTROL_PLANE), [BOOTSTRAP_USER]);
    assert.equal((await staticPod())?.status?.phase, 'Running');
  });

  it('operator/R88: both may run for a while, and a node that joins then is initialised', async () => {
    await world.install({ images: { cloudControllerManagerAcmeCloud: PARTNER_IMAGE } });
    await world.apply(world.credentials());
    await world.untilAvailable(releaseVersion());
    await world.until('one of the deployed leads', async () => {
      const lease = { namespace: world.operand.namespace, name: 'cloud-controller-manager' };
      const { spec } = (await world.cluster.client.find(Lease, lease)) ?? {};
      return (spec?.holderIdentity ?? '') !== '';
    });
    await world.boot('m-between');
    for (const node of await world.untilInitialised('m-between')) assertInitialised(node);
    assert.equal(await restarts(), 0);
  });

  it('operator/R88: the Deployment finds a node as the static pod would leave it, while both run', async () => {
    // The static pod still tries, but nobody in the cloud listens to it.
    await world.lab.cloud.revoke(BOOTSTRAP_CLIENT);
    const taint = { key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' };
    const before = await world.node('m-1');
    await world.cluster.client.patch(
      NodeKind,
      { name: 'm-1' },
      { type: 'merge', body: { spec: { taints: [taint] } } },
    );
    await world.boot('m-late');
    for (const node of await world.untilInitialised('m-1', 'm-late')) assertInitialised(node);
    assert.deepEqual(writersOf('m-late'), [DEPLOYED_USER]);
    assert.deepEqual(writersOf('m-1'), [BOOTSTRAP_USER, DEPLOYED_USER]);
    assert.deepEqual((await world.node('m-1'))?.metadata.labels, before?.metadata.labels);
    assert.equal(await restarts(), 0);
  });

  it('operator/R88: without the bootstrap machine, the Deployment of the operator initialises the next node', async () => {
    await world.removeMachine('bootstrap');
    await world.boot('m-4');
    for (const node of await world.untilInitialised('m-4')) assertInitialised(node);
    assert.deepEqual(writersOf('m-4'), [DEPLOYED_USER]);
    await world.untilAvailable(releaseVersion());
  });

  it('operator/R88: no node was ever told two different things', async () => {
    const all = ['bootstrap', ...CONTROL_PLANE, 'm-4', 'm-between', 'm-late'];
    await world.until('all of them were seen', () => isDeepStrictEqual(record.initialised, all));
    assert.deepEqual(record.contradictions(), []);
    assert.deepEqual(record.relapses(), ['m-1']);
  });
});

const LABELS = [
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
];

function assertInitialised({ metadata: { name, labels = {} }, spec, status }: Node): void {
  assert.match(spec?.providerID ?? '', /^acme-cloud:\/\/[ab]\/i-[0-9a-f]{12}$/);
  for (const label of LABELS) assert.ok(Object.hasOwn(labels, label), `${name} has no ${label}`);
  const types = (status?.addresses ?? []).map(({ type }) => type);
  for (const type of ['InternalIP', 'Hostname'] as const)
    assert.ok(types.includes(type), `${name} has no ${type}`);
}

/** What an installer has when it makes the bootstrap machine. */
async function bootstrapInput(world: OperatorLab) {
  const metadata = { name: 'cloud-controller-manager-images', namespace: world.names.operatorNamespace };
  const images = JSON.stringify({ cloudControllerManagerAcmeCloud: PARTNER_IMAGE });
  return {
    images: { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'images.json': images } },
    cloudConfig: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cloud-provider-config', namespace: 'openshift-config' },
      data: { 'cloud.conf': world.cloudConfig },
    },
    // Of its own: it can be taken away from the machine alone.
    credentials: world.credentials(await world.lab.cloud.createCredential({ clientId: BOOTSTRAP_CLIENT })),
  };
}
