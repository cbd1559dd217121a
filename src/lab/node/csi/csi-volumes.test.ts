import assert from 'node:assert/strict';
import { access, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { type PretendDriverOptions, pretendCsiDriver } from '../../../../test/support/pretend-csi-driver.ts';
import { shortDirectory } from '../../../../test/support/short-directory.ts';
import { Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret } from '../../../api/generated/core-v1.ts';
import type { PersistentVolumeSpec, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { CSIDriver, VolumeAttachment } from '../../../api/generated/storage-v1.ts';
import type { CSIDriverSpec } from '../../../api/generated/storage-v1-types.ts';
import { SystemClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { RpcError } from '../../../rpc/rpc-error.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { attachmentName, stagingPath, targetPath, uniqueVolumeName } from './csi-paths.ts';
import { type CsiVolumesOptions, startCsiVolumes } from './csi-volumes.ts';
import { DriverStore } from './driver-store.ts';

const NODE = 'w-1';
const NAME = 'disk.csi.acme.example';
const volume = { driver: NAME, handle: 'vol-1', pv: 'pv-1', mode: 'Filesystem' } as const;
const real = new SystemClock();
const CLAIM = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };

interface RigOptions extends PretendDriverOptions {
  readonly spec?: Partial<PersistentVolumeSpec>;
  readonly driverSpec?: CSIDriverSpec;
  readonly isAttached?: boolean;
  readonly options?: Partial<CsiVolumesOptions>;
}

/** A claim that is bound to a volume, a driver that is registered, and an attachment unless told otherwise. */
async function rig({ spec, driverSpec, isAttached = true, options, ...driverOptions }: RigOptions = {}) {
  const stack = new AsyncDisposableStack();
  const env = stack.use(await TestEnv.start({ allowsForbidden: true }));
  const root = stack.use(await shortDirectory()).path;
  const driver = stack.use(await pretendCsiDriver(root, driverOptions));
  const drivers = new DriverStore({ real, log: SILENT_LOG });
  const plugin = { type: 'CSIPlugin', name: NAME, endpoint: driver.endpoint, versions: ['1.0.0'] };
  await drivers.register(plugin, AbortSignal.timeout(20_000));
  await bind(env, spec);
  if (driverSpec !== undefined) await env.client.create(CSIDriver, { metadata: { name: NAME }, spec: driverSpec });
  await env.client.create(Node, { metadata: { name: NODE } });
  if (isAttached) await attach(env);
  const start = () =>
    startCsiVolumes({ root, node: NODE, client: env.client, drivers, real, log: SILENT_LOG, ...options });
  const volumes = await start();
  const pod = (name: string, more: Partial<PodSpec> = {}) =>
    env.client.create(Pod, {
      metadata: { name, namespace: 'default' },
      spec: { nodeName: NODE, containers: [{ name: 'c', image: 'i' }], volumes: [CLAIM], ...more },
    });
  return {
    env,
    root,
    driver,
    drivers,
    plugin,
    volumes,
    start,
    pod,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function bind({ client }: TestEnv, spec: Partial<PersistentVolumeSpec> = {}): Promise<void> {
  const request = { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce' as const] };
  const claim = await client.create(PersistentVolumeClaim, {
    metadata: { name: 'data', namespace: 'default' },
    spec: { ...request, volumeName: 'pv-1' },
  });
  await client.create(PersistentVolume, {
    metadata: { name: 'pv-1' },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'default', name: 'data', uid: claim.metadata.uid ?? '' },
      csi: { driver: NAME, volumeHandle: 'vol-1', fsType: 'ext4', volumeAttributes: { kind: 'fast' } },
      ...spec,
    },
  });
  await client.updateStatus(PersistentVolumeClaim, { ...claim, status: { phase: 'Bound' } });
}

async function attach({ client }: TestEnv): Promise<void> {
  const source = { persistentVolumeName: 'pv-1' };
  const made = await client.create(VolumeAttachment, {
    metadata: { name: attachmentName(volume, NODE) },
    spec: { attacher: NAME, nodeName: NODE, source },
  });
  const status = { attached: true, attachmentMetadata: { device: '/dev/disk/by-id/lab-vol-1' } };
  await client.updateStatus(VolumeAttachment, { ...made, status });
  const node = await client.get(Node, { name: NODE });
  const volumesAttached = [{ name: uniqueVolumeName(volume), devicePath: '' }];
  await client.updateStatus(Node, { ...node, status: { ...node.status, volumesAttached } });
}

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';
const names = (calls: readonly string[]) => calls.map((call) => call.split(' ', 1)[0]);

describe('claims on a node', () => {
  it('lab/N36: are staged and then published, at the places of the kubelet, and once', async () => {
    await using one = await rig();
    const pod = await one.pod('p');
    const path = await one.volumes.setUp(pod, CLAIM);
    assert.equal(path, join(one.root, targetPath(volume, uidOf(pod))));
    await access(path);
    assert.equal(await one.volumes.setUp(pod, CLAIM), path);
    assert.deepEqual(one.driver.calls, [
      `stage ${stagingPath(volume)}`,
      `publish ${targetPath(volume, uidOf(pod))}`,
    ]);
    const volumeCapability = {
      mount: { fsType: 'ext4', mountFlags: [], volumeMountGroup: '' },
      accessMode: { mode: 'SINGLE_NODE_WRITER' },
    };
    const request = {
      volumeId: 'vol-1',
      publishContext: { device: '/dev/disk/by-id/lab-vol-1' },
      stagingTargetPath: stagingPath(volume),
      volumeCapability,
      secrets: {},
      volumeContext: { kind: 'fast' },
    };
    assert.deepEqual(one.driver.requests['stage'], request);
    assert.deepEqual(one.driver.requests['publish'], {
      ...request,
      targetPath: targetPath(volume, uidOf(pod)),
      readonly: false,
    });
  });

  it('lab/N36: are unpublished and unstaged, and nothing of them is left', async () => {
    await using one = await rig();
    const pod = await one.pod('p');
    await one.volumes.setUp(pod, CLAIM);
    one.driver.calls.length = 0;
    await one.volumes.tearDown(uidOf(pod));
    await one.volumes.tearDown(uidOf(pod));
    assert.deepEqual(names(one.driver.calls), ['unpublish', 'unstage']);
    assert.deepEqual([one.driver.staged.size, one.driver.published.size], [0, 0]);
    assert.deepEqual(
      await readdir(join(one.root, 'var/lib/kubelet/pods', uidOf(pod), 'volumes/kubernetes.io~csi')),
      [],
    );
    assert.deepEqual(await readdir(join(one.root, `var/lib/kubelet/plugins/kubernetes.io/csi/${NAME}`)), []);
    // The next pod gets it again.
    const next = await one.pod('next');
    await one.volumes.setUp(next, CLAIM);
    assert.equal(one.driver.published.size, 1);
  });

  it('lab/N36: stay staged while another pod has them', async () => {
    await using one = await rig();
    const [first, second] = [await one.pod('a'), await one.pod('b')];
    await Promise.all([one.volumes.setUp(first, CLAIM), one.volumes.setUp(second, CLAIM)]);
    assert.equal(one.driver.published.size, 2);
    await one.volumes.tearDown(uidOf(first));
    assert.equal(one.driver.staged.size, 1);
    await one.volumes.tearDown(uidOf(second));
    assert.equal(one.driver.staged.size, 0);
  });

  it('lab/N36: are known to whoever takes them away in another life', async () => {
    await using one = await rig();
    const pod = await one.pod('p');
    await one.volumes.setUp(pod, CLAIM);
    const again = await one.start();
    assert.deepEqual(again.facts(), { volumesInUse: ['kubernetes.io/csi/disk.csi.acme.example^vol-1'] });
    await again.tearDown(uidOf(pod));
    assert.deepEqual([one.driver.staged.size, one.driver.published.size], [0, 0]);
    assert.deepEqual(again.facts(), { volumesInUse: [] });
  });

  it('lab/N36: are in use from the first attempt on', async () => {
    await using one = await rig({ isAttached: false });
    const pod = await one.pod('p');
    await assert.rejects(one.volumes.setUp(pod, CLAIM));
    assert.deepEqual(one.volumes.facts().volumesInUse, [uniqueVolumeName(volume)]);
    await one.volumes.tearDown(uidOf(pod));
    assert.deepEqual([one.volumes.facts().volumesInUse, one.driver.calls], [[], []]);
  });

  it('lab/N36: wait until they are attached, and until the node was told', async () => {
    await using one = await rig({ isAttached: false });
    const pod = await one.pod('p');
    await assert.rejects(one.volumes.setUp(pod, CLAIM), {
      name: 'VolumeProblem',
      reason: 'FailedMount',
      message: /^MountVolume\.WaitForAttach failed for volume "pv-1" : /,
    });
    assert.deepEqual(one.driver.calls, []);
    await attach(one.env);
    await one.volumes.setUp(pod, CLAIM);
    assert.deepEqual(names(one.driver.calls), ['stage', 'publish']);
  });

  it('lab/N36: need no attachment when the driver says so', async () => {
    await using one = await rig({ isAttached: false, driverSpec: { attachRequired: false } });
    await one.volumes.setUp(await one.pod('p'), CLAIM);
    assert.equal(one.driver.published.size, 1);
  });

  it('lab/N36: are published without staging when the driver has none', async () => {
    await using one = await rig({ abilities: [] });
    const pod = await one.pod('p');
    await one.volumes.setUp(pod, CLAIM);
    await one.volumes.tearDown(uidOf(pod));
    assert.deepEqual(names(one.driver.calls), ['publish', 'unpublish']);
  });

  it('lab/N36: are where the driver published them, also by a link', async () => {
    await using one = await rig({ publishes: 'link' });
    const pod = await one.pod('p');
    assert.equal(await one.volumes.setUp(pod, CLAIM), join(one.root, 'var/lib/pretend/vol-1'));
    await writeFile(join(one.root, 'var/lib/pretend/vol-1/precious'), 'data');
    await one.volumes.tearDown(uidOf(pod));
    assert.equal(await readFile(join(one.root, 'var/lib/pretend/vol-1/precious'), 'utf8'), 'data');
  });

  it('lab/N36: may be a directory of the lab outside of the node, if that is allowed', async () => {
    await using outside = await shortDirectory();
    for (const realPaths of [[outside.path], undefined]) {
      const links: { root: string } = { root: '' };
      const nodePublishVolume = async ({ targetPath: target }: { targetPath: string }) => {
        await symlink(outside.path, join(links.root, target));
        return {};
      };
      await using one = await rig({
        handlers: { nodePublishVolume },
        ...(realPaths !== undefined && { options: { realPaths } }),
      });
      links.root = one.root;
      const setUp = one.volumes.setUp(await one.pod('p'), CLAIM);
      if (realPaths !== undefined) assert.equal(await setUp, outside.path);
      else await assert.rejects(setUp, { message: /published volume vol-1, but nothing is at/ });
    }
  });

  it('lab/N36: can be block devices', async () => {
    await using one = await rig({ spec: { volumeMode: 'Block' } });
    const pod = await one.pod('p');
    const block = { ...volume, mode: 'Block' } as const;
    await one.volumes.setUp(pod, CLAIM);
    assert.deepEqual(one.driver.calls, [
      `stage ${stagingPath(block)}`,
      `publish ${targetPath(block, uidOf(pod))}`,
    ]);
    const again = await one.start();
    await again.tearDown(uidOf(pod));
    assert.deepEqual([one.driver.staged.size, one.driver.published.size], [0, 0]);
  });

  it('lab/N36: bring secrets, and what the driver wants to know of the pod', async () => {
    const reference = (name: string) => ({ name, namespace: 'default' });
    await using one = await rig({
      spec: {
        csi: {
          driver: NAME,
          volumeHandle: 'vol-1',
          nodeStageSecretRef: reference('stage'),
          nodePublishSecretRef: reference('publish'),
        },
      },
      driverSpec: { podInfoOnMount: true, tokenRequests: [{ audience: 'vault' }] },
    });
    const pod = await one.pod('p', { volumes: [CLAIM], serviceAccountName: 'default' });
    await assert.rejects(one.volumes.setUp(pod, CLAIM), {
      message: /fetching NodeStageSecretRef default\/stage failed: /,
    });
    for (const name of ['stage', 'publish']) {
      const data = { password: Buffer.from(`of ${name}`).toString('base64') };
      await one.env.client.create(Secret, { metadata: reference(name), data });
    }
    await one.volumes.setUp(pod, { ...CLAIM, persistentVolumeClaim: { claimName: 'data', readOnly: true } });
    const { secrets } = one.driver.requests['stage'] as { secrets: object };
    assert.deepEqual(secrets, { password: 'of stage' });
    const published = one.driver.requests['publish'] as {
      secrets: object;
      readonly: boolean;
      volumeContext: Record<string, string>;
    };
    assert.deepEqual([published.secrets, published.readonly], [{ password: 'of publish' }, true]);
    const { 'csi.storage.k8s.io/serviceAccount.tokens': tokens = '', ...context } = published.volumeContext;
    assert.deepEqual(context, {
      'csi.storage.k8s.io/pod.name': 'p',
      'csi.storage.k8s.io/pod.namespace': 'default',
      'csi.storage.k8s.io/pod.uid': uidOf(pod),
      'csi.storage.k8s.io/serviceAccount.name': 'default',
      'csi.storage.k8s.io/ephemeral': 'false',
    });
    assert.deepEqual(Object.keys(JSON.parse(tokens)), ['vault']);
  });

  for (const { name, spoil, want } of [
    {
      name: 'there is no claim',
      spoil: ({ client }: TestEnv) => client.delete(PersistentVolumeClaim, { namespace: 'default', name: 'data' }),
      want: /error processing PVC default\/data: failed to fetch PVC from API server: .*"data" not found/,
    },
    {
      name: 'the claim is not bound',
      spoil: async ({ client }: TestEnv) => {
        const claim = await client.get(PersistentVolumeClaim, { namespace: 'default', name: 'data' });
        await client.updateStatus(PersistentVolumeClaim, { ...claim, status: { phase: 'Pending' } });
      },
      want: /unmounted volumes=\[data\], unattached volumes=\[\], failed to process volumes=\[data\]: error processing PVC default\/data: PVC is not bound/,
    },
  ]) {
    it(`lab/N36: are a problem with a sentence when ${name}`, async () => {
      await using one = await rig();
      const pod = await one.pod('p');
      const claim = await one.env.client.get(PersistentVolumeClaim, { namespace: 'default', name: 'data' });
      if ((claim.metadata.finalizers ?? []).length > 0) {
        await one.env.client.patch(
          PersistentVolumeClaim,
          { namespace: 'default', name: 'data' },
          { type: 'merge', body: { metadata: { finalizers: null } } },
        );
      }
      await spoil(one.env);
      await assert.rejects(one.volumes.setUp(pod, CLAIM), {
        name: 'VolumeProblem',
        reason: 'FailedMount',
        message: want,
      });
    });
  }

  it('lab/N36: are a problem with a sentence when the volume is of no driver at all, or of another claim', async () => {
    await using one = await rig();
    const { client } = one.env;
    const pod = await one.pod('p');
    const rest = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce' as const] };
    const bound = async (name: string, source: Partial<PersistentVolumeSpec>, isOwn: boolean) => {
      const key = { name, namespace: 'default' };
      const spec = {
        resources: { requests: { storage: '1Gi' } },
        accessModes: rest.accessModes,
        volumeName: name,
      };
      const claim = await client.create(PersistentVolumeClaim, { metadata: key, spec });
      const claimRef = { ...key, uid: isOwn ? (claim.metadata.uid ?? '') : 'another' };
      await client.create(PersistentVolume, { metadata: { name }, spec: { ...rest, ...source, claimRef } });
      await client.updateStatus(PersistentVolumeClaim, { ...claim, status: { phase: 'Bound' } });
      return { name: 'data', persistentVolumeClaim: { claimName: name } };
    };
    const path = await bound('path', { hostPath: { path: '/x' } }, true);
    await assert.rejects(one.volumes.setUp(pod, path), { message: /PV path is not of a CSI driver/ });
    const csi = { driver: NAME, volumeHandle: 'y' };
    const taken = await bound('taken', { csi }, false);
    await assert.rejects(one.volumes.setUp(pod, taken), { message: /PV taken is bound to another claim/ });
  });

  it('lab/N36: are a problem with a sentence when their driver is not here', async () => {
    await using one = await rig({
      spec: { csi: { driver: 'other.example', volumeHandle: 'x' } },
      isAttached: false,
      driverSpec: {},
    });
    const attached = { metadata: { name: 'other.example' }, spec: { attachRequired: false } };
    await one.env.client.create(CSIDriver, attached);
    await assert.rejects(one.volumes.setUp(await one.pod('p'), CLAIM), {
      message:
        'MountVolume.MountDevice failed for volume "pv-1" : driver name other.example not found in the list of registered CSI drivers',
    });
  });

  it('lab/N36: tell what the driver says, and try again', async () => {
    let answers = 0;
    const nodeStageVolume = () => {
      if (answers++ === 0) throw new RpcError('UNAVAILABLE', 'device not present yet');
      return {};
    };
    const nodePublishVolume = () => {
      throw new RpcError('INTERNAL', 'no mount');
    };
    await using one = await rig({ handlers: { nodeStageVolume, nodePublishVolume } });
    const pod = await one.pod('p');
    await assert.rejects(one.volumes.setUp(pod, CLAIM), {
      message:
        'MountVolume.MountDevice failed for volume "pv-1" : rpc error: code = Unavailable desc = device not present yet',
    });
    await assert.rejects(one.volumes.setUp(pod, CLAIM), {
      message: 'MountVolume.SetUp failed for volume "pv-1" : rpc error: code = Internal desc = no mount',
    });
    await one.volumes.tearDown(uidOf(pod));
    assert.deepEqual(names(one.driver.calls), ['unpublish', 'unstage']);
  });

  it('lab/N36: are not forgotten when the driver is away or fails', async () => {
    let isBroken = true;
    const nodeUnpublishVolume = () => {
      if (isBroken) throw new RpcError('FAILED_PRECONDITION', 'busy');
      return {};
    };
    await using one = await rig({ handlers: { nodeUnpublishVolume } });
    const pod = await one.pod('p');
    await one.volumes.setUp(pod, CLAIM);
    await assert.rejects(one.volumes.tearDown(uidOf(pod)), {
      reason: 'FailedUnmount',
      message:
        'UnmountVolume.TearDown failed for volume "pv-1" : rpc error: code = FailedPrecondition desc = busy',
    });
    await one.drivers.deregister(one.plugin);
    await assert.rejects(one.volumes.tearDown(uidOf(pod)), {
      message: /not found in the list of registered CSI drivers/,
    });
    assert.equal(one.driver.staged.size, 1);
    await one.drivers.register(one.plugin, AbortSignal.timeout(20_000));
    isBroken = false;
    one.driver.published.clear();
    await one.volumes.tearDown(uidOf(pod));
    assert.equal(one.driver.staged.size, 0);
  });

  for (const method of ['stage', 'publish', 'unpublish', 'unstage']) {
    for (const when of ['before', 'after'] as const) {
      it(`lab/N36: come to their end when the node dies ${when} the driver was asked to ${method}`, async () => {
        let isArmed = true;
        const loses = (called: string) => {
          if (!isArmed || called !== method) return undefined;
          isArmed = false;
          return when;
        };
        await using one = await rig({ loses });
        const pod = await one.pod('p');
        await one.volumes.setUp(pod, CLAIM).catch(() => {});
        const second = await one.start();
        await second.setUp(pod, CLAIM);
        assert.deepEqual([one.driver.staged.size, one.driver.published.size], [1, 1]);
        await second.tearDown(uidOf(pod)).catch(() => {});
        const third = await one.start();
        await third.tearDown(uidOf(pod));
        assert.equal(isArmed, false);
        assert.deepEqual([one.driver.staged.size, one.driver.published.size], [0, 0]);
        const left = join(one.root, `var/lib/kubelet/plugins/kubernetes.io/csi/${NAME}`);
        assert.deepEqual(await readdir(left), []);
      });
    }
  }

  it('lab/N36: go with a pod that was deleted before they were ready', async () => {
    let isArmed = true;
    const loses = (called: string) => (isArmed && called === 'stage' ? 'after' : undefined);
    await using one = await rig({ loses });
    const pod = await one.pod('p');
    await assert.rejects(one.volumes.setUp(pod, CLAIM), { message: /nobody heard it/ });
    isArmed = false;
    assert.equal(one.driver.staged.size, 1);
    await one.volumes.tearDown(uidOf(pod));
    assert.equal(one.driver.staged.size, 0);
  });

  it('lab/N36: of a pod whose record is damaged are left to people, and others go on', async () => {
    await using one = await rig();
    const [bad, good] = [await one.pod('bad'), await one.pod('good')];
    const directory = join(one.root, dirname(targetPath(volume, uidOf(bad))));
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'vol_data.json'), '{"driverName":""}');
    await one.volumes.setUp(good, CLAIM);
    const again = await one.start();
    await again.tearDown(uidOf(good));
    // Nobody knows whether the other pod still has it.
    assert.equal(one.driver.staged.size, 1);
    assert.deepEqual(again.facts().volumesInUse, [uniqueVolumeName(volume)]);
    await assert.rejects(again.tearDown(uidOf(bad)), {
      reason: 'DamagedRecord',
      message: /unmount it and remove/,
    });
  });
});
