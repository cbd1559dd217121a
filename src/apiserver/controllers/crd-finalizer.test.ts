import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer, definition } from '../../../test/support/controlled-server.ts';
import type { JsonObject } from '../../object/json.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

describe('definition finalizer', () => {
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  const keyOf = (plural: string) => `apiextensions.k8s.io/customresourcedefinitions/${plural}.test.io`;
  const conditionOf = (plural: string, wanted: string): string => {
    const conditions: { type: string; status: string; reason: string }[] =
      server.stored(keyOf(plural))?.status.conditions ?? [];
    const found = conditions.find(({ type }) => type === wanted);
    return found === undefined ? '' : `${found.status} ${found.reason}`;
  };
  const define = async (plural: string, kind: string, scope = 'Namespaced') => {
    await server.create(CRDS, definition(plural, kind, scope));
    await server.until(() => conditionOf(plural, 'Established').startsWith('True'));
  };
  const make = (plural: string, kind: string, metadata: JsonObject) =>
    server.send('POST', `/apis/test.io/v1/namespaces/default/${plural}`, {
      apiVersion: 'test.io/v1',
      kind,
      metadata,
    });

  it('apiserver/X6: a delete adds the finalizer and says that objects will be deleted', async () => {
    await define('as', 'A');
    await make('as', 'A', { name: 'held', finalizers: ['ex.io/f'] });
    const crd = (await server.remove(`${CRDS}/as.test.io`, { propagationPolicy: 'Foreground' })) as never as {
      metadata: { finalizers: string[]; generation: number; deletionGracePeriodSeconds?: number };
      status: { conditions: { reason: string; message: string }[] };
    };
    assert.deepEqual(crd.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io']);
    assert.equal(crd.metadata.generation, 1);
    assert.equal(crd.metadata.deletionGracePeriodSeconds, undefined);
    assert.equal(crd.status.conditions.at(-1)?.reason, 'InstanceDeletionPending');
  });

  it('apiserver/X6: objects go, their finalizers are honoured, then the definition goes', async () => {
    await define('bs', 'B');
    await make('bs', 'B', { name: 'held', finalizers: ['ex.io/f'] });
    await make('bs', 'B', { name: 'free' });
    const reasons: string[] = [];
    const watching = server.store.subscribe('/registry/apiextensions.k8s.io/customresourcedefinitions/', () =>
      reasons.push(conditionOf('bs', 'Terminating')),
    );
    await server.remove(`${CRDS}/bs.test.io`);
    await server.gone('test.io/bs/default/free');
    await server.until(() => server.stored('test.io/bs/default/held').metadata.deletionTimestamp !== undefined);
    assert.equal(conditionOf('bs', 'Terminating'), 'True InstanceDeletionInProgress');
    const read = await server.send('GET', '/apis/test.io/v1/namespaces/default/bs/held');
    assert.equal(read.status, 200);
    await server.merge('/apis/test.io/v1/namespaces/default/bs/held', { metadata: { finalizers: null } });
    await server.gone(keyOf('bs'));
    watching[Symbol.dispose]();
    assert.deepEqual(reasons, ['True InstanceDeletionPending', 'True InstanceDeletionInProgress', '']);
    assert.equal((await server.raw('GET', '/apis/test.io/v1/namespaces/default/bs')).status, 404);
  });

  it('apiserver/X6: says that all objects are gone when another finalizer holds the definition', async () => {
    await define('cs', 'C', 'Cluster');
    await server.merge(`${CRDS}/cs.test.io`, { metadata: { finalizers: ['ex.io/mine'] } });
    await server.create('/apis/test.io/v1/cs', { apiVersion: 'test.io/v1', kind: 'C', metadata: { name: 'c' } });
    await server.remove(`${CRDS}/cs.test.io`);
    await server.until(() => conditionOf('cs', 'Terminating') === 'False InstanceDeletionCompleted');
    assert.deepEqual(server.stored(keyOf('cs')).metadata.finalizers, ['ex.io/mine']);
    assert.equal(server.stored('test.io/cs/c'), undefined);
  });

  it('apiserver/X6: a definition that was never established goes at once', async () => {
    await define('ds', 'D');
    // The kind is taken: the second definition is never served.
    await server.create(CRDS, definition('es', 'D'));
    await server.until(() => conditionOf('es', 'NamesAccepted').startsWith('False'));
    await server.remove(`${CRDS}/es.test.io`);
    await server.gone(keyOf('es'));
  });

  it('apiserver/E20: nothing new is created meanwhile', async () => {
    await define('fs', 'F');
    await make('fs', 'F', { name: 'held', finalizers: ['ex.io/f'] });
    await server.remove(`${CRDS}/fs.test.io`);
    const why = 'is forbidden: create not allowed while custom resource definition is terminating';
    const named = await make('fs', 'F', { name: 'new' });
    assert.equal(named.status, 403);
    assert.equal(named.body['message'], `fs.test.io "new" ${why}`);
    const generated = await make('fs', 'F', { generateName: 'new-' });
    assert.equal(generated.body['message'], `fs.test.io ${why}`);
    const change = await server.merge('/apis/test.io/v1/namespaces/default/fs/held', {
      metadata: { labels: { a: 'b' } },
    });
    assert.equal((change['metadata'] as JsonObject)['name'], 'held');
  });
});
