import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer } from '../../../test/support/controlled-server.ts';
import type { JsonObject } from '../../object/json.ts';

const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";

describe('pods/eviction', () => {
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  interface Pod {
    readonly phase?: string;
    readonly isReady?: boolean;
  }
  const make = async (name: string, { phase = 'Running', isReady = true }: Pod = {}) => {
    await server.create(PODS, {
      metadata: { name, labels: { app: name } },
      spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
    });
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    await server.merge(`${PODS}/${name}/status`, { status: { phase, conditions } });
  };
  const budget = async (app: string, status: JsonObject, spec: JsonObject = {}) => {
    const made = await server.create(BUDGETS, {
      metadata: { name: app },
      spec: { minAvailable: 1, selector: { matchLabels: { app } }, ...spec },
    });
    const full = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, ...status };
    const answer = await server.send('PUT', `${BUDGETS}/${app}/status`, {
      ...made,
      status: { observedGeneration: 1, ...full },
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  const evict = (name: string, body: JsonObject = {}, query = '') =>
    server.send('POST', `${PODS}/${name}/eviction${query}`, { metadata: { name }, ...body });
  const pod = (name: string) => server.stored(`core/pods/default/${name}`);
  const isEvicted = (name: string): boolean =>
    pod(name)?.metadata.deletionTimestamp !== undefined &&
    pod(name).status.conditions.some(
      ({ type, reason }: Record<string, string>) =>
        type === 'DisruptionTarget' && reason === 'EvictionByEvictionAPI',
    );

  it('lab/W34: marks the pod and deletes it with grace when no budget speaks', async () => {
    await make('free');
    const { status, body } = await evict('free');
    assert.equal(status, 201);
    assert.equal(body['status'], 'Success');
    assert.equal(isEvicted('free'), true);
    assert.equal(pod('free').metadata.deletionGracePeriodSeconds, 30);
    assert.equal((await evict('free', { deleteOptions: { gracePeriodSeconds: 0 } })).status, 201);
    assert.equal(pod('free'), undefined);
  });

  for (const phase of ['Pending', 'Succeeded', 'Failed']) {
    it(`lab/W34: asks no budget about a pod that is ${phase}`, async () => {
      const name = phase.toLowerCase();
      await make(name, { phase });
      await budget(name, {});
      assert.equal((await evict(name)).status, 201);
    });
  }

  it('lab/W34: asks no budget about a pod that is on its way out already', async () => {
    await make('leaving');
    await budget('leaving', {});
    assert.equal((await server.send('DELETE', `${PODS}/leaving`)).status, 200);
    assert.equal((await evict('leaving', { deleteOptions: { gracePeriodSeconds: 0 } })).status, 201);
    assert.equal(pod('leaving'), undefined);
  });

  it('lab/W34: takes a disruption from the budget and writes down for whom', async () => {
    await make('one');
    await budget('one', { disruptionsAllowed: 1, currentHealthy: 2 });
    assert.equal((await evict('one')).status, 201);
    const { status } = server.stored('policy/poddisruptionbudgets/default/one');
    assert.equal(status.disruptionsAllowed, 0);
    assert.deepEqual(Object.keys(status.disruptedPods), ['one']);
    assert.equal(status.conditions[0].reason, 'InsufficientPods');
    assert.equal(isEvicted('one'), true);
  });

  it('apiserver/E26, lab/W34: refuses with 429 and no wait when the budget has nothing to give', async () => {
    await make('blocked');
    await budget('blocked', {});
    const { status, body } = await evict('blocked');
    assert.equal(status, 429);
    assert.equal(body['message'], VIOLATION);
    const message = 'The disruption budget blocked needs 1 healthy pods and has 1 currently';
    assert.deepEqual(body['details'], { causes: [{ reason: 'DisruptionBudget', message }] });
    assert.equal(isEvicted('blocked'), false);
  });

  it('lab/W34: tells a client to come back when the budget is still being looked at', async () => {
    await make('stale');
    await budget('stale', { observedGeneration: 0 });
    const response = await server.raw('POST', `${PODS}/stale/eviction`, { metadata: { name: 'stale' } });
    assert.equal(response.status, 429);
    assert.equal(response.headers['retry-after'], '10');
  });

  it('lab/W34: knows no answer to two budgets', async () => {
    await make('two');
    await budget('two', { disruptionsAllowed: 1 });
    await server.create(BUDGETS, {
      metadata: { name: 'two-b' },
      spec: { minAvailable: 0, selector: { matchLabels: { app: 'two' } } },
    });
    assert.equal((await evict('two')).status, 500);
  });

  for (const [name, isAllowed, status, spec] of [
    ['unready-always', true, {}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }],
    ['unready-healthy', true, { currentHealthy: 2, desiredHealthy: 2 }, {}],
    ['unready-short', false, { currentHealthy: 1, desiredHealthy: 2 }, {}],
    ['unready-none', false, { currentHealthy: 0, desiredHealthy: 0 }, {}],
  ] as const) {
    it(`lab/W34: lets a pod that is not ready ${isAllowed ? 'go' : 'stay'}: ${name}`, async () => {
      await make(name, { isReady: false });
      await budget(name, status, spec);
      assert.equal((await evict(name)).status, isAllowed ? 201 : 429);
      assert.equal(isEvicted(name), isAllowed);
      assert.equal(server.stored(`policy/poddisruptionbudgets/default/${name}`).status.disruptedPods, undefined);
    });
  }

  for (const [reason, status, text] of [
    ['SyncFailed', {}, 'because it failed sync: it broke'],
    ['Odd', { currentHealthy: 3 }, '(Odd): it broke'],
  ] as const) {
    it(`lab/W34: says why the budget gives nothing: ${reason}`, async () => {
      const name = reason.toLowerCase();
      const condition = { type: 'DisruptionAllowed', status: 'False', reason, message: 'it broke' };
      await make(name);
      await budget(name, {
        ...status,
        conditions: [{ ...condition, lastTransitionTime: '2026-01-01T00:00:00Z' }],
      });
      const details = (await evict(name)).body['details'] as { causes: { message: string }[] };
      const expected = `The disruption budget ${name} does not allow evicting pods currently ${text}`;
      assert.equal(details.causes[0]?.message, expected);
    });
  }

  it('changes nothing on a dry run', async () => {
    await make('dry');
    await budget('dry', { disruptionsAllowed: 1, currentHealthy: 2 });
    for (const answer of [
      await evict('dry', {}, '?dryRun=All'),
      await evict('dry', { deleteOptions: { dryRun: ['All'] } }),
    ]) {
      assert.equal(answer.status, 201);
    }
    assert.equal(isEvicted('dry'), false);
    assert.equal(server.stored('policy/poddisruptionbudgets/default/dry').status.disruptionsAllowed, 1);
  });

  it('honours preconditions and refuses another name', async () => {
    await make('strict');
    const preconditions = { uid: 'no' };
    const { status, message } = await evict('strict', { deleteOptions: { preconditions } });
    assert.equal(status, 409);
    assert.match(message, /^Operation cannot be fulfilled on Pod "strict": the UID/);
    assert.equal((await evict('strict', { metadata: { name: 'x' } })).status, 400);
    assert.equal((await evict('nobody')).status, 404);
    const { resourceVersion } = pod('strict').metadata;
    assert.equal((await evict('strict', { deleteOptions: { preconditions: { resourceVersion } } })).status, 201);
  });
});
