import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import {
  CertificateSigningRequest,
  type CertificateSigningRequestSpec,
} from '../../../api/generated/certificates-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { CertificateAuthority } from '../../../pki/certificate-authority.ts';
import { generateKeyPair } from '../../../pki/key-pair.ts';
import { type SigningWish, signingRequest } from '../../../pki/signing-request.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { csrSignerController } from './controller.ts';

const START = new Date('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const authority = await CertificateAuthority.create({ commonName: 'lab', now: START, validityMs: 10 * YEAR_MS });
const keys = await generateKeyPair();
const NODE: SigningWish = {
  commonName: 'system:node:w-1',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
};

interface Asked extends Partial<CertificateSigningRequestSpec> {
  readonly wish?: Partial<SigningWish>;
}

const csr = (name: string, { wish = {}, ...spec }: Asked = {}) => ({
  metadata: { name },
  spec: {
    request: Buffer.from(signingRequest({ ...NODE, ...wish }, keys)).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'client auth'] as CertificateSigningRequestSpec['usages'] & object,
    ...spec,
  },
});

const SERVING: Asked = {
  wish: { dnsNames: ['w-1'], ipAddresses: ['10.16.1.1'] },
  signerName: 'kubernetes.io/kubelet-serving',
  usages: ['digital signature', 'key encipherment', 'server auth'],
};

/** What a person or the machine component does. */
async function decide(client: KubeClient, name: string, type: 'Approved' | 'Denied' = 'Approved'): Promise<void> {
  const request = await client.live.get(CertificateSigningRequest, { name });
  const conditions = [{ type, status: 'True', reason: 'Test', message: 'by a test' }];
  const body = { ...request, status: { ...request.status, conditions } };
  await client.subresource('approval').update(CertificateSigningRequest, { name }, body);
}

const start = async (options: Partial<Parameters<typeof csrSignerController>[0]> = {}): Promise<TestEnv> => {
  const env = await TestEnv.start({ start: START });
  await env.startManager({ add: [csrSignerController({ authority, ...options })] });
  return env;
};

async function asked(env: TestEnv, name: string, spec: Asked = {}): Promise<CertificateSigningRequest> {
  await env.client.create(CertificateSigningRequest, csr(name, spec));
  await decide(env.client, name);
  await env.settle();
  return env.client.get(CertificateSigningRequest, { name });
}

const certificateOf = ({ status }: CertificateSigningRequest): X509Certificate =>
  new X509Certificate(Buffer.from(status?.certificate ?? '', 'base64'));

const failureOf = ({ status }: CertificateSigningRequest) =>
  status?.conditions?.find(({ type }) => type === 'Failed');

describe('the signer of certificates', () => {
  it('lab/W40: signs a client certificate of a kubelet', async () => {
    await using env = await start();
    const certificate = certificateOf(await asked(env, 'a'));
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:w-1');
    assert.equal(certificate.verify(createPublicKey(authority.certificatePem)), true);
    assert.equal(certificate.checkPrivateKey(keys.privateKey), true);
    assert.equal(certificate.ca, false);
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
    assert.equal(certificate.subjectAltName, undefined);
    assert.deepEqual(
      [certificate.validFromDate, certificate.validToDate],
      [new Date('2025-12-31T23:55:00Z'), new Date('2026-12-31T23:55:00Z')],
    );
  });

  it('lab/W40: signs a serving certificate with its names', async () => {
    await using env = await start();
    const certificate = certificateOf(await asked(env, 'a', { ...SERVING, expirationSeconds: 3600 }));
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.equal(certificate.subjectAltName, 'DNS:w-1, IP Address:10.16.1.1');
    assert.equal(certificate.checkIssued(new X509Certificate(authority.certificatePem)), true);
    assert.deepEqual(certificate.validToDate, new Date('2026-01-01T01:00:00Z'));
  });

  it('lab/W40: signs a client certificate of anybody', async () => {
    await using env = await start();
    const jane: Asked = {
      wish: { commonName: 'jane', organizations: ['dev', 'ops'] },
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    };
    assert.equal(certificateOf(await asked(env, 'a', jane)).subject, 'O=dev\nO=ops\nCN=jane');
  });

  it('lab/W40: makes certificates that last for clocks other than its own', async () => {
    const certificates = { from: new Date('2024-01-01T00:05:00Z'), until: new Date('2035-01-01T00:00:00Z') };
    await using env = await start({ certificates });
    const { validFromDate, validToDate } = certificateOf(await asked(env, 'a'));
    assert.deepEqual(
      [validFromDate, validToDate],
      [new Date('2024-01-01T00:00:00Z'), new Date('2035-01-01T00:00:00Z')],
    );
  });

  it('lab/W40: approves nothing, and does not sign what is not approved, or denied', async () => {
    await using env = await start();
    await expectNoWrites(env.recorder, async () => {
      await env.client.create(CertificateSigningRequest, csr('waiting'));
      await env.client.create(CertificateSigningRequest, csr('denied'));
      await decide(env.client, 'denied', 'Denied');
      await env.advance(HOUR_MS);
    });
    const { status } = await env.client.get(CertificateSigningRequest, { name: 'waiting' });
    assert.equal(status?.conditions, undefined);
  });

  it('lab/W40: leaves requests to other signers alone', async () => {
    await using env = await start();
    await expectNoWrites(env.recorder, async () => {
      await asked(env, 'a', { signerName: 'example.com/mine' });
    });
  });

  it('lab/W40: says Failed when the request is not what the signer signs, once', async () => {
    await using env = await start();
    const { reason, message, status } = failureOf(await asked(env, 'a', { usages: ['server auth'] })) ?? {};
    assert.deepEqual([status, reason], ['True', 'SignerValidationFailure']);
    assert.match(message ?? '', /kubelet does not sign this: the usages must be .* and are "server auth"/);
    const { status: whole } = await env.client.get(CertificateSigningRequest, { name: 'a' });
    assert.equal(whole?.certificate, undefined);
    await expectNoWrites(env.recorder, () => env.advance(HOUR_MS));
  });

  it('lab/W40: says Failed when the request cannot be read', async () => {
    await using env = await start();
    const broken = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n';
    const request = Buffer.from(broken).toString('base64');
    assert.match(failureOf(await asked(env, 'a', { request }))?.message ?? '', /cannot be read/);
  });

  it('lab/W40: signs nothing with an authority that has ended', async () => {
    const ended = await CertificateAuthority.create({ commonName: 'old', now: new Date(0), validityMs: YEAR_MS });
    await using env = await TestEnv.start({ start: START, log: SILENT_LOG });
    await env.startManager({ add: [csrSignerController({ authority: ended })] });
    assert.equal((await asked(env, 'a')).status?.certificate, undefined);
  });

  it('lab/A6: writes once, and nothing after that', async () => {
    await using env = await start();
    await asked(env, 'a');
    assert.equal(env.recorder.writes.length, 1);
    await expectNoWrites(env.recorder, () => env.advance(HOUR_MS));
  });

  it('lab/A5: needs what it uses, and no more than every cluster gives to the signer', async () => {
    await using env = await start();
    await asked(env, 'a');
    expectExactRbac(env, { unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'] });
    const role = 'system:controller:certificate-controller';
    assert.deepEqual(await uncoveredWrites(env.client, csrSignerController({ authority }), role), []);
  });
});
