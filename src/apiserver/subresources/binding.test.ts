import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer, uidOf } from '../../../test/support/controlled-server.ts';
import type { JsonObject } from '../../object/json.ts';

const PODS = '/api/v1/namespaces/default/pods';

describe('pods/binding', () => {
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  const make = (name: string, more: JsonObject = {}) =>
    server.create(PODS, {
      metadata: { name, labels: { app: 'a' } },
      spec: { containers: [{ name: 'c', image: 'i' }], ...more },
    });
  const bind = (name: string, metadata: JsonObject = {}, target: JsonObject = { kind: 'Node', name: 'n' }) =>
    server.send('POST', `${PODS}/${name}/binding`, { metadata: { name, ...metadata }, target });
  const pod = (name: string) => server.stored(`core/pods/default/${name}`);

  it('gives the pod to the node, with annotations, labels and a condition', async () => {
    await make('p');
    const { status, body } = await bind('p', { annotations: { a: '1' }, labels: { l: '2' } });
    assert.equal(status, 201);
    assert.deepEqual(body, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    const { metadata, spec, status: state } = pod('p');
    assert.equal(spec.nodeName, 'n');
    assert.deepEqual(metadata.annotations, { a: '1' });
    assert.deepEqual(metadata.labels, { app: 'a', l: '2' });
    assert.equal(metadata.generation, 1);
    const [{ type, status: isScheduled }] = state.conditions;
    assert.deepEqual([type, isScheduled], ['PodScheduled', 'True']);
  });

  it('refuses a pod that is bound', async () => {
    await make('twice');
    await bind('twice');
    const { status, body } = await bind('twice');
    assert.equal(status, 409);
    const why = 'Operation cannot be fulfilled on pods/binding "twice": pod twice is already assigned to node "n"';
    assert.equal(body['message'], why);
  });

  it('refuses a pod that is going or gated', async () => {
    await server.create(PODS, {
      metadata: { name: 'going', finalizers: ['ex.io/f'] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await server.remove(`${PODS}/going`);
    assert.match((await bind('going')).message, /is being deleted, cannot be assigned to a host$/);
    await make('gated', { schedulingGates: [{ name: 'ex.io/g' }] });
    assert.match((await bind('gated')).message, /has non-empty \.spec\.schedulingGates$/);
  });

  for (const [what, metadata, target, code, message] of [
    ['another name', { name: 'x' }, undefined, 400, /^name in URL does not match name in Binding object$/],
    ['no target', {}, {}, 500, /^target\.name: Required value$/],
    ['another kind of target', {}, { kind: 'Rack', name: 'r' }, 500, /^target\.kind: Unsupported value: "Rack"/],
    ['another uid', { uid: 'no' }, undefined, 409, /UID in precondition: no, UID in object meta: /],
    ['another revision', { resourceVersion: '1' }, undefined, 409, /ResourceVersion in precondition: 1, /],
    ['another namespace', { namespace: 'kube-system' }, undefined, 400, /does not match the namespace/],
    ['a number for a name', { name: 7 }, undefined, 400, /cannot be handled as a Binding/],
  ] as const) {
    it(`refuses ${what}`, async () => {
      if (pod('bad') === undefined) await make('bad');
      const { status, message: text } = await bind('bad', metadata, target);
      assert.equal(status, code);
      assert.match(text, message);
      assert.equal(pod('bad').spec.nodeName, undefined);
    });
  }

  it('knows no pod that is not there', async () => {
    const { status, body } = await bind('nobody');
    assert.equal(status, 404);
    assert.equal(body['message'], 'pods "nobody" not found');
  });

  it('changes nothing on a dry run, and binds through the collection of bindings', async () => {
    const made = await make('named');
    const binding = { metadata: { name: 'named', uid: uidOf(made) }, target: { name: 'n2' } };
    const bindings = '/api/v1/namespaces/default/bindings';
    assert.equal((await server.send('POST', `${bindings}?dryRun=All`, binding)).status, 201);
    assert.equal(pod('named').spec.nodeName, undefined);
    assert.equal((await server.send('POST', bindings, binding)).status, 201);
    assert.equal(pod('named').spec.nodeName, 'n2');
    const wrong = await server.send('POST', bindings, {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: 'named' },
    });
    assert.equal(wrong.status, 400);
  });

  it('binds a pod once when two ask at the same time', async () => {
    await make('race');
    const answers = await Promise.all([bind('race'), bind('race', {}, { name: 'other' })]);
    assert.deepEqual(answers.map(({ status }) => `${status}`).toSorted(), ['201', '409']);
  });
});
