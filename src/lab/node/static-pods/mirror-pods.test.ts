import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { printYaml } from '../../../object/yaml.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { mirrorOf, mirrorStep } from './mirror-pod.ts';
import { mirrorPods } from './mirror-pods.ts';
import { staticPod } from './static-pod.ts';
import type { StaticPodSource } from './static-pod-source.ts';

const NODE = 'w-1';
const KEY = { namespace: 'default', name: 'ccm-w-1' };

/** A static pod as its file makes it. */
function fromFile(image = 'i', name = 'ccm'): Pod {
  const spec = { containers: [{ name: 'c', image }] };
  const text = printYaml({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  return staticPod(text, { file: `/etc/kubernetes/manifests/${name}.yaml`, node: NODE, seenAt: new Date(0) });
}

class FakeFiles implements StaticPodSource {
  readonly #listeners = new Set<() => void>();
  #pods: readonly Pod[];

  constructor(...pods: readonly Pod[]) {
    this.#pods = pods;
  }

  pods(): readonly Pod[] {
    return this.#pods;
  }

  subscribe(changed: () => void): Disposable {
    this.#listeners.add(changed);
    return { [Symbol.dispose]: () => void this.#listeners.delete(changed) };
  }

  set(...pods: readonly Pod[]): void {
    this.#pods = pods;
    for (const changed of this.#listeners) changed();
  }
}

const node = { metadata: { name: NODE } };

async function mirrorRig(files: FakeFiles, options: { hasNode?: boolean; log?: typeof SILENT_LOG } = {}) {
  const env = await TestEnv.start(options.log === undefined ? {} : { log: options.log });
  if (options.hasNode !== false) await env.client.create(Node, node);
  await env.startManager({ add: [mirrorPods({ node: NODE, source: files })] });
  const mirror = () => env.client.find(Pod, KEY);
  return { env, mirror, [Symbol.asyncDispose]: () => env[Symbol.asyncDispose]() };
}

const annotation = (pod: Pod | undefined, name: string) =>
  pod?.metadata.annotations?.[`kubernetes.io/config.${name}`];

describe('mirror pods', () => {
  it('lab/N38: show a static pod with its hash, owned by the Node', async () => {
    const file = fromFile();
    await using rig = await mirrorRig(new FakeFiles(file));
    const mirror = await rig.mirror();
    assert.equal(annotation(mirror, 'mirror'), file.metadata.uid);
    assert.equal(annotation(mirror, 'hash'), file.metadata.uid);
    assert.equal(annotation(mirror, 'source'), 'file');
    const { uid } = (await rig.env.client.get(Node, { name: NODE })).metadata;
    assert.deepEqual(mirror?.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: NODE, uid, controller: true },
    ]);
    assert.equal(mirror?.spec.nodeName, NODE);
    assert.notEqual(mirror?.metadata.uid, file.metadata.uid);
  });

  it('lab/N38: are written once, and with exactly the rights that are declared', async () => {
    const files = new FakeFiles(fromFile());
    await using rig = await mirrorRig(files);
    await expectNoWrites(rig.env.recorder, () => rig.env.advance(600_000));
    files.set();
    await rig.env.settle();
    expectExactRbac(rig.env, { unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'] });
  });

  it('lab/N38: come back when somebody deletes them, at once or with grace', async () => {
    await using rig = await mirrorRig(new FakeFiles(fromFile()));
    for (const options of [{ gracePeriodSeconds: 0 }, {}]) {
      const before = await rig.mirror();
      await rig.env.client.delete(Pod, KEY, options);
      await rig.env.settle();
      const again = await rig.mirror();
      assert.notEqual(again?.metadata.uid, before?.metadata.uid);
      assert.equal(again?.metadata.deletionTimestamp, undefined);
      assert.notEqual(again, undefined);
    }
  });

  it('lab/N38: are made anew when the content changes', async () => {
    const files = new FakeFiles(fromFile('one'));
    await using rig = await mirrorRig(files);
    const changed = fromFile('two');
    files.set(changed);
    await rig.env.settle();
    const mirror = await rig.mirror();
    assert.equal(annotation(mirror, 'mirror'), changed.metadata.uid);
    assert.equal(mirror?.spec.containers[0]?.image, 'two');
  });

  it('lab/N38: go when the file is gone, also when that happened while nobody looked', async () => {
    const files = new FakeFiles(fromFile(), fromFile('i', 'other'));
    await using rig = await mirrorRig(files);
    files.set(fromFile('i', 'other'));
    await rig.env.settle();
    assert.equal(await rig.mirror(), undefined);
    assert.notEqual(await rig.env.client.find(Pod, { ...KEY, name: 'other-w-1' }), undefined);
    const stale = mirrorOf(fromFile('i', 'stale'), await rig.env.client.get(Node, { name: NODE }));
    await rig.env.client.create(Pod, stale);
    await rig.env.settle();
    assert.equal(await rig.env.client.find(Pod, { ...KEY, name: 'stale-w-1' }), undefined);
  });

  it('lab/N38: wait for the Node, and for the API server', async () => {
    const files = new FakeFiles(fromFile());
    await using rig = await mirrorRig(files, { hasNode: false, log: SILENT_LOG });
    assert.equal(await rig.mirror(), undefined);
    await rig.env.client.create(Node, node);
    await rig.env.advance(5_000);
    assert.notEqual(await rig.mirror(), undefined);
    using away = rig.env.faults.arm({ matches: ({ method }) => method !== 'GET', fault: { kind: 'reset' } });
    files.set(fromFile('other'));
    await rig.env.advance(30_000);
    assert.equal((await rig.mirror())?.spec.containers[0]?.image, 'i');
    away[Symbol.dispose]();
    await rig.env.advance(600_000);
    assert.equal((await rig.mirror())?.spec.containers[0]?.image, 'other');
  });

  it('lab/N38: belong to the Node that is there now', async () => {
    await using rig = await mirrorRig(new FakeFiles(fromFile()));
    await rig.env.client.delete(Node, { name: NODE });
    await rig.env.settle();
    await rig.env.client.create(Node, node);
    await rig.env.advance(10_000);
    const { uid } = (await rig.env.client.get(Node, { name: NODE })).metadata;
    assert.equal((await rig.mirror())?.metadata.ownerReferences?.[0]?.uid, uid);
  });

  it('leave alone what is not theirs', async () => {
    await using env = await TestEnv.start();
    await env.client.create(Node, node);
    const spec = { nodeName: NODE, containers: [{ name: 'c', image: 'own' }] };
    await env.client.create(Pod, { metadata: KEY, spec });
    const files = new FakeFiles(fromFile());
    await env.startManager({ add: [mirrorPods({ node: NODE, source: files })] });
    assert.equal((await env.client.get(Pod, KEY)).spec.containers[0]?.image, 'own');
    await env.client.delete(Pod, KEY, { gracePeriodSeconds: 0 });
    await env.settle();
    assert.equal((await env.client.get(Pod, KEY)).spec.containers[0]?.image, 'i');
  });
});

describe('mirrorStep', () => {
  const file = fromFile();
  const hash = file.metadata.uid ?? '';
  const found = (annotations: Readonly<Record<string, string>>, more: object = {}, nodeName = NODE): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...KEY, annotations, ...more },
    spec: { containers: [], nodeName },
  });
  const shown = { 'kubernetes.io/config.mirror': hash };
  for (const { name, wanted, is, want } of [
    { name: 'neither is there', wanted: undefined, is: undefined, want: 'none' },
    { name: 'the mirror is missing', wanted: file, is: undefined, want: 'create' },
    { name: 'the mirror is right', wanted: file, is: found(shown), want: 'none' },
    {
      name: 'the content is another',
      wanted: file,
      is: found({ ...shown, 'kubernetes.io/config.mirror': 'x' }),
      want: 'delete',
    },
    {
      name: 'the mirror is being deleted',
      wanted: file,
      is: found(shown, { deletionTimestamp: 'now' }),
      want: 'delete',
    },
    { name: 'the mirror is of another node', wanted: file, is: found(shown, {}, 'w-2'), want: 'delete' },
    { name: 'the file is gone', wanted: undefined, is: found(shown), want: 'delete' },
    {
      name: 'there is no file, and the mirror is of another node',
      wanted: undefined,
      is: found(shown, {}, 'w-2'),
      want: 'none',
    },
    { name: 'an ordinary pod has the name', wanted: file, is: found({}), want: 'taken' },
    { name: 'an ordinary pod is there, and no file', wanted: undefined, is: found({}), want: 'none' },
  ]) {
    it(`lab/N38: is ${want} when ${name}`, () => assert.equal(mirrorStep(wanted, is, NODE).kind, want));
  }
});
