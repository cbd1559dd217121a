import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer, definition } from '../../../test/support/controlled-server.ts';
import { SystemClock, VirtualClock } from '../../base/clock.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('namespace controller', () => {
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start();
    await server.create(CRDS, definition('things', 'Thing'));
    await server.until(() => isEstablished('things.test.io'));
  });
  after(() => server[Symbol.asyncDispose]());

  const isEstablished = (name: string): boolean =>
    (server.stored(`apiextensions.k8s.io/customresourcedefinitions/${name}`)?.status.conditions ?? []).some(
      (condition: { type: string; status: string }) =>
        condition.type === 'Established' && condition.status === 'True',
    );
  const make = (name: string) => server.create('/api/v1/namespaces', { metadata: { name } });
  const configMap = (namespace: string, name: string, finalizers: string[] = []) =>
    server.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name, finalizers } });
  const conditionsOf = (name: string): [string, string, string, string][] =>
    (server.stored(`core/namespaces/${name}`)?.status.conditions ?? []).map(
      ({ type, status, reason, message }: Record<string, string>) => [type, status, reason, message],
    );

  it('apiserver/G1: a delete sets deletionTimestamp and the phase, and no grace period', async () => {
    await make('g1');
    await configMap('g1', 'held', ['ex.io/f']);
    const { metadata, status } = (await server.remove('/api/v1/namespaces/g1')) as never as {
      metadata: Record<string, unknown>;
      status: { phase: string };
    };
    assert.equal(status.phase, 'Terminating');
    assert.equal(typeof metadata['deletionTimestamp'], 'string');
    assert.equal(metadata['deletionGracePeriodSeconds'], undefined);
  });

  it('apiserver/G2: everything in it goes, custom resources too, and then the namespace', async () => {
    await make('g2');
    await configMap('g2', 'a');
    await server.create('/apis/test.io/v1/namespaces/g2/things', {
      apiVersion: 'test.io/v1',
      kind: 'Thing',
      metadata: { name: 't' },
    });
    await server.remove('/api/v1/namespaces/g2');
    await server.gone('core/namespaces/g2');
    const left = [...server.store.list('/registry/')].filter(({ key }) => key.includes('/g2'));
    assert.deepEqual(
      left.map(({ key }) => key),
      [],
    );
  });

  it('apiserver/G2: other entries of spec.finalizers keep it', async () => {
    await make('g2k');
    const { body } = await server.send('GET', '/api/v1/namespaces/g2k');
    await server.send('PUT', '/api/v1/namespaces/g2k/finalize', {
      ...body,
      spec: { finalizers: ['kubernetes', 'ex.io/k'] },
    });
    await server.remove('/api/v1/namespaces/g2k');
    await server.until(() => server.stored('core/namespaces/g2k').spec.finalizers.join() === 'ex.io/k');
    const waiting = await server.send('GET', '/api/v1/namespaces/g2k');
    await server.send('PUT', '/api/v1/namespaces/g2k/finalize', { ...waiting.body, spec: {} });
    await server.gone('core/namespaces/g2k');
  });

  it('apiserver/G3: says what is left and why, and in the end that all is well', async () => {
    await make('g3');
    await configMap('g3', 'held', ['ex.io/f']);
    const seen: [string, string, string, string][][] = [];
    const watching = server.store.subscribe('/registry/core/namespaces/', () => seen.push(conditionsOf('g3')));
    await server.remove('/api/v1/namespaces/g3');
    await server.until(() => conditionsOf('g3').length > 0);
    assert.deepEqual(conditionsOf('g3'), [
      [
        'NamespaceDeletionDiscoveryFailure',
        'False',
        'ResourcesDiscovered',
        'All resources successfully discovered',
      ],
      [
        'NamespaceDeletionGroupVersionParsingFailure',
        'False',
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ],
      [
        'NamespaceDeletionContentFailure',
        'False',
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ],
      [
        'NamespaceContentRemaining',
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 1 resource instances',
      ],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: ex.io/f in 1 resource instances',
      ],
    ]);
    await server.merge('/api/v1/namespaces/g3/configmaps/held', { metadata: { finalizers: null } });
    await server.gone('core/namespaces/g3');
    watching[Symbol.dispose]();
    const last = seen.findLast((conditions) => conditions.length > 0) ?? [];
    assert.deepEqual(
      last.slice(3).map(([, status, reason]) => `${status} ${reason}`),
      ['False ContentRemoved', 'False ContentHasNoFinalizers'],
    );
  });

  it('apiserver/G2: pods go before anything else is touched', async () => {
    await make('g2p');
    await configMap('g2p', 'a');
    await server.create('/api/v1/namespaces/g2p/pods', {
      metadata: { name: 'p', finalizers: ['ex.io/f'] },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await server.remove('/api/v1/namespaces/g2p');
    await server.until(() => conditionsOf('g2p').length > 0);
    assert.notEqual(server.stored('core/configmaps/g2p/a'), undefined);
    await server.merge('/api/v1/namespaces/g2p/pods/p', { metadata: { finalizers: null } });
    await server.gone('core/namespaces/g2p', 'core/configmaps/g2p/a');
  });

  it('apiserver/G1: a second delete changes nothing', async () => {
    await make('g1b');
    await configMap('g1b', 'held', ['ex.io/f']);
    await server.remove('/api/v1/namespaces/g1b');
    await server.until(() => conditionsOf('g1b').length > 0);
    const { revision } = server.store.get('/registry/core/namespaces/g1b') ?? {};
    await server.remove('/api/v1/namespaces/g1b', { propagationPolicy: 'Foreground' });
    assert.equal(server.store.get('/registry/core/namespaces/g1b')?.revision, revision);
  });

  it('apiserver/G4: the first namespaces have their account and authority from the start', () => {
    for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      assert.notEqual(server.stored(`core/serviceaccounts/${namespace}/default`), undefined);
      assert.match(server.stored(`core/configmaps/${namespace}/kube-root-ca.crt`).data['ca.crt'], /^-----BEGIN/);
    }
  });

  it('apiserver/G4: every new namespace gets them, and gets them back', async () => {
    const keys = ['core/serviceaccounts/g4/default', 'core/configmaps/g4/kube-root-ca.crt'];
    const areThere = () => keys.every((key) => server.stored(key) !== undefined);
    await make('g4');
    await server.until(areThere);
    const before = server.stored(keys[0] ?? '').metadata.uid;
    await server.remove('/api/v1/namespaces/g4/serviceaccounts/default');
    await server.remove('/api/v1/namespaces/g4/configmaps/kube-root-ca.crt');
    await server.until(areThere);
    assert.notEqual(server.stored(keys[0] ?? '').metadata.uid, before);
    await server.merge('/api/v1/namespaces/g4/configmaps/kube-root-ca.crt', { data: { 'ca.crt': 'wrong' } });
    await server.until(() => server.stored(keys[1] ?? '').data['ca.crt'] !== 'wrong');
  });
});

describe('switched off controllers', () => {
  it('apiserver/G11: leave namespaces, dependents and definitions as they are', async () => {
    await using server = await ControlledServer.start({
      controllers: { gc: false, namespace: false, crd: false },
      crds: [definition('things', 'Thing')],
    });
    await server.create('/api/v1/namespaces', { metadata: { name: 'x' } });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'no', uid: 'none' };
    await server.create('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'd', ownerReferences: [owner] },
    });
    await server.remove('/api/v1/namespaces/x');
    await server.remove(`${CRDS}/things.test.io`);
    // Anything a controller did would be done by the time a later write is.
    await server.create('/api/v1/namespaces/default/configmaps', { metadata: { name: 'later' } });
    assert.equal(server.stored('core/namespaces/x').status.conditions, undefined);
    assert.notEqual(server.stored('core/configmaps/default/d'), undefined);
    const { conditions } = server.stored('apiextensions.k8s.io/customresourcedefinitions/things.test.io').status;
    assert.equal(conditions.at(-1).reason, 'InstanceDeletionPending');
  });
});

describe('a server whose namespaces get their accounts from somebody else', () => {
  it('apiserver/G11: makes none, and refuses pods without one though its clock stands still', async () => {
    const [clock, real] = [new VirtualClock(), new SystemClock()];
    await using server = await ControlledServer.start({ clock, real, controllers: { accounts: false } });
    const target = '/api/v1/namespaces/default/pods';
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const { status, body } = await server.send('POST', target, pod);
    assert.equal(status, 403);
    assert.match(JSON.stringify(body), /serviceaccount \\"default\\" not found/);
    assert.equal(server.stored('core/serviceaccounts/default/default'), undefined);
    assert.equal(server.stored('core/configmaps/default/kube-root-ca.crt'), undefined);
  });
});

describe('a delayed namespace controller', () => {
  it('apiserver/G1: leaves the content alone for as long as it is told', async () => {
    const clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
    await using server = await ControlledServer.start({ clock, controllers: { namespaceDelayMs: 5000 } });
    await server.create('/api/v1/namespaces', { metadata: { name: 'x' } });
    await server.remove('/api/v1/namespaces/x');
    await clock.advance(4900);
    assert.equal(server.stored('core/namespaces/x').status.conditions, undefined);
    await clock.advance(100);
    await server.gone('core/namespaces/x');
  });
});
