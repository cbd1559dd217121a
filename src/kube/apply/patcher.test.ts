import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ClientWorld, clientWorld } from '../../../test/support/kube-client.ts';
import { Pod } from '../../api/generated/core-v1.ts';
import { orderV1beta2 } from '../../object/condition-dialects.ts';
import { type Patcher, patcher } from './patcher.ts';

const condition = (type: string, status: 'True' | 'False', reason = 'Because') => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-05-04T03:02:01Z',
});

async function world(): Promise<ClientWorld & { readonly pod: Pod }> {
  const made = await clientWorld();
  const metadata = { namespace: made.namespace, name: 'p' };
  const pod = await made.client.create(Pod, { metadata, spec: { containers: [{ name: 'c', image: 'i' }] } });
  made.sent.length = 0;
  return { ...made, pod };
}

const methods = ({ sent }: ClientWorld): string[] =>
  sent.map(({ method, target }) => `${method} ${target.split('?')[0]?.split('/').at(-1) ?? ''}`);

describe('patcher', () => {
  it('runtime/H4: sends nothing when nothing changed, and only the part that did', async () => {
    const given = await world();
    const { client, pod } = given;
    const unchanged = patcher(client, Pod, pod);
    assert.equal(await unchanged.patch(), pod);
    await assert.rejects(unchanged.patch(), { reason: 'PatcherUsed' });
    assert.deepEqual(methods(given), []);
    const labels = patcher(client, Pod, pod);
    labels.draft.metadata.labels = { a: 'b' };
    const labelled = await labels.patch();
    assert.deepEqual(methods(given), ['PATCH p']);
    const status = patcher(client, Pod, labelled);
    Object.assign(status.draft.status ?? {}, { message: 'hello' });
    assert.equal((await status.patch({ observedGeneration: true })).status?.message, 'hello');
    assert.deepEqual(methods(given), ['PATCH p', 'PATCH status']);
    assert.match(String(given.sent.at(-1)?.body), /"observedGeneration":1/);
  });

  it('runtime/H4: keeps the conditions that others set meanwhile', async () => {
    const given = await world();
    const { client, pod } = given;
    const ours = patcher(client, Pod, pod);
    const theirs = patcher(client, Pod, pod);
    theirs.draft.status = { ...theirs.draft.status, conditions: [condition('Theirs', 'True')] };
    await theirs.patch();
    ours.draft.status = { ...ours.draft.status, message: 'x', conditions: [condition('Available', 'True')] };
    const after = await ours.patch({ ownedConditions: ['Available'], orderConditions: orderV1beta2 });
    assert.deepEqual(
      after.status?.conditions?.map(({ type }) => type),
      ['Available', 'Theirs'],
    );
    assert.equal(after.status?.message, 'x');
    assert.deepEqual(methods(given), ['PATCH status', 'PATCH status', 'GET p', 'PATCH status']);
  });

  it('runtime/H4: takes two opinions about a condition that nobody owns for a conflict', async () => {
    const { client, pod } = await world();
    const [ours, theirs] = [patcher(client, Pod, pod), patcher(client, Pod, pod)];
    theirs.draft.status = { ...theirs.draft.status, conditions: [condition('A', 'True')] };
    ours.draft.status = { ...ours.draft.status, conditions: [condition('A', 'False')] };
    await theirs.patch();
    await assert.rejects(ours.patch(), { reason: 'ConditionConflict', disposition: 'retry' });
  });

  it('writes nothing to another object of the same name that was made meanwhile', async () => {
    const { client, pod, namespace } = await world();
    const key = { namespace, name: 'p' };
    await client.delete(Pod, key, { gracePeriodSeconds: 0 });
    await client.create(Pod, { metadata: key, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const version = (await client.get(Pod, key)).metadata.resourceVersion;
    const changes: readonly ((draft: Patcher<Pod>['draft']) => void)[] = [
      (draft) => Object.assign(draft.status ?? {}, { message: 'old' }),
      (draft) => Object.assign(draft, { status: { ...draft.status, conditions: [condition('Old', 'True')] } }),
      (draft) => Object.assign(draft.metadata, { labels: { old: 'yes' } }),
    ];
    for (const change of changes) {
      const stale = patcher(client, Pod, pod);
      change(stale.draft);
      await assert.rejects(stale.patch(), { reason: 'ObjectReplaced', disposition: 'retry' });
    }
    const dying = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-05-04T03:02:01Z' } };
    const last = patcher(client, Pod, dying);
    Object.assign(last.draft.status ?? {}, { message: 'old' });
    await last.patch();
    assert.equal((await client.get(Pod, key)).metadata.resourceVersion, version);
  });

  it('never overwrites finalizers of others, and lets go of an object in the right order', async () => {
    const given = await world();
    const { client, pod, namespace } = given;
    const add = patcher(client, Pod, pod);
    add.draft.metadata.finalizers = ['t.io/mine'];
    Object.assign(add.draft.status ?? {}, { message: 'one' });
    const added = await add.patch();
    await client.addFinalizer(Pod, added, 't.io/other');
    const stale = patcher(client, Pod, added);
    stale.draft.metadata.finalizers = [];
    Object.assign(stale.draft.status ?? {}, { message: 'two' });
    await assert.rejects(stale.patch(), { reason: 'ObjectChanged' });
    const key = { namespace, name: 'p' };
    await client.removeFinalizer(Pod, await client.get(Pod, key), 't.io/other');
    await client.delete(Pod, key, { gracePeriodSeconds: 0 });
    const dying = await client.get(Pod, key);
    const last = patcher(client, Pod, dying);
    last.draft.metadata.finalizers = [];
    Object.assign(last.draft.status ?? {}, { message: 'three' });
    await last.patch();
    assert.equal(await client.find(Pod, key), undefined);
    const late = patcher(client, Pod, dying);
    Object.assign(late.draft.status ?? {}, { message: 'four' });
    assert.equal((await late.patch()).status?.message, 'four');
  });
});
