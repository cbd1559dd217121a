import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../object/json.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import { createWebhookClient, type ServiceResolver } from './webhook-client.ts';

const VALIDITY = { now: new Date(), validityMs: 3_600_000 };
const REVIEW: JsonObject = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: { uid: 'u' } };

/** Status, content type and text by path; `hang` and `reset` do what they say. */
const ANSWERS: Readonly<Record<string, readonly [number, string, string]>> = {
  '/ok': [200, 'application/json', '{"kind":"AdmissionReview"}'],
  '/created': [201, 'application/json', '{"kind":"AdmissionReview"}'],
  '/empty': [200, 'application/json', ''],
  '/list': [200, 'application/json', '[]'],
  '/word': [200, 'text/plain', 'hello'],
  '/half': [200, 'application/json', '{"a":'],
  '/status': [500, 'application/json', '{"kind":"Status","message":"inner"}'],
  '/json': [500, 'application/json', '{}'],
  '/large': [200, 'application/json', `"${'x'.repeat(3_200_000)}"`],
};

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the webhook client', () => {
  let url: string;
  let otherUrl: string;
  let caBundle: string;
  let foreignBundle: string;
  const servers: Server[] = [];
  const seen: JsonObject[] = [];
  before(async () => {
    const [authority, foreign] = await Promise.all([
      CertificateAuthority.create({ commonName: 'hooks', ...VALIDITY }),
      CertificateAuthority.create({ commonName: 'others', ...VALIDITY }),
    ]);
    caBundle = Buffer.from(authority.certificatePem).toString('base64');
    foreignBundle = Buffer.from(foreign.certificatePem).toString('base64');
    const serve = async (dnsNames: readonly string[], ipAddresses: readonly string[]) => {
      const request = { kind: 'serving' as const, commonName: 'w', dnsNames, ipAddresses, ...VALIDITY };
      const { certificatePem, keys } = await authority.issue(request);
      const server = createServer({ cert: certificatePem, key: keys.privateKeyPem }, (incoming, response) => {
        const { pathname, search } = new URL(incoming.url ?? '/', 'https://host');
        seen.push({ path: pathname, query: search, agent: incoming.headers['user-agent'] ?? '' });
        incoming.resume();
        if (pathname === '/hang') return;
        if (pathname === '/reset') return void incoming.socket.destroy();
        const [status, type, text] = ANSWERS[pathname] ?? [Number(pathname.slice(1)), 'text/plain', 'told'];
        response.writeHead(status, { 'content-type': type }).end(text);
      });
      servers.push(server);
      return listening(server);
    };
    url = await serve(['localhost', 's.n.svc'], ['127.0.0.1']);
    otherUrl = await serve(['other.example.com'], []);
  });
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  const call = (clientConfig: JsonObject, resolveService: ServiceResolver = () => undefined, timeoutMs = 2000) =>
    createWebhookClient({ resolveService })({ clientConfig, review: REVIEW, timeoutMs });
  const path = (name: string, timeoutMs = 2000) => call({ url: `${url}${name}`, caBundle }, undefined, timeoutMs);
  const failure = async (answer: Promise<unknown>): Promise<string> => {
    const error: unknown = await answer.then(
      () => 'no error',
      (reason: unknown) => reason,
    );
    return error instanceof Error ? error.message : String(error);
  };

  it('apiserver/V3: posts the review with its timeout and takes every success', async () => {
    assert.deepEqual(await path('/ok'), { kind: 'AdmissionReview' });
    assert.deepEqual(await path('/created', 1500), { kind: 'AdmissionReview' });
    assert.deepEqual(seen.slice(-2), [
      { path: '/ok', query: '?timeout=2s', agent: 'kube-apiserver-admission' },
      { path: '/created', query: '?timeout=2s', agent: 'kube-apiserver-admission' },
    ]);
  });

  it('apiserver/V6, lab/E1: follows a service to an address whose certificate names the service', async () => {
    const service = { namespace: 'n', name: 's', path: '/ok' };
    assert.deepEqual(await call({ service, caBundle }, () => url), { kind: 'AdmissionReview' });
    const wrong = await failure(call({ service, caBundle }, () => otherUrl));
    assert.match(wrong, /x509: certificate is valid for other\.example\.com, not s\.n\.svc$/);
  });

  it('apiserver/V6: gives a webhook in this process no more time than it asked for', async () => {
    const service = { namespace: 'n', name: 's' };
    const text = await failure(call({ service }, () => () => new Promise(() => {}), 5));
    assert.equal(text, 'Post "https://s.n.svc:443?timeout=1s": context deadline exceeded');
  });

  for (const [name, message] of [
    ['/empty', '0-length response with status code: 200 and content type: application/json'],
    ['/half', "couldn't get version/kind; json parse error: unexpected end of JSON input"],
    ['/status', 'inner'],
    ['/json', 'an error on the server ("unknown") has prevented the request from succeeding'],
    ['/large', 'the answer is larger than 3 MiB'],
    ['/500', 'an error on the server ("told") has prevented the request from succeeding'],
    ['/404', 'the server could not find the requested resource'],
    ['/403', 'told'],
    ['/418', 'the server responded with the status code 418 but did not return more information'],
    ['/503', 'the server is currently unable to handle the request'],
  ] as const) {
    it(`apiserver/V5: says of ${name}: ${message}`, async () => {
      assert.equal(await failure(path(name)), message);
    });
  }

  it('apiserver/V5: says of what is no object that it is none', async () => {
    const struct =
      /^couldn't get version\/kind; json parse error: json: cannot unmarshal (array|string) into Go value/;
    assert.equal(struct.exec(await failure(path('/list')))?.[1], 'array');
    assert.equal(struct.exec(await failure(path('/word')))?.[1], 'string');
  });

  it('apiserver/V5: says why nobody answered, in the words of Go', async () => {
    const post = (name: string, seconds = 2) => `Post "${url}${name}?timeout=${seconds}s"`;
    assert.equal(await failure(path('/hang', 50)), `${post('/hang', 1)}: context deadline exceeded`);
    assert.equal(await failure(path('/reset')), `${post('/reset')}: EOF`);
    const untrusted = 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    assert.equal(
      await failure(call({ url: `${url}/ok`, caBundle: foreignBundle })),
      `${post('/ok')}: ${untrusted}`,
    );
    assert.equal(await failure(call({ url: `${url}/ok` })), `${post('/ok')}: ${untrusted}`);
    const noAddress = /x509: cannot validate certificate for 127\.0\.0\.1 because it doesn't contain any IP SANs$/;
    assert.match(await failure(call({ url: `${otherUrl}/ok`, caBundle })), noAddress);
    const refused = 'Post "https://127.0.0.1:1/x?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused';
    assert.equal(await failure(call({ url: 'https://127.0.0.1:1/x', caBundle })), refused);
  });

  it('apiserver/V5: knows a server that speaks no TLS', async () => {
    const plain = createTcpServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad\r\n\r\n'));
    plain.listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as AddressInfo;
    const text = await failure(call({ url: `https://127.0.0.1:${port}/x`, caBundle }));
    plain.close();
    assert.match(text, /: http: server gave HTTP response to HTTPS client$/);
  });
});
