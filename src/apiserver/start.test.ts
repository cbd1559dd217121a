import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { scratchDirectory } from '../../test/support/scratch.ts';
import {
  assertStatus,
  at,
  configMap,
  customDefinition,
  itemNames,
  ServedApi,
  sharedApi,
} from '../../test/support/served-api.ts';
import { recordedLog } from '../../test/support/store.ts';
import { VirtualClock } from '../base/clock.ts';
import { startApiServer } from './start.ts';

const decoded = (text = ''): string => Buffer.from(text, 'base64').toString('utf8');

describe('startApiServer', () => {
  it('apiserver/G4: has what every cluster has', async () => {
    const api = await sharedApi();
    for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
      assert.equal((await api.get(`/api/v1/namespaces/${name}`)).status, 200);
      assert.equal((await api.get(`/api/v1/namespaces/${name}/serviceaccounts/default`)).status, 200);
      assert.equal((await api.get(`/api/v1/namespaces/${name}/configmaps/kube-root-ca.crt`)).status, 200);
    }
    const service = await api.get('/api/v1/namespaces/default/services/kubernetes');
    assert.equal(at(service.body, 'spec', 'clusterIP'), '10.0.0.1');
    const priorities = await api.get('/apis/scheduling.k8s.io/v1/priorityclasses');
    assert.deepEqual(itemNames(priorities.body), ['system-cluster-critical', 'system-node-critical']);
  });

  it('apiserver/Z4: has the roles of a new cluster, and binds its administrators', async () => {
    const api = await sharedApi();
    const roles = itemNames((await api.get('/apis/rbac.authorization.k8s.io/v1/clusterroles')).body);
    for (const name of ['cluster-admin', 'admin', 'edit', 'view', 'system:discovery', 'system:basic-user']) {
      assert.ok(roles.includes(name), name);
    }
    assert.equal((await api.get('/version', { user: 'jane' })).status, 200);
    assert.equal((await api.get('/api/v1/nodes', { user: 'jane', groups: ['system:masters'] })).status, 200);
  });

  it('lab/E4: says where the server of the service kubernetes is, and proves to be it', async () => {
    const advertise = { host: '10.77.1.254', port: 6443 };
    const range = { serviceRange: '10.77.96.0/19' };
    await using server = await startApiServer({
      storage: 'memory',
      listen: { hostNames: ['hub'] },
      advertise,
      ...range,
    });
    const transport = server.client();
    const read = async (target: string) =>
      JSON.parse(Buffer.from(await (await transport({ method: 'GET', target })).bytes()).toString('utf8'));
    const ports = [{ name: 'https', port: 6443, protocol: 'TCP' }];
    const slice = await read('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes');
    assert.deepEqual(slice.metadata.labels, { 'kubernetes.io/service-name': 'kubernetes' });
    const endpoints = [{ addresses: ['10.77.1.254'], conditions: { ready: true } }];
    assert.deepEqual([slice.addressType, slice.endpoints, slice.ports], ['IPv4', endpoints, ports]);
    const old = await read('/api/v1/namespaces/default/endpoints/kubernetes');
    assert.deepEqual(old.metadata.labels, { 'endpointslice.kubernetes.io/skip-mirror': 'true' });
    assert.deepEqual(old.subsets, [{ addresses: [{ ip: '10.77.1.254' }], ports }]);
    const session = connectTls({ port: Number(new URL(server.url).port), rejectUnauthorized: false });
    await once(session, 'secureConnect');
    const { subjectaltname: names = '' } = session.getPeerCertificate();
    session.destroy();
    for (const name of [
      'DNS:kubernetes.default.svc',
      'DNS:hub',
      'IP Address:10.77.96.1',
      'IP Address:10.77.1.254',
    ])
      assert.ok(names.split(', ').includes(name), `${name} in ${names}`);
  });

  it('lab/E4: puts right what an earlier start has said, and writes nothing when it is right', async () => {
    await using folder = await scratchDirectory();
    const dataDir = join(folder.path, 'api');
    const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';
    const startedAt = async (advertise: { readonly host: string; readonly port?: number }) => {
      await using server = await startApiServer({ dataDir, advertise });
      const answer = await server.client()({ method: 'GET', target: path });
      const { endpoints, ports, metadata } = JSON.parse(Buffer.from(await answer.bytes()).toString('utf8'));
      const isOwnPort = ports[0].port === Number(new URL(server.url).port);
      return { address: endpoints[0].addresses[0], isOwnPort, version: metadata.resourceVersion };
    };
    const first = await startedAt({ host: '10.77.1.254', port: 6443 });
    const same = await startedAt({ host: '10.77.1.254', port: 6443 });
    const moved = await startedAt({ host: '10.78.1.254' });
    assert.equal(same.version, first.version);
    assert.deepEqual([moved.address, moved.isOwnPort], ['10.78.1.254', true]);
  });

  it('lab/E4: does not start when its address cannot be told to anybody', async () => {
    await assert.rejects(startApiServer({ storage: 'memory', advertise: { host: '127.0.0.1' } }), {
      reason: 'InvalidAdvertisedAddress',
      message: /^the address of the API server cannot be published: .*may not be in the loopback range/,
    });
  });

  it('lab/T3: holds time while it serves a request that came over the network, and not for a watch', async () => {
    const held = new Set<string>();
    const seen: string[] = [];
    const hold = (reason: string) => {
      held.add(reason);
      seen.push(reason);
      return { [Symbol.dispose]: () => void held.delete(reason) };
    };
    await using server = await startApiServer({ storage: 'memory', hold });
    const session = connect(server.url, { rejectUnauthorized: false });
    const [read, watch] = ['/version', '/api/v1/nodes?watch=1'].map((path) => session.request({ ':path': path }));
    await once(read ?? session, 'response');
    await once(watch ?? session, 'response');
    assert.deepEqual([seen, [...held]], [['GET /version', 'GET /api/v1/nodes'], []]);
    session.destroy();
  });

  it('lab/T10: refuses what it is told to refuse when it comes over the network, and says why', async () => {
    await using server = await startApiServer({
      storage: 'memory',
      auth: { mode: 'AlwaysAllow' },
      refuse: ({ resource, name }) => (resource === 'configmaps' ? `no ${name} today` : undefined),
    });
    const target = '/api/v1/namespaces/default/configmaps/a';
    const session = connect(server.url, { rejectUnauthorized: false });
    const answer = async (path: string) => {
      const request = session.request({ ':path': path });
      const [headers] = await once(request, 'response');
      return { ...JSON.parse(await text(request)), status: headers[':status'] };
    };
    const { status, message, reason, details } = await answer(target);
    assert.equal(status, 403);
    assert.equal(message, 'configmaps "a" is forbidden: no a today');
    assert.deepEqual([reason, details], ['Forbidden', { name: 'a', kind: 'configmaps' }]);
    assert.equal((await answer('/api/v1/nodes')).status, 200);
    assert.equal((await server.client()({ method: 'GET', target })).status, 404, 'in this process it is served');
    session.destroy();
  });

  it('tells who asked for what, and what the answer was', async () => {
    const served: string[] = [];
    await using server = await startApiServer({
      storage: 'memory',
      listen: false,
      audit: ({ user, method, path, isDryRun, code }) =>
        served.push(`${user} ${method} ${path}${isDryRun ? ' (dry)' : ''}: ${code}`),
    });
    served.length = 0;
    const target = '/api/v1/namespaces/default/configmaps';
    await server.client('jane')({ method: 'GET', target });
    const body = JSON.stringify({ metadata: { name: 'a' } });
    await server.client()({ method: 'POST', target: `${target}?dryRun=All`, body });
    assert.deepEqual(served, [`jane GET ${target}: 403`, `admin POST ${target} (dry): 201`]);
  });

  it('apiserver/Z3: asks no roles when everything is allowed', async () => {
    await using api = await ServedApi.start({ auth: { mode: 'AlwaysAllow' } });
    assert.equal((await api.get('/api/v1/secrets', { user: 'jane' })).status, 200);
    assert.deepEqual((await api.get('/apis/rbac.authorization.k8s.io/v1/clusterroles')).body['items'], []);
  });

  it('creates the definitions it is given, and refuses to start with a wrong one', async () => {
    const definition = { ...customDefinition('starters', 'Starter'), kind: 'CustomResourceDefinition' };
    await using api = await ServedApi.start({ auth: { mode: 'AlwaysAllow' }, crds: [definition, definition] });
    assert.equal((await api.get('/apis/t.io/v1/starters')).status, 200);
    const wrong = { metadata: { name: 'x' }, spec: {} };
    await assert.rejects(ServedApi.start({ crds: [definition, wrong] }), {
      reason: 'InvalidDefinition',
      message: /^crds\[1\] \(x\): CustomResourceDefinition\.apiextensions\.k8s\.io "x" is invalid: /,
    });
    await assert.rejects(ServedApi.start({ crds: [{ metadata: null }] }), { message: /^crds\[0\]: [^{]/ });
  });

  it('leaves a folder as it was when it cannot start there', async () => {
    await using folder = await scratchDirectory();
    writeFileSync(join(folder.path, 'store.db'), 'of somebody else');
    await assert.rejects(startApiServer({ dataDir: folder.path, listen: false }), { reason: 'StoreDamaged' });
    assert.deepEqual(readdirSync(folder.path), ['store.db', 'store.lock']);
    await using other = await scratchDirectory();
    writeFileSync(join(other.path, 'identity.json'), '{');
    await assert.rejects(startApiServer({ dataDir: other.path, listen: false }), { reason: 'IdentityUnusable' });
    assert.deepEqual(readdirSync(other.path), ['identity.json']);
  });

  it('apiserver/H1, Z2: listens where it is told and lets its administrator in by certificate', async () => {
    await using server = await startApiServer({ listen: { hostNames: ['api.test'] } });
    assert.match(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.ok(server.kinds > 60);
    const { clusters, users } = await server.kubeconfig();
    const [ca, user] = [decoded(clusters[0]?.cluster['certificate-authority-data']), users[0]?.user];
    assert.equal(clusters[0]?.cluster.server, server.url);
    assert.ok(new X509Certificate(ca).ca);
    const cert = decoded(user?.['client-certificate-data']);
    const session = connect(server.url, { ca, cert, key: decoded(user?.['client-key-data']) });
    const stream = session.request({ ':path': '/api/v1/secrets' });
    assert.match((await buffer(stream)).toString('utf8'), /^\{"kind":"SecretList"/);
    session.close();
  });

  it('apiserver/H11: ends watches cleanly and is not ready any more when it stops', async () => {
    const server = await startApiServer({ auth: { mode: 'AlwaysAllow' }, listen: {} });
    const { clusters } = await server.kubeconfig('jane', ['dev']);
    const session = connect(server.url, { ca: decoded(clusters[0]?.cluster['certificate-authority-data']) });
    const stream = session.request({ ':path': '/api/v1/namespaces?watch=true&resourceVersion=0' });
    await once(stream, 'readable');
    const client = server.client();
    const watch = await client({ method: 'GET', target: '/api/v1/namespaces?watch=true' });
    const chunks = watch.stream()[Symbol.asyncIterator]();
    await chunks.next();
    const body = buffer(stream);
    await server.stop();
    assert.match((await body).toString('utf8'), /^(\{"type":"ADDED".*\n){4}$/);
    assert.equal(stream.rstCode, 0);
    for (let next = await chunks.next(); next.done !== true; ) next = await chunks.next();
    const ready = await client({ method: 'GET', target: '/readyz' });
    assert.equal(ready.status, 500);
    assert.match(Buffer.from(await ready.bytes()).toString('utf8'), /\[-\]serving failed: the server is stopping/);
    session.destroy();
  });

  it('apiserver/K3, K7: finds its objects, its keys and its allocations again', async () => {
    await using folder = await scratchDirectory();
    const options = { storage: 'sqlite', dataDir: folder.path, durability: 'normal', release: '1.2.3' } as const;
    const services = '/api/v1/namespaces/default/services';
    const spec = { type: 'NodePort', clusterIP: '10.0.0.50', ports: [{ port: 80, nodePort: 30_123 }] };
    const first = await ServedApi.start(options);
    await first.define(customDefinition('keepers', 'Keeper'));
    await first.create(services, { metadata: { name: 's' }, spec });
    await first.create(services, {
      metadata: { name: 'headless' },
      spec: { clusterIP: 'None', ports: [{ port: 1 }] },
    });
    const made = await first.create('/api/v1/namespaces/default/configmaps', configMap('kept'));
    const { revision } = first.server.store;
    await first.server.stop();
    await using second = await ServedApi.start(
      options,
      new VirtualClock({ seed: 2, start: new Date('2026-05-05T00:00:00Z') }),
    );
    assert.deepEqual((await second.get('/api/v1/namespaces/default/configmaps/kept')).body, made);
    assert.equal(second.server.store.revision, revision, 'a start makes nothing that is there');
    assert.equal((await second.get('/apis/t.io/v1/keepers')).status, 200);
    const port = { ...spec, clusterIP: '10.0.0.51' };
    const taken = await second.send('POST', services, { body: { metadata: { name: 't' }, spec: port } });
    assertStatus(taken, 422, 'Invalid', /provided port is already allocated/);
    const address = { clusterIP: '10.0.0.50', ports: [{ port: 80 }] };
    const again = await second.send('POST', services, { body: { metadata: { name: 't' }, spec: address } });
    assertStatus(again, 422, 'Invalid', /provided IP is already allocated/);
  });

  it('closes what it opened when it cannot start', async () => {
    await using server = await startApiServer({ auth: { mode: 'AlwaysAllow' }, listen: {} });
    await using folder = await scratchDirectory();
    const port = Number(new URL(server.url).port);
    const dataDir = join(folder.path, 'api');
    await assert.rejects(startApiServer({ dataDir, listen: { port } }), { code: 'EADDRINUSE' });
    const other = await startApiServer({ dataDir, listen: false });
    await other.stop();
  });

  it('says what is wrong with a folder it cannot use', async () => {
    await using folder = await scratchDirectory();
    const file = join(folder.path, 'file');
    writeFileSync(file, '');
    await assert.rejects(startApiServer({ dataDir: file, listen: false }));
    await assert.rejects(startApiServer({ storage: 'sqlite', listen: false }), /storage "sqlite" needs dataDir/);
  });

  it('apiserver/G11: runs without the controllers it is told to leave out', async () => {
    const { log } = recordedLog();
    const controllers = { gc: false, namespace: false, crd: false };
    await using api = await ServedApi.start({ auth: { mode: 'AlwaysAllow' }, controllers, log });
    const space = await api.namespace();
    await api.send('DELETE', space);
    assert.equal(at((await api.get(space)).body, 'status', 'phase'), 'Terminating');
  });
});
