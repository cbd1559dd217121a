import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, readlink, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { ConfigMap, Pod, Secret } from '../../../api/generated/core-v1.ts';
import type { Container, PodSpec, Volume } from '../../../api/generated/core-v1-types.ts';
import { SystemClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { createClient } from '../../../kube/client/create-client.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import type { Mount } from '../../process/mounts.ts';
import { type PodVolumesOptions, podVolumes } from './live-pod-volumes.ts';
import { VolumeProblem } from './pod-volumes.ts';

/** A node root and volumes over an API server in this process; file work counts as something that moves. */
async function volumeRig(more: Partial<PodVolumesOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const env = stack.use(await TestEnv.start({ allowsForbidden: true }));
  const scratch = stack.use(await scratchDirectory());
  const root = join(await realpath(scratch.path), 'n');
  await mkdir(root);
  const told: string[] = [];
  const tell = (type: string) => (object: { metadata: { name: string } }, reason: string, note: string) =>
    void told.push(`${type} ${object.metadata.name} ${reason}: ${note}`);
  // Recorded, and with the faults of the environment.
  const user = env.activity.around(env.server.client());
  const transport = env.faults.around(env.recorder.around(user));
  const client = createClient({ transport, fieldManager: 'node', clock: env.clock, log: SILENT_LOG });
  const volumes = stack.use(
    podVolumes({
      root,
      client,
      clock: env.clock,
      real: new SystemClock(),
      log: SILENT_LOG,
      events: { normal: tell('Normal'), warning: tell('Warning') },
      hold: (reason) => env.activity.hold(reason),
      ...more,
    }),
  );
  const create = (spec: Partial<PodSpec>, name = 'p') =>
    env.client.create(Pod, {
      metadata: { name, namespace: 'default', labels: { app: 'web' } },
      spec: { nodeName: 'w-1', containers: [containerWith(spec.volumes ?? [])], ...spec },
    });
  const mountOf = async (pod: Pod, name: string) =>
    (await volumes.mountsFor(pod, containerWith(pod.spec.volumes ?? []))).find(
      ({ mountPath }) => mountPath === `/mnt/${name}`,
    );
  const read = async (pod: Pod, volume: string, file: string) =>
    readFile(join((await mountOf(pod, volume))?.source ?? '', file), 'utf8');
  return { env, root, told, volumes, create, mountOf, read, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const containerWith = (volumes: readonly Volume[]): Container => ({
  name: 'c',
  image: 'i',
  volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/mnt/${name}` })),
});

const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';
const sourceOf = (mount: Mount | undefined): string => mount?.source ?? '';
const meta = (name: string) => ({ metadata: { name, namespace: 'default' } });
const encoded = (text: string) => Buffer.from(text).toString('base64');
const watches = (env: TestEnv) =>
  env.recorder.requests.filter(({ target }) => target.includes('watch=true')).map(({ target }) => target);

describe('volumes of pods', () => {
  it('lab/N26: lays out every kind, and says where the container finds it', async () => {
    await using rig = await volumeRig();
    const { env, volumes, root } = rig;
    await env.client.create(ConfigMap, { ...meta('cm'), data: { key: 'value' } });
    await env.client.create(Secret, { ...meta('s'), data: { pass: encoded('word') } });
    const pod = await rig.create({
      automountServiceAccountToken: false,
      volumes: [
        { name: 'cm', configMap: { name: 'cm' } },
        { name: 's', secret: { secretName: 's' } },
        { name: 'd', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        { name: 'p', projected: { sources: [{ configMap: { name: 'cm' } }, { secret: { name: 's' } }] } },
        { name: 'e', emptyDir: { medium: 'Memory' } },
        { name: 'h', hostPath: { path: '/var/lib/thing', type: 'DirectoryOrCreate' } },
      ],
    });
    await volumes.setUp(pod);
    await volumes.setUp(pod);
    const directory = join(root, 'var/lib/kubelet/pods', uidOf(pod));
    const at = (plugin: string, name: string) => join(directory, 'volumes', `kubernetes.io~${plugin}`, name);
    assert.deepEqual(await volumes.mountsFor(pod, pod.spec.containers[0] as Container), [
      { mountPath: '/mnt/cm', source: at('configmap', 'cm'), isReadOnly: true },
      { mountPath: '/mnt/s', source: at('secret', 's'), isReadOnly: true },
      { mountPath: '/mnt/d', source: at('downward-api', 'd'), isReadOnly: true },
      { mountPath: '/mnt/p', source: at('projected', 'p'), isReadOnly: true },
      { mountPath: '/mnt/e', source: at('empty-dir', 'e'), isReadOnly: false },
      { mountPath: '/mnt/h', source: join(root, 'var/lib/thing'), isReadOnly: false },
    ]);
    assert.equal(await rig.read(pod, 'cm', 'key'), 'value');
    assert.equal(await rig.read(pod, 's', 'pass'), 'word');
    assert.equal(await rig.read(pod, 'd', 'labels'), 'app="web"');
    assert.equal(await rig.read(pod, 'p', 'key'), 'value');
    assert.equal(await rig.read(pod, 'p', 'pass'), 'word');
    assert.ok((await lstat(at('empty-dir', 'e'))).isDirectory());
  });

  it('lab/N26: says which kinds there are when it is asked for another one', async () => {
    await using rig = await volumeRig();
    const nfs = await rig.create({ volumes: [{ name: 'v', nfs: { server: 's', path: '/' } }] }, 'a');
    const kinds = 'configMap, secret, projected, downwardAPI, emptyDir, hostPath and persistentVolumeClaim';
    await assert.rejects(rig.volumes.setUp(nfs), {
      name: 'VolumeProblem',
      reason: 'FailedMount',
      message: `MountVolume.SetUp failed for volume "v" : the lab has no nfs volumes; it has ${kinds}`,
    });
    const claim = await rig.create(
      { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] },
      'b',
    );
    await assert.rejects(rig.volumes.setUp(claim), {
      message: 'claim "data": this node has no storage for claims',
    });
  });

  it('lab/N26: takes claims from whoever provides them, and gives them back before the directory goes', async () => {
    const calls: string[] = [];
    await using rig = await volumeRig({
      claims: {
        setUp: async (pod, { name }) => {
          calls.push(`set up ${name} of ${pod.metadata.name}`);
          if (calls.length === 1) throw new VolumeProblem('FailedAttachVolume', 'not attached yet');
          return '/somewhere';
        },
        tearDown: async (uid) => void calls.push(`tear down ${uid}`),
      },
    });
    const volume = { name: 'v', persistentVolumeClaim: { claimName: 'data', readOnly: true } };
    const pod = await rig.create({ volumes: [volume] });
    await assert.rejects(rig.volumes.setUp(pod), { reason: 'FailedAttachVolume', message: /not attached yet/ });
    await rig.volumes.setUp(pod);
    assert.deepEqual(await rig.mountOf(pod, 'v'), { mountPath: '/mnt/v', source: '/somewhere', isReadOnly: true });
    await rig.volumes.tearDown(uidOf(pod));
    assert.equal(calls.at(-1), `tear down ${pod.metadata.uid}`);
    assert.deepEqual(await rig.volumes.known(), []);
  });

  it('lab/N27: waits for what is missing and not optional, and tells of it as the kubelet does', async () => {
    await using rig = await volumeRig();
    const pod = await rig.create({
      volumes: [
        { name: 'maybe', configMap: { name: 'none', optional: true } },
        { name: 'v', configMap: { name: 'cm', items: [{ key: 'k', path: 'k' }] } },
      ],
    });
    const fails = (message: string) =>
      assert.rejects(rig.volumes.setUp(pod), {
        name: 'VolumeProblem',
        message: `MountVolume.SetUp failed for volume "v" : ${message}`,
      });
    await fails('configmap "cm" not found');
    await rig.env.client.create(ConfigMap, { ...meta('cm'), data: { other: '1' } });
    await rig.env.settle();
    await fails('references non-existent config key: k');
    await rig.env.client.patch(ConfigMap, meta('cm').metadata, { type: 'merge', body: { data: { k: '2' } } });
    await rig.env.settle();
    await rig.volumes.setUp(pod);
    assert.equal(await rig.read(pod, 'v', 'k'), '2');
  });

  it('leaves a volume alone that no container mounts', async () => {
    await using rig = await volumeRig();
    const pod = await rig.create({
      volumes: [{ name: 'v', secret: { secretName: 'none' } }],
      containers: [{ name: 'c', image: 'i' }],
    });
    await rig.volumes.setUp(pod);
  });

  it('lab/N28: brings changes to the files as soon as the watch tells of them', async () => {
    await using rig = await volumeRig();
    const { env } = rig;
    await env.client.create(ConfigMap, { ...meta('cm'), data: { a: '1', b: '1' } });
    const pod = await rig.create({
      volumes: [
        { name: 'v', configMap: { name: 'cm' } },
        { name: 'later', secret: { secretName: 'later', optional: true } },
      ],
    });
    await rig.volumes.setUp(pod);
    const source = (await rig.mountOf(pod, 'v'))?.source ?? '';
    const before = await readlink(join(source, '..data'));
    const body = { data: { a: '2', b: null, c: '2' } };
    await env.client.patch(ConfigMap, meta('cm').metadata, { type: 'merge', body });
    await env.client.create(Secret, { ...meta('later'), data: { k: encoded('come') } });
    await env.settle();
    assert.notEqual(await readlink(join(source, '..data')), before);
    assert.deepEqual((await readdir(source)).filter((name) => !name.startsWith('..')).sort(), ['a', 'c']);
    assert.equal(await rig.read(pod, 'v', 'a'), '2');
    assert.equal(await rig.read(pod, 'later', 'k'), 'come');
  });

  it('lab/N28: keeps the files, and says why, when their object is deleted', async () => {
    await using rig = await volumeRig();
    await rig.env.client.create(ConfigMap, { ...meta('cm'), data: { a: '1' } });
    const pod = await rig.create({ volumes: [{ name: 'v', configMap: { name: 'cm' } }] });
    await rig.volumes.setUp(pod);
    await rig.env.client.delete(ConfigMap, meta('cm').metadata);
    await rig.env.settle();
    assert.equal(await rig.read(pod, 'v', 'a'), '1');
    assert.deepEqual(rig.told, [
      'Warning p FailedMount: MountVolume.SetUp failed for volume "v" : configmap "cm" not found',
    ]);
  });

  it('lab/N28: watches each object once and by its name, for as long as a pod uses it', async () => {
    await using rig = await volumeRig();
    const { env, volumes } = rig;
    await env.client.create(ConfigMap, { ...meta('cm'), data: { a: '1' } });
    const spec = { automountServiceAccountToken: false, volumes: [{ name: 'v', configMap: { name: 'cm' } }] };
    const [one, other] = [await rig.create(spec, 'one'), await rig.create(spec, 'other')];
    await volumes.setUp(one);
    await volumes.setUp(other);
    assert.equal(watches(env).length, 1);
    assert.match(watches(env)[0] ?? '', /namespaces\/default\/configmaps\?.*fieldSelector=metadata\.name%3Dcm/);
    await volumes.tearDown(uidOf(one));
    await env.client.patch(ConfigMap, meta('cm').metadata, { type: 'merge', body: { data: { a: '2' } } });
    await env.settle();
    assert.equal(await rig.read(other, 'v', 'a'), '2');
    await volumes.tearDown(uidOf(other));
    await env.settle();
    assert.equal(env.faults.openRequests, 0);
    // Nobody is left: a third pod needs a watch of its own.
    const third = await rig.create(spec, 'third');
    await volumes.setUp(third);
    assert.equal(watches(env).length, 2);
  });

  it('lab/N28: does not watch what is immutable', async () => {
    await using rig = await volumeRig();
    const { env } = rig;
    await env.client.create(ConfigMap, { ...meta('cm'), data: { a: '1' }, immutable: true });
    const pod = await rig.create({
      automountServiceAccountToken: false,
      volumes: [{ name: 'v', configMap: { name: 'cm' } }],
    });
    await rig.volumes.setUp(pod);
    await env.settle();
    assert.equal(env.faults.openRequests, 0);
    await env.client.delete(ConfigMap, meta('cm').metadata);
    await env.client.create(ConfigMap, { ...meta('cm'), data: { a: '2' } });
    await env.advance(600_000);
    assert.equal(watches(env).length, 1);
    assert.equal(await rig.read(pod, 'v', 'a'), '1');
  });

  it('lab/N28: never updates what is mounted by subPath', async () => {
    await using rig = await volumeRig();
    const { env, volumes, root } = rig;
    await env.client.create(ConfigMap, { ...meta('cm'), data: { a: '1' } });
    const mounts = [
      { name: 'v', mountPath: '/etc/a', subPath: 'a' },
      { name: 'v', mountPath: '/all' },
    ];
    const container = { name: 'c', image: 'i', volumeMounts: mounts };
    const pod = await rig.create({ volumes: [{ name: 'v', configMap: { name: 'cm' } }], containers: [container] });
    await volumes.setUp(pod);
    const [part, all] = await volumes.mountsFor(pod, container);
    const directory = join(root, 'var/lib/kubelet/pods', uidOf(pod));
    assert.equal(part?.source, join(directory, 'volume-subpaths/v/c/0'));
    await env.client.patch(ConfigMap, meta('cm').metadata, { type: 'merge', body: { data: { a: '2' } } });
    await env.settle();
    assert.equal(await readFile(sourceOf(part), 'utf8'), '1');
    assert.equal(await readFile(join(sourceOf(all), 'a'), 'utf8'), '2');
    // The next run of the container begins with what is there then.
    await volumes.mountsFor(pod, container);
    assert.equal(await readFile(sourceOf(part), 'utf8'), '2');
  });

  it('mounts a part of a directory, and makes it when it is missing', async () => {
    await using rig = await volumeRig();
    const volumeMounts = [
      { name: 'v', mountPath: '/logs', subPathExpr: '$(NAME)/logs' },
      { name: 'v', mountPath: '/ro', readOnly: true },
      { name: 'v', mountPath: '/evil', subPath: 'link/x' },
    ];
    const container = { name: 'c', image: 'i', volumeMounts };
    const pod = await rig.create({ volumes: [{ name: 'v', emptyDir: {} }], containers: [container] });
    await rig.volumes.setUp(pod);
    const source = (await rig.mountOf(pod, 'v'))?.source ?? '';
    await symlink('/etc', join(source, 'link'));
    const [part, whole, evil] = await rig.volumes.mountsFor(pod, container, () => 'p/logs');
    assert.deepEqual([part?.source, part?.isReadOnly, whole?.isReadOnly], [join(source, 'p/logs'), false, true]);
    assert.ok((await lstat(join(source, 'p/logs'))).isDirectory());
    assert.equal(evil?.source, join(source, 'etc/x'));
    await assert.rejects(rig.volumes.mountsFor(pod, container), /cannot be expanded here/);
    const stranger = { name: 'd', image: 'i', volumeMounts: [{ name: 'no', mountPath: '/x' }] };
    const message = 'cannot find volume "no" to mount into container "d"';
    await assert.rejects(rig.volumes.mountsFor(pod, stranger), { name: 'VolumeProblem', message });
  });

  it('lab/N30: tells once that the size of an emptyDir is not limited, and removes it with the pod', async () => {
    await using rig = await volumeRig();
    const pod = await rig.create({
      volumes: [{ name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }],
    });
    await rig.volumes.setUp(pod);
    const source = (await rig.mountOf(pod, 'cache'))?.source ?? '';
    await writeFile(join(source, 'file'), 'x');
    await rig.volumes.setUp(pod);
    assert.equal(await rig.read(pod, 'cache', 'file'), 'x');
    assert.deepEqual(rig.told, [
      'Normal p NotEnforced: The lab does not enforce sizeLimit 1Gi of emptyDir volume "cache"',
    ]);
    await rig.volumes.tearDown(uidOf(pod));
    await assert.rejects(lstat(source), { code: 'ENOENT' });
  });

  it('lab/N29: mounts a hostPath below the root of the node, and refuses one of the wrong type', async () => {
    await using rig = await volumeRig();
    await writeFile(join(rig.root, 'file'), 'x');
    const volume = (path: string) => ({ name: 'h', hostPath: { path, type: 'Directory' as const } });
    const pod = await rig.create({ volumes: [volume('/file')] });
    await assert.rejects(rig.volumes.setUp(pod), {
      reason: 'FailedMount',
      message: 'MountVolume.SetUp failed for volume "h" : hostPath type check failed: /file is not a directory',
    });
  });

  it('lab/N31: gives a pod the token of its account, the authority and its namespace, and renews the token', async () => {
    await using rig = await volumeRig();
    const { env } = rig;
    const pod = await rig.create({ volumes: [] });
    const [volume] = pod.spec.volumes ?? [];
    assert.match(volume?.name ?? '', /^kube-api-access-/);
    await env.settle();
    await rig.volumes.setUp(pod);
    const [mount] = await rig.volumes.mountsFor(pod, pod.spec.containers[0] as Container);
    assert.equal(mount?.mountPath, '/var/run/secrets/kubernetes.io/serviceaccount');
    const file = (name: string) => readFile(join(sourceOf(mount), name), 'utf8');
    assert.deepEqual((await readdir(sourceOf(mount))).filter((name) => !name.startsWith('..')).sort(), [
      'ca.crt',
      'namespace',
      'token',
    ]);
    assert.equal(await file('namespace'), 'default');
    assert.match(await file('ca.crt'), /BEGIN CERTIFICATE/);
    const first = await file('token');
    const claims = JSON.parse(Buffer.from(first.split('.')[1] ?? '', 'base64url').toString());
    assert.equal(claims.sub, 'system:serviceaccount:default:default');
    assert.partialDeepStrictEqual(claims['kubernetes.io'], { pod: { name: 'p', uid: pod.metadata.uid } });
    await env.advance(0.8 * 3607 * 1000 - 1000);
    assert.equal(await file('token'), first);
    await env.advance(1000);
    assert.notEqual(await file('token'), first);
    const requests = env.recorder.requests.filter(({ target }) =>
      target.endsWith('/serviceaccounts/default/token'),
    );
    assert.equal(requests.length, 2);
  });

  it('lab/N32: has a directory per pod with volumes, containers and etc-hosts, which tearDown takes away', async () => {
    await using rig = await volumeRig();
    const { volumes, root } = rig;
    const pod = await rig.create({
      volumes: [{ name: 'e', emptyDir: {} }],
      initContainers: [{ name: 'i', image: 'i' }],
      hostAliases: [{ ip: '10.1.2.3', hostnames: ['db', 'db.example'] }],
    });
    await volumes.setUp(pod);
    const withAddress = { ...pod, status: { podIPs: [{ ip: '10.16.32.1' }] } };
    const mounts = await volumes.mountsFor(withAddress, pod.spec.containers[0] as Container);
    const directory = join(root, 'var/lib/kubelet/pods', uidOf(pod));
    assert.deepEqual((await readdir(directory)).sort(), ['containers', 'etc-hosts', 'volumes']);
    assert.deepEqual((await readdir(join(directory, 'containers'))).sort(), ['c', 'i']);
    assert.equal(mounts.at(-1)?.source, join(directory, 'etc-hosts'));
    const hosts = await readFile(join(directory, 'etc-hosts'), 'utf8');
    assert.match(hosts, /\n10\.16\.32\.1\tp\n/);
    assert.match(hosts, /\n10\.1\.2\.3\tdb\tdb\.example\n$/);
    assert.deepEqual(await volumes.known(), [pod.metadata.uid]);
    await volumes.tearDown(uidOf(pod));
    await volumes.tearDown(uidOf(pod));
    assert.deepEqual(await volumes.known(), []);
  });

  it('lab/N32: knows pods of an earlier life, and takes them away too', async () => {
    await using rig = await volumeRig();
    await mkdir(join(rig.root, 'var/lib/kubelet/pods/old/volumes'), { recursive: true });
    assert.deepEqual(await rig.volumes.known(), ['old']);
    await rig.volumes.tearDown('old');
    assert.deepEqual(await rig.volumes.known(), []);
    await assert.rejects(rig.volumes.tearDown('../../etc'), { reason: 'UnsafeName' });
  });

  it('says that nothing is known while the server does not answer, and goes on when it does', async () => {
    await using rig = await volumeRig();
    await rig.env.client.create(ConfigMap, { ...meta('cm'), data: { a: '1' } });
    const pod = await rig.create({
      automountServiceAccountToken: false,
      volumes: [{ name: 'v', configMap: { name: 'cm' } }],
    });
    using away = rig.env.faults.arm({ matches: () => true, fault: { kind: 'reset' } });
    // Lab time may stand still while a pod starts: nothing here may wait for it.
    const held = rig.env.activity.hold('a pod starts');
    await assert.rejects(rig.volumes.setUp(pod), /configmap "default\/cm" cannot be read: connection refused/);
    held[Symbol.dispose]();
    away[Symbol.dispose]();
    await rig.env.advance(60_000);
    await rig.volumes.setUp(pod);
    assert.equal(await rig.read(pod, 'v', 'a'), '1');
  });

  it('takes a pod away that still waits for the first word of an object', async () => {
    await using rig = await volumeRig();
    const pod = await rig.create({ volumes: [{ name: 'v', configMap: { name: 'cm' } }] });
    using _away = rig.env.faults.arm({ matches: () => true, fault: { kind: 'delay', ms: 3_600_000 } });
    const waiting = assert.rejects(rig.volumes.setUp(pod), /no pod uses it any more/);
    await rig.env.settle();
    assert.equal(rig.env.faults.struck.get('delay'), 1);
    await rig.volumes.tearDown(uidOf(pod));
    await waiting;
    assert.deepEqual(await rig.volumes.known(), []);
  });
});
