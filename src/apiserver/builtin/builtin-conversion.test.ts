import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { at, type ServedApi, sharedApi } from '../../../test/support/served-api.ts';
import { gadgets } from '../../../test/support/served-resources.ts';
import { convertBuiltin } from './builtin-conversion.ts';

describe('convertBuiltin', () => {
  let api: ServedApi;
  let space: string;
  before(async () => {
    api = await sharedApi();
    space = (await api.namespace()).slice('/api/v1/'.length);
  });

  it('apiserver/G12: shows one event in both groups', async () => {
    const name = space.slice('namespaces/'.length);
    const [core, group] = [`/api/v1/${space}/events`, `/apis/events.k8s.io/v1/${space}/events`];
    await api.create(core, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: name },
      message: 'told',
      reason: 'Because',
      type: 'Normal',
      count: 2,
    });
    const { body } = await api.get(`${group}/e`);
    assert.partialDeepStrictEqual(body, {
      kind: 'Event',
      apiVersion: 'events.k8s.io/v1',
      regarding: { name: 'p' },
      note: 'told',
      deprecatedCount: 2,
    });
    const { body: list } = await api.get(group);
    assert.deepEqual([at(list, 'items', 0, 'note'), at(list, 'items', 0, 'kind')], ['told', undefined]);
    await api.create(group, {
      metadata: { name: 'f', namespace: name },
      eventTime: '2026-05-04T03:02:01.000000Z',
      reportingController: 'ex.io/c',
      reportingInstance: 'c-1',
      action: 'Act',
      reason: 'Because',
      type: 'Normal',
      regarding: { kind: 'Pod', name: 'p', namespace: name },
      note: 'noted',
    });
    assert.partialDeepStrictEqual((await api.get(`${core}/f`)).body, {
      apiVersion: 'v1',
      involvedObject: { name: 'p' },
      message: 'noted',
      reportingComponent: 'ex.io/c',
    });
  });

  it('shows an autoscaler in both versions', async () => {
    const [v1, v2] = ['v1', 'v2'].map(
      (version) => `/apis/autoscaling/${version}/${space}/horizontalpodautoscalers`,
    );
    const spec = {
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 50,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    };
    await api.create(v1 ?? '', { metadata: { name: 'h' }, spec });
    const { body } = await api.get(`${v2}/h`);
    assert.equal(body['apiVersion'], 'autoscaling/v2');
    assert.equal(at(body, 'spec', 'metrics', 0, 'resource', 'target', 'averageUtilization'), 50);
    assert.equal(at((await api.get(`${v1}/h`)).body, 'spec', 'targetCPUUtilizationPercentage'), 50);
  });

  it('changes only the version of a kind that has one form', () => {
    const to = gadgets('v2', {}, { isCustom: false });
    assert.deepEqual(convertBuiltin({ apiVersion: 'x/v1', a: 1 }, to), {
      apiVersion: 'generated.slipway.dev/v2',
      a: 1,
    });
  });
});
