import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { ProxyWorld } from '../../../test/support/proxy-world.ts';
import { Service } from '../../api/generated/core-v1.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { createWebhookClient } from '../../apiserver/webhooks/webhook-client.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { createCache } from '../../kube/cache/create-cache.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import { serviceResolver } from './service-resolver.ts';

const resolverOf = ({ plan, cache }: ProxyWorld) => serviceResolver({ plan, cache });
const WEB = { namespace: 'default', name: 'web', port: 8000 };

describe('serviceResolver', () => {
  it('lab/X12: leads to the wire addresses of ready endpoints, one after the other', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    const [a, b, c] = [await world.backend('a'), await world.backend('b'), await world.backend('c')];
    await world.serve([a, b, { ...c, conditions: { ready: false, serving: true, terminating: true } }]);
    const resolve = resolverOf(world);
    const urlOf = (host: string) => {
      const target = world.plan.target({ host, port: 8080 });
      return `https://${target.host}:${target.port}`;
    };
    const urls = [resolve(WEB), resolve(WEB), resolve(WEB)];
    assert.deepEqual(new Set(urls), new Set([urlOf(a.api), urlOf(b.api)]));
    assert.equal(urls[2], urls[0]);
  });

  it('lab/X12: says what is missing', async () => {
    await using world = await ProxyWorld.start();
    const resolve = resolverOf(world);
    assert.equal(resolve(WEB), undefined);
    await world.addService();
    assert.throws(() => resolve(WEB), /^SlipwayError: no endpoints available for service "web"$/);
    assert.throws(() => resolve({ ...WEB, port: 1 }), /no service port 1 found for service "web"/);
    const metadata = { namespace: 'default', name: 'elsewhere' };
    const spec = { type: 'ExternalName', externalName: 'example.com' } as const;
    await world.env.client.create(Service, { metadata, spec });
    await world.settle();
    assert.throws(() => resolve({ ...WEB, name: 'elsewhere' }), /of type ExternalName/);
  });

  it('lab/X12: does not take services for missing that it has not read yet', async () => {
    await using world = await ProxyWorld.start();
    const { plan, env } = world;
    const cache = createCache({ live: env.client.live, clock: env.clock, log: SILENT_LOG });
    assert.throws(() => serviceResolver({ plan, cache })(WEB), /have not been read yet/);
  });

  it('lab/X12: brings the API server to a webhook in a pod, over TLS', async () => {
    await using world = await ProxyWorld.start();
    await world.addService();
    const now = new Date();
    const authority = await CertificateAuthority.create({ commonName: 'hooks', now, validityMs: 3_600_000 });
    const dnsNames = ['web.default.svc'];
    const { certificatePem: cert, keys } = await authority.issue({
      kind: 'serving',
      commonName: 'web',
      dnsNames,
      ipAddresses: [],
      now,
      validityMs: 3_600_000,
    });
    const server = createHttpsServer({ cert, key: keys.privateKeyPem }, (request, response) => {
      request.resume().on('end', () => response.end(JSON.stringify({ path: request.url })));
    });
    const { api } = world.plan.pods.take();
    await world.plan.listen(server, { host: api, port: 8080 });
    await world.serve([{ name: 'hook', node: 'n1', api, server, conditions: { ready: true } }]);
    const call = createWebhookClient({ resolveService: resolverOf(world) });
    const service = { namespace: 'default', name: 'web', port: 8000, path: '/validate' };
    const caBundle = Buffer.from(authority.certificatePem).toString('base64');
    const answer = await call({ clientConfig: { service, caBundle }, review: {}, timeoutMs: 5000 });
    assert.deepEqual(answer, { path: '/validate?timeout=5s' });
    server.closeAllConnections();
    server.close();
  });
});

describe('the certificate of an API server', () => {
  it('lab/X12: is for its wire address, its API address and its names inside the cluster', async () => {
    await using world = await ProxyWorld.start();
    const { api, wire } = world.plan.clusterApi(1);
    await using server = await startApiServer({ listen: { host: wire, port: 0, hostNames: [api, wire] } });
    const { hostname: host, port } = new URL(server.url);
    const socket = connect({ host, port: Number(port), ca: server.authority.certificatePem });
    await once(socket, 'secureConnect');
    const { subjectaltname: names = '' } = socket.getPeerCertificate();
    socket.destroy();
    for (const name of [`IP Address:${api}`, `IP Address:${wire}`, 'DNS:kubernetes.default.svc'])
      assert.ok(names.split(', ').includes(name), `${name} is not among ${names}`);
  });
});
