import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createClient } from '../client/create-client.ts';
import { AuditLog, audited, compareWithRules } from '../rbac/audit.ts';
import { roleFor } from '../rbac/component-roles.ts';
import { certificateNeeds } from '../rbac/runtime-needs.ts';
import type { Transport } from '../transport/transport.ts';
import { CertificateRotation } from './certificate-rotation.ts';
import { SecretCertificates } from './secret-certificates.ts';

// Tests look into objects they have made themselves.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

const HOUR = 3_600_000;
const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };
const NAMES = { dnsNames: ['hooks.system.svc'], ipAddresses: ['127.0.0.1'] };
const SECRET = { namespace: 'system', name: 'certs' };
const NEEDS = certificateNeeds({
  secret: SECRET,
  mutating: ['robot'],
  validating: ['robot'],
  definitions: ['things.ex.io'],
});
const PATHS = {
  mutating: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
  validating: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  definition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  secret: '/api/v1/namespaces/system/secrets',
};
const USER = 'system:serviceaccount:system:robot';
const KINDS: Readonly<Record<string, string>> = {
  ServiceAccount: '/api/v1/namespaces/system/serviceaccounts',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/system/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/system/rolebindings',
};

const service = { namespace: 'system', name: 'hooks', path: '/x' };
const webhook = (name: string) => ({
  name,
  admissionReviewVersions: ['v1'],
  clientConfig: { service },
  sideEffects: 'None',
});
const DEFINITION = {
  metadata: { name: 'things.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { service }, conversionReviewVersions: ['v1'] },
    },
  },
};

/** A cluster with an empty Secret and targets; the code under test has the generated role and nothing else. */
class Cluster {
  readonly clock = new VirtualClock({ start: new Date('2026-11-15T00:00:00Z') });
  readonly audit = new AuditLog();
  /** Called for each request of the code under test; may throw before or after it happens. */
  disturb: (request: { method: string }, send: () => ReturnType<Transport>) => ReturnType<Transport> = (_, send) =>
    send();
  #server: ApiServer | undefined;

  async start({ hasSecret = true } = {}): Promise<this> {
    this.#server = await startApiServer({ listen: false, clock: this.clock });
    await this.admin('POST', '/api/v1/namespaces', { metadata: { name: 'system' } });
    for (const object of roleFor({ name: 'robot', namespace: 'system', needs: NEEDS })) {
      await this.admin('POST', KINDS[object.kind] ?? '', object);
    }
    await this.admin('POST', PATHS.mutating, {
      metadata: { name: 'robot' },
      webhooks: [webhook('a.b.c'), webhook('d.e.f')],
    });
    await this.admin('POST', PATHS.validating, { metadata: { name: 'robot' }, webhooks: [webhook('a.b.c')] });
    await this.admin('POST', PATHS.definition, DEFINITION);
    if (hasSecret) await this.admin('POST', PATHS.secret, { metadata: { name: 'certs' } });
    return this;
  }

  async admin(method: string, target: string, body?: Loose): Promise<Loose> {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    const answer = await this.server.client()({
      method,
      target,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const value = JSON.parse(Buffer.from(await answer.bytes()).toString());
    assert.ok(answer.status < 300, `${method} ${target}: ${value.message}`);
    return value;
  }

  get server(): ApiServer {
    assert.ok(this.#server);
    return this.#server;
  }

  get client() {
    const direct = audited(this.server.client(USER), this.audit.record);
    const transport: Transport = (request) => this.disturb(request, () => direct(request));
    return createClient({ transport, fieldManager: 'robot', clock: this.clock, log: LOG });
  }

  certificates(client = this.client): SecretCertificates {
    return new SecretCertificates({
      client,
      secret: SECRET,
      clock: this.clock,
      log: LOG,
      validityMs: 30 * HOUR,
      ...NAMES,
    });
  }

  /** A process that has just become the leader. */
  leader(): CertificateRotation {
    const { client, clock } = this;
    const targets = { mutating: ['robot'], validating: ['robot'], definitions: ['things.ex.io'] };
    const certificates = this.certificates(client);
    return new CertificateRotation({
      client,
      certificates,
      targets,
      clock,
      log: LOG,
      validityMs: 30 * HOUR,
      ...NAMES,
    });
  }

  /** The bundles of all targets, decoded. */
  async bundles(): Promise<readonly string[]> {
    const [mutating, validating, definition] = await Promise.all([
      this.admin('GET', `${PATHS.mutating}/robot`),
      this.admin('GET', `${PATHS.validating}/robot`),
      this.admin('GET', `${PATHS.definition}/things.ex.io`),
    ]);
    return [
      ...[...mutating.webhooks, ...validating.webhooks].map(({ clientConfig }: Loose) => clientConfig.caBundle),
      definition.spec.conversion.webhook.clientConfig.caBundle,
    ].map((text) => Buffer.from(text ?? '', 'base64').toString());
  }

  async data(): Promise<Readonly<Record<string, string>>> {
    const { data = {} } = await this.admin('GET', `${PATHS.secret}/certs`);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64').toString()]),
    );
  }

  /** Somebody applies a definition as it was. */
  async forgetTrust(): Promise<void> {
    await this.admin('PATCH', `${PATHS.definition}/things.ex.io`, {
      spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } },
    });
  }

  /** Every target believes what the Secret says that servers show. */
  async isTrusted(): Promise<boolean> {
    const { 'tls.crt': certificate = '' } = await this.data();
    return (await this.bundles()).every((bundle) => believes(bundle, certificate));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
  }
}

const authorities = (bundle: string): readonly string[] =>
  bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
const believes = (bundle: string, certificatePem: string): boolean =>
  authorities(bundle).some((pem) =>
    new X509Certificate(certificatePem).verify(new X509Certificate(pem).publicKey),
  );

describe('the certificate in a Secret', () => {
  it('runtime/W6: replicas that start at once fill an empty Secret once and show the same certificate', async () => {
    await using cluster = await new Cluster().start();
    const shown = await Promise.all([1, 2, 3].map(() => cluster.certificates().load()));
    assert.equal(new Set(shown.map(({ certificatePem }) => certificatePem)).size, 1);
    const data = await cluster.data();
    assert.deepEqual(Object.keys(data).toSorted(), ['ca.crt', 'tls.crt', 'tls.key']);
    const certificate = new X509Certificate(data['tls.crt'] ?? '');
    assert.equal(certificate.checkHost('hooks.system.svc'), 'hooks.system.svc');
    assert.equal((data['ca.crt'] ?? '').includes('PRIVATE'), false, 'nobody keeps the key of the authority');
  });

  it('runtime/W6: without the Secret and the right to create it, says what to do', async () => {
    await using cluster = await new Cluster().start({ hasSecret: false });
    await assert.rejects(
      cluster.certificates().load(),
      /Secret system\/certs does not exist .* apply the manifests/,
    );
    const admin = createClient({
      transport: cluster.server.client(),
      fieldManager: 'admin',
      clock: cluster.clock,
      log: LOG,
    });
    const { certificatePem } = await cluster.certificates(admin).load();
    assert.equal((await cluster.certificates().load()).certificatePem, certificatePem);
  });

  it('runtime/W6: what is broken, has ended or has other names is made anew', async () => {
    await using cluster = await new Cluster().start();
    const first = await cluster.certificates().load();
    const table: readonly [string, () => Promise<unknown>][] = [
      ['ended', () => cluster.clock.advance(31 * HOUR)],
      ['no certificate', () => cluster.admin('PATCH', `${PATHS.secret}/certs`, { data: { 'tls.crt': 'eA==' } })],
      ['no key', () => cluster.admin('PATCH', `${PATHS.secret}/certs`, { data: { 'tls.key': null } })],
      ['no authority', () => cluster.admin('PATCH', `${PATHS.secret}/certs`, { data: { 'ca.crt': null } })],
    ];
    let last = first.certificatePem;
    for (const [name, breaking] of table) {
      await breaking();
      const { certificatePem } = await cluster.certificates().load();
      assert.notEqual(certificatePem, last, name);
      last = certificatePem;
    }
    const { client, clock } = cluster;
    const renamed = new SecretCertificates({ client, clock, log: LOG, secret: SECRET, dnsNames: ['other.svc'] });
    assert.notEqual((await renamed.load()).certificatePem, last);
  });
});

describe('rotation of the certificate', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await new Cluster().start();
  });
  after(() => cluster[Symbol.asyncDispose]());

  it('runtime/W6: first both authorities everywhere, a minute later the new certificate, and never a gap', async () => {
    const leader = cluster.leader();
    await leader.pass();
    assert.equal(await cluster.isTrusted(), true);
    const before = await cluster.data();
    await cluster.clock.advance(19 * HOUR);
    await leader.pass();
    assert.deepEqual(await cluster.data(), before, 'nothing is due before two thirds');
    await cluster.clock.advance(HOUR);
    await leader.pass();
    const staged = await cluster.data();
    assert.equal(staged['tls.crt'], before['tls.crt']);
    const next = staged['next-tls.crt'] ?? '';
    for (const bundle of await cluster.bundles()) {
      assert.deepEqual([believes(bundle, next), believes(bundle, before['tls.crt'] ?? '')], [true, true]);
    }
    await cluster.clock.advance(59_000);
    await leader.pass();
    assert.deepEqual(await cluster.data(), staged, 'API servers have a minute to hear of it');
    await cluster.clock.advance(1000);
    await leader.pass();
    const switched = await cluster.data();
    assert.deepEqual([switched['tls.crt'], switched['next-tls.crt']], [next, undefined]);
    await leader.pass();
    for (const bundle of await cluster.bundles()) {
      assert.equal(believes(bundle, before['tls.crt'] ?? ''), true, 'other replicas still show the old one');
    }
  });

  it('runtime/W6: authorities that have ended leave the bundle', async () => {
    const leader = cluster.leader();
    for (let day = 0; day < 6; day++) {
      await cluster.clock.advance(21 * HOUR);
      await leader.pass();
      await cluster.clock.advance(60_000);
      await leader.pass();
      assert.equal(await cluster.isTrusted(), true);
    }
    for (const bundle of await cluster.bundles()) assert.ok(authorities(bundle).length <= 3, bundle);
  });

  it('runtime/W6: a target that cannot be written keeps the old certificate in use', async () => {
    const leader = cluster.leader();
    await cluster.clock.advance(21 * HOUR);
    const { 'tls.crt': old } = await cluster.data();
    cluster.disturb = (request, send) => (request.method === 'PATCH' ? Promise.reject(new Error('away')) : send());
    for (let passes = 0; passes < 5; passes++) {
      await assert.rejects(leader.pass(), /away/);
      await cluster.clock.advance(60_000);
    }
    assert.equal((await cluster.data())['tls.crt'], old);
    cluster.disturb = (_, send) => send();
    await leader.pass();
    await cluster.clock.advance(60_000);
    await leader.pass();
    assert.notEqual((await cluster.data())['tls.crt'], old);
    assert.equal(await cluster.isTrusted(), true);
  });

  it('runtime/W6: a process that dies at any request leaves a state that the next leader goes on from', async () => {
    // Each run dies at one request further on, before or after the server acted; a rotation has 13.
    for (let dying = 1; dying <= 14; dying++) {
      await cluster.clock.advance(21 * HOUR);
      const { 'tls.crt': old } = await cluster.data();
      let left = dying;
      cluster.disturb = async (_, send) => {
        left -= 1;
        if (left > 0) return send();
        if (dying % 2 === 0) await send();
        throw new Error('the process died');
      };
      const dead = cluster.leader();
      for (let passes = 0; passes < 3 && left > 0; passes++) {
        await dead.pass().catch(() => undefined);
        if (left > 0) await cluster.clock.advance(60_000);
      }
      assert.equal(await cluster.isTrusted(), true, `died at request ${dying}`);
      cluster.disturb = (_, send) => send();
      const heir = cluster.leader();
      for (let passes = 0; passes < 3; passes++) {
        await heir.pass();
        assert.equal(await cluster.isTrusted(), true, `heir of request ${dying}`);
        await cluster.clock.advance(60_000);
      }
      assert.notEqual((await cluster.data())['tls.crt'], old, `died at request ${dying}`);
    }
  });

  it('runtime/W6: a target that was replaced has its minute again before the certificate changes', async () => {
    const leader = cluster.leader();
    await cluster.clock.advance(21 * HOUR);
    await leader.pass();
    const { 'tls.crt': old } = await cluster.data();
    await cluster.forgetTrust();
    await cluster.clock.advance(60_000);
    await leader.pass();
    assert.equal((await cluster.data())['tls.crt'], old);
    await cluster.clock.advance(60_000);
    await leader.pass();
    assert.notEqual((await cluster.data())['tls.crt'], old);
  });

  it('runtime/W6: every replica makes API servers believe it at its start, and takes nothing away from the leader', async () => {
    await cluster.forgetTrust();
    cluster.disturb = () => Promise.reject(new Error('away'));
    const { signal } = new AbortController();
    const first = cluster.leader().firstTrust();
    const running = first.run(signal);
    await cluster.clock.advance(0);
    cluster.disturb = (_, send) => send();
    await cluster.clock.advance(5000);
    await Promise.all([running, first.ready?.(signal)]);
    assert.equal(await cluster.isTrusted(), true);
    await cluster.clock.advance(21 * HOUR);
    const leader = cluster.leader();
    await leader.pass();
    const staged = await cluster.bundles();
    await cluster.leader().firstTrust().run(signal);
    assert.deepEqual(await cluster.bundles(), staged);
  });

  it('runtime/W6: runs on the leader, a pass a minute, and outlives a pass that fails', async () => {
    const leader = cluster.leader();
    assert.equal(leader.group, 'leader');
    await cluster.forgetTrust();
    cluster.disturb = () => Promise.reject(new Error('away'));
    const stop = new AbortController();
    const running = leader.run(stop.signal);
    await cluster.clock.advance(0);
    cluster.disturb = (_, send) => send();
    await cluster.clock.advance(60_000);
    for (let turns = 0; turns < 20; turns++) await cluster.clock.advance(0);
    assert.equal(await cluster.isTrusted(), true);
    stop.abort();
    await running;
  });

  it('reliability/P62: the generated role is what keeping the certificates takes, no more and no less', () => {
    const { uncovered, unused } = compareWithRules(cluster.audit.requests, { needs: NEEDS });
    assert.deepEqual([uncovered, unused], [[], []]);
    const refused = cluster.audit.requests.filter(({ status }) => status === 403);
    assert.deepEqual(refused, []);
  });
});
