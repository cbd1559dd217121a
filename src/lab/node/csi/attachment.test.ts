import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import type { VolumeAttachment } from '../../../api/generated/storage-v1-types.ts';
import { attachmentProblem } from './attachment.ts';
import { attachmentName, type CsiVolume, stagingPath, targetPath, uniqueVolumeName } from './csi-paths.ts';
import { volumeCapability } from './volume-capability.ts';

const volume: CsiVolume = { driver: 'd.example', handle: 'vol/1', pv: 'pvc-1', mode: 'Filesystem' };
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', uid: 'u1' }, spec: { containers: [] } };

describe('paths of CSI volumes', () => {
  const block: CsiVolume = { ...volume, mode: 'Block' };
  const csi = '/var/lib/kubelet/plugins/kubernetes.io/csi';
  for (const { name, path, want } of [
    { name: 'staged', path: stagingPath(volume), want: `${csi}/d.example/${sha('vol/1')}/globalmount` },
    { name: 'staged as a device', path: stagingPath(block), want: `${csi}/volumeDevices/staging/pvc-1` },
    {
      name: 'published',
      path: targetPath(volume, 'u1'),
      want: '/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount',
    },
    {
      name: 'published as a device',
      path: targetPath(block, 'u1'),
      want: `${csi}/volumeDevices/publish/pvc-1/u1`,
    },
  ]) {
    it(`lab/N36: are those of the kubelet for a volume that is ${name}`, () => assert.equal(path, want));
  }

  it('lab/N36: and names of attachments are those of everybody else', () => {
    assert.equal(uniqueVolumeName(volume), 'kubernetes.io/csi/d.example^vol/1');
    assert.equal(attachmentName(volume, 'w-1'), `csi-${sha('vol/1d.examplew-1')}`);
  });

  it('lead nowhere else, whatever the names are', () => {
    for (const pv of ['..', '../x', 'a/b', '', '.hidden', 'x'.repeat(254)]) {
      assert.throws(() => targetPath({ ...volume, pv }, 'u1'), { name: 'VolumeProblem' });
    }
    assert.throws(() => stagingPath({ ...volume, driver: '../..' }), { name: 'VolumeProblem' });
  });
});

describe('attachmentProblem', () => {
  const name = attachmentName(volume, 'w-1');
  const attachment = (status?: VolumeAttachment['status'], deletionTimestamp?: string): VolumeAttachment => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: { attacher: 'd.example', nodeName: 'w-1', source: {} },
    ...(status !== undefined && { status }),
  });
  const node = (...names: readonly string[]): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'w-1' },
    spec: {},
    status: { volumesAttached: names.map((one) => ({ name: one, devicePath: '' })) },
  });
  const there = node('kubernetes.io/csi/d.example^vol/1');
  const wait = 'FailedMount MountVolume.WaitForAttach failed for volume "pvc-1" : ';
  for (const given of [
    {
      name: 'nobody attaches it',
      attachment: undefined,
      node: there,
      want: `${wait}volume vol/1 has GET error for volume attachment ${name}: volumeattachments.storage.k8s.io "${name}" not found`,
    },
    {
      name: 'it is not attached yet',
      attachment: attachment(),
      node: there,
      want: `${wait}volume vol/1 is not attached for volume attachment ${name}`,
    },
    {
      name: 'it cannot be attached',
      attachment: attachment({ attached: false, attachError: { message: 'rpc error: no room' } }),
      node: there,
      want: 'FailedAttachVolume AttachVolume.Attach failed for volume "pvc-1" : rpc error: no room',
    },
    {
      name: 'it is being detached',
      attachment: attachment({ attached: true }, '2030-01-01T00:00:00Z'),
      node: there,
      want: `${wait}volume attachment is being deleted`,
    },
    {
      name: 'the node was not told yet',
      attachment: attachment({ attached: true }),
      node: node('kubernetes.io/csi/d.example^other'),
      want:
        'FailedMount Volume not attached according to node status for volume "pvc-1" ' +
        '(UniqueName: "kubernetes.io/csi/d.example^vol/1") pod "p" (UID: "u1")',
    },
    {
      name: 'there is no Node',
      attachment: attachment({ attached: true }),
      node: undefined,
      want: /not attached according to node status/,
    },
    {
      name: 'it is attached, an old failure or not',
      attachment: attachment({ attached: true, attachError: { message: 'earlier' } }),
      node: there,
      want: '',
    },
  ]) {
    it(`lab/N36: says what is missing when ${given.name}`, () => {
      const problem = attachmentProblem({
        volume,
        pod,
        nodeName: 'w-1',
        attachment: given.attachment,
        node: given.node,
      });
      const text = problem === undefined ? '' : `${problem.reason} ${problem.message}`;
      if (typeof given.want === 'string') assert.equal(text, given.want);
      else assert.match(text, given.want);
    });
  }
});

describe('volumeCapability', () => {
  const claimed = { ...volume, source: { driver: 'd.example', volumeHandle: 'vol/1' }, isReadOnly: false };
  const plain = { canStage: true, knowsSingleNodeModes: false, canSetGroup: false };
  for (const { mode, is, exact } of [
    { mode: 'ReadWriteOnce', is: 'SINGLE_NODE_WRITER', exact: 'SINGLE_NODE_MULTI_WRITER' },
    { mode: 'ReadWriteOncePod', is: 'SINGLE_NODE_WRITER', exact: 'SINGLE_NODE_SINGLE_WRITER' },
    { mode: 'ReadOnlyMany', is: 'MULTI_NODE_READER_ONLY', exact: 'MULTI_NODE_READER_ONLY' },
    { mode: 'ReadWriteMany', is: 'MULTI_NODE_MULTI_WRITER', exact: 'MULTI_NODE_MULTI_WRITER' },
  ]) {
    it(`lab/N36: asks for ${mode} by the names that the driver knows`, () => {
      const given = { ...claimed, accessModes: [mode, 'ReadWriteMany'], mountOptions: [] };
      assert.deepEqual(volumeCapability(given, pod, plain).accessMode, { mode: is });
      const abilities = { ...plain, knowsSingleNodeModes: true };
      assert.deepEqual(volumeCapability(given, pod, abilities).accessMode, { mode: exact });
    });
  }

  it('lab/N36: passes on the file system, mount options and the group', () => {
    const source = { ...claimed.source, fsType: 'xfs' };
    const given = { ...claimed, source, accessModes: [], mountOptions: ['noatime'] };
    const grouped: Pod = { ...pod, spec: { ...pod.spec, securityContext: { fsGroup: 2000 } } };
    const { mount } = volumeCapability(given, grouped, { ...plain, canSetGroup: true });
    assert.deepEqual(mount, { fsType: 'xfs', mountFlags: ['noatime'], volumeMountGroup: '2000' });
    assert.deepEqual(volumeCapability(given, grouped, plain).mount, { fsType: 'xfs', mountFlags: ['noatime'] });
    const block = volumeCapability({ ...given, mode: 'Block' }, grouped, plain);
    assert.deepEqual(block, { block: {}, accessMode: { mode: 'SINGLE_NODE_WRITER' } });
  });
});
