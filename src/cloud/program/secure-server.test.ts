import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get as getPlain, type IncomingMessage } from 'node:http';
import { get as getSecure, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { Kind } from '../../api/object.ts';
import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Reader, Writer } from '../../kube/client/kube-client.ts';
import { HealthChecks } from '../../kube/manager/health-checks.ts';
import type { ServedPart } from '../../kube/manager/served-part.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { CertificateAuthority, type Credential } from '../../pki/certificate-authority.ts';
import { ClientAuthority } from './client-authority.ts';
import { configz } from './configz.ts';
import { plainServer, secureServer } from './secure-server.ts';
import { readSettings } from './settings.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly protocol: string;
  readonly subject: string;
}

async function answerOf(message: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const socket = message.socket as Partial<TLSSocket>;
  const certificate = socket.getPeerX509Certificate?.();
  return {
    status: message.statusCode ?? 0,
    text: Buffer.concat(chunks).toString(),
    protocol: socket.getProtocol?.() ?? '',
    subject: certificate?.subject ?? '',
  };
}

const fetched = (port: number, path: string, options: RequestOptions = {}): Promise<Answer> => {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const call = { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false, ...options };
  getSecure(call, (message) => void answerOf(message).then(resolve, reject)).on('error', reject);
  return promise;
};

/** Tokens are names of users; `scraper` may read metrics, nobody may read anything else. */
function reviewer() {
  const asked: string[] = [];
  const create = async (kind: Kind, { spec }: { spec: Record<string, unknown> }) => {
    asked.push(kind.kind);
    await Promise.resolve();
    if (kind.kind !== 'TokenReview') {
      const { path } = spec['nonResourceAttributes'] as { path: string };
      return { status: { allowed: spec['user'] === 'scraper' && path === '/metrics' } };
    }
    if (spec['token'] === 'forged') return { status: { authenticated: false } };
    const groups = spec['token'] === 'admin' ? ['system:masters'] : [];
    return { status: { authenticated: true, user: { username: spec['token'], groups } } };
  };
  // Nothing but the status of what is created is read.
  return { asked, client: { create } as unknown as Pick<Writer, 'create'> };
}

async function running(part: ServedPart): Promise<AsyncDisposable & { readonly port: number }> {
  const stop = new AbortController();
  const ended = part.run(stop.signal);
  const port = await part.port;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ended;
    },
  };
}

const clock = new SystemClock();
const validity = () => ({ now: clock.now(), validityMs: 3_600_000 });

async function setUp(argv: readonly string[] = [], authorityPem = '') {
  const { settings, problems } = readSettings(['--cloud-provider=acme', '--bind-address=127.0.0.1', ...argv]);
  assert.deepEqual(problems, []);
  const [healthz, readyz] = [new HealthChecks(), new HealthChecks()];
  const metrics = new PrometheusMetrics();
  metrics.gauge({ name: 'running_managed_controllers', help: 'h' }).set({}, 1);
  const { asked, client } = reviewer();
  const find = async () => ({ data: { 'client-ca-file': authorityPem } });
  // Nothing but the data is read.
  const config = { find } as unknown as Pick<Reader, 'find'>;
  const authority = new ClientAuthority({ client: config, clock, log: SILENT_LOG });
  const { secure } = settings;
  assert.ok(secure !== undefined);
  const facts = { healthz, readyz, metrics, config: configz(settings), clock, log: SILENT_LOG };
  const guards = { authenticator: client, authorizer: client, authority };
  const server = await running(await secureServer({ ...secure, port: 0 }, facts, guards));
  const stop = new AbortController();
  const reading = authority.run(stop.signal);
  return {
    asked,
    healthz,
    readyz,
    fetch: (path: string, options?: RequestOptions) => fetched(server.port, path, options),
    as: (token: string, path: string) =>
      fetched(server.port, path, { headers: { authorization: `Bearer ${token}` } }),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await reading;
      await server[Symbol.asyncDispose]();
    },
  };
}

const pair = ({ certificatePem, keys }: Credential) => ({ cert: certificatePem, key: keys.privateKeyPem });

describe('secureServer', () => {
  it('ccm/P11: anybody may ask whether it is well, and only that', async () => {
    await using server = await setUp();
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const { status, text } = await server.fetch(path);
      assert.deepEqual([status, text], [200, 'ok'], path);
    }
    server.readyz.add('x', () => {
      throw new Error('not yet');
    });
    assert.equal((await server.fetch('/readyz')).status, 500);
    for (const path of ['/metrics', '/configz', '/debug/pprof/', '/healthz/leaderElection', '/', '/nothing']) {
      assert.equal((await server.fetch(path)).status, 401, path);
    }
    assert.deepEqual(server.asked, []);
  });

  it('ccm/P11: 401 for tokens that nobody knows, 403 for who may not, 200 for who may', async () => {
    await using server = await setUp();
    assert.equal((await server.as('forged', '/metrics')).status, 401);
    assert.equal((await server.as('eve', '/metrics')).status, 403);
    assert.equal((await server.as('scraper', '/configz')).status, 403);
    const { status, text } = await server.as('scraper', '/metrics');
    assert.equal(status, 200);
    assert.match(text, /^running_managed_controllers 1$/m);
    const before = server.asked.length;
    await server.as('scraper', '/metrics');
    assert.equal(server.asked.length, before, 'the answers are remembered');
  });

  it('ccm/P11: who is in system:masters may do everything, and nobody is asked whether', async () => {
    await using server = await setUp();
    const { status, text } = await server.as('admin', '/configz');
    assert.equal(status, 200);
    const { 'cloudcontrollermanager.config.k8s.io': config } = JSON.parse(text) as Record<string, unknown>;
    const { kind, apiVersion, KubeCloudShared } = config as Record<string, unknown>;
    assert.deepEqual(
      [kind, apiVersion],
      ['CloudControllerManagerConfiguration', 'cloudcontrollermanager.config.k8s.io/v1alpha1'],
    );
    const { ClusterName, CloudProvider } = KubeCloudShared as Record<string, unknown>;
    assert.deepEqual([ClusterName, CloudProvider], ['kubernetes', { Name: 'acme', CloudConfigFile: '' }]);
    assert.equal((await server.as('admin', '/nothing')).status, 404);
    assert.deepEqual(server.asked, ['TokenReview']);
  });

  it('ccm/P11: paths that anybody may read can be chosen', async () => {
    await using server = await setUp(['--authorization-always-allow-paths=/metrics,/healthz*']);
    assert.equal((await server.fetch('/metrics')).status, 200);
    assert.equal((await server.fetch('/healthz/ping')).status, 200);
    assert.equal((await server.fetch('/readyz')).status, 401);
  });

  it('ccm/P11: knows users by certificates of the cluster, and by no others', async () => {
    const authority = await CertificateAuthority.create({ commonName: 'cluster', ...validity() });
    const stranger = await CertificateAuthority.create({ commonName: 'cluster', ...validity() });
    await using server = await setUp([], authority.certificatePem);
    const admin = {
      kind: 'client',
      commonName: 'root',
      organizations: ['system:masters'],
      ...validity(),
    } as const;
    const eve = { kind: 'client', commonName: 'eve', organizations: [], ...validity() } as const;
    const names = { commonName: 'root', dnsNames: ['localhost'], ipAddresses: [] };
    const serving = { kind: 'serving', ...names, ...validity() } as const;
    const status = async (credential: Credential) => (await server.fetch('/configz', pair(credential))).status;
    assert.equal(await status(await authority.issue(admin)), 200);
    assert.equal(await status(await authority.issue(eve)), 403);
    assert.equal(await status(await stranger.issue(admin)), 401);
    assert.equal(await status(await authority.issue(serving)), 401, 'a certificate of a server is nobody’s');
    const late = { ...admin, now: new Date(clock.now().getTime() - 7_200_000) };
    assert.equal(await status(await authority.issue(late)), 401, 'it has ended');
  });

  it('ccm/P11: profiles of the process are served only with --profiling', async () => {
    await using server = await setUp();
    const { text } = await server.as('admin', '/debug/pprof/');
    assert.match(text, /^profile\?seconds=30/m);
    const heap = await server.as('admin', '/debug/pprof/heap?seconds=0.01');
    assert.ok('head' in (JSON.parse(heap.text) as object));
    const cpu = await server.as('admin', '/debug/pprof/profile?seconds=0.01');
    assert.ok('nodes' in (JSON.parse(cpu.text) as object));
    assert.equal((await server.as('admin', '/debug/pprof/profile?seconds=x')).status, 400);
    const missing = await server.as('admin', '/debug/pprof/goroutine');
    assert.deepEqual([missing.status, /Go runtime/.test(missing.text)], [404, true]);
    await using without = await setUp(['--profiling=false']);
    assert.equal((await without.as('admin', '/debug/pprof/')).status, 404);
  });

  it('ccm/P11: speaks the versions and suites of TLS that it was told to', async () => {
    const suite = '--tls-cipher-suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384';
    await using server = await setUp(['--tls-min-version=VersionTLS13']);
    assert.equal((await server.fetch('/healthz')).protocol, 'TLSv1.3');
    await assert.rejects(server.fetch('/healthz', { maxVersion: 'TLSv1.2' }));
    await using narrow = await setUp([suite]);
    assert.equal((await narrow.fetch('/healthz')).protocol, 'TLSv1.3');
    const old = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' } as const;
    assert.equal((await narrow.fetch('/healthz', old)).status, 200);
    await assert.rejects(narrow.fetch('/healthz', { ...old, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }));
  });

  it('ccm/P11: shows the certificates of its files, and those of names to who asks for them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ccm-tls-'));
    const authority = await CertificateAuthority.create({ commonName: 'files', ...validity() });
    const write = async (name: string) => {
      const request = { kind: 'serving', commonName: name, dnsNames: [name], ipAddresses: [] } as const;
      const { certificatePem, keys } = await authority.issue({ ...request, ...validity() });
      await writeFile(join(folder, `${name}.crt`), certificatePem);
      await writeFile(join(folder, `${name}.key`), keys.privateKeyPem);
      return [join(folder, `${name}.crt`), join(folder, `${name}.key`)] as const;
    };
    const [cert, key] = await write('main.example');
    const named = await write('other.example');
    await write('cloud-controller-manager');
    const files = [`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`];
    await using server = await setUp([...files, `--tls-sni-cert-key=${named.join(',')}`]);
    assert.match((await server.fetch('/healthz')).subject, /CN=main\.example/);
    assert.match((await server.fetch('/healthz', { servername: 'other.example' })).subject, /CN=other\.example/);
    await using kept = await setUp([`--cert-dir=${folder}`]);
    assert.match((await kept.fetch('/healthz')).subject, /CN=cloud-controller-manager/);
    await using own = await setUp([`--cert-dir=${join(folder, 'none')}`]);
    assert.match((await own.fetch('/healthz')).subject, /CN=localhost/);
    await assert.rejects(
      setUp(['--tls-sni-cert-key=/nonexistent/a,/nonexistent/b']),
      /--tls-sni-cert-key: ENOENT/,
    );
    await rm(folder, { recursive: true });
  });
});

describe('plainServer', () => {
  it('ccm/P6: serves /healthz without TLS, and nothing else', async () => {
    const healthz = new HealthChecks();
    const facts = { healthz, clock, log: SILENT_LOG };
    await using server = await running(plainServer({ port: 0, host: '127.0.0.1' }, facts));
    const status = (path: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const call = { host: '127.0.0.1', port: server.port, path, agent: false };
      getPlain(call, (message) => void answerOf(message).then((one) => resolve(one.status), reject)).on(
        'error',
        reject,
      );
      return promise;
    };
    assert.equal(await status('/healthz'), 200);
    for (const path of ['/readyz', '/metrics', '/configz', '/']) assert.equal(await status(path), 404, path);
    healthz.add('x', () => {
      throw new Error('ill');
    });
    assert.equal(await status('/healthz'), 500);
  });
});
