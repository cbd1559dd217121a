import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { CertificateRig } from '../../../../test/support/certificate-rig.ts';
import { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { CertificateAuthority } from '../../../pki/certificate-authority.ts';
import { TestEnv } from '../../../testing/index.ts';
import { clientWish, obtainCertificate, servingWish } from './node-certificate.ts';

const NAMES = { dnsNames: ['w-1'], ipAddresses: ['10.16.1.1', '127.16.1.1'] };

async function asking(wish = clientWish('w-1')) {
  const env = await TestEnv.start();
  const validity = { now: env.clock.now(), validityMs: 86_400_000 };
  const authority = await CertificateAuthority.create({ commonName: 'ca', ...validity });
  const rig = new CertificateRig(env.client, { authority, commonName: 'ca', now: env.clock.now() });
  const stop = new AbortController();
  const { client, clock } = env;
  const hold = (reason: string) => env.activity.hold(reason);
  const obtained = obtainCertificate(wish, { client, clock, log: SILENT_LOG, signal: stop.signal, hold });
  obtained.catch(() => {});
  await env.settle();
  const [request] = await rig.requests();
  assert.ok(request !== undefined);
  return {
    env,
    rig,
    authority,
    obtained,
    request,
    stop: (why: string) => stop.abort(new Error(why)),
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('over'));
      await env[Symbol.asyncDispose]();
    },
  };
}

describe('obtainCertificate', () => {
  it('lab/N1: asks for a client certificate of the node, and waits for as long as nobody decides', async () => {
    await using lab = await asking();
    const { spec } = lab.request;
    assert.equal(spec.signerName, 'kubernetes.io/kube-apiserver-client-kubelet');
    assert.deepEqual(spec.usages, ['digital signature', 'client auth']);
    await lab.env.advance(5 * 3_600_000);
    assert.equal((await lab.rig.requests()).length, 1);
    await lab.rig.decide('Approved');
    await lab.env.settle();
    await lab.rig.sign();
    const { certificatePem, keys } = await lab.env.throughTime(lab.obtained);
    const certificate = new X509Certificate(certificatePem);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:w-1');
    assert.equal(certificate.subjectAltName, undefined);
    assert.equal(certificate.checkPrivateKey(keys.privateKey), true);
    assert.equal(certificate.verify(new X509Certificate(lab.authority.certificatePem).publicKey), true);
  });

  it('lab/N1: asks for a serving certificate under every name and address', async () => {
    await using lab = await asking(servingWish('w-1', NAMES));
    assert.equal(lab.request.spec.signerName, 'kubernetes.io/kubelet-serving');
    assert.deepEqual(lab.request.spec.usages, ['digital signature', 'server auth']);
    await lab.rig.decide('Approved');
    await lab.rig.sign();
    const { certificatePem } = await lab.env.throughTime(lab.obtained);
    const certificate = new X509Certificate(certificatePem);
    assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:w-1');
    assert.equal(certificate.subjectAltName, 'DNS:w-1, IP Address:10.16.1.1, IP Address:127.16.1.1');
  });

  it('lab/N1: asks again, under the same name, when the request was taken away', async () => {
    await using lab = await asking();
    const { name } = lab.request.metadata;
    await lab.env.client.delete(CertificateSigningRequest, { name });
    await lab.env.settle();
    assert.deepEqual(
      (await lab.rig.requests()).map(({ metadata }) => metadata.name),
      [name],
    );
    await lab.rig.decide('Approved');
    await lab.rig.sign();
    await lab.env.throughTime(lab.obtained);
  });

  it('lab/N1: gives up when it is denied, and says who said what', async () => {
    await using lab = await asking();
    await lab.rig.decide('Denied', 'no such machine');
    await assert.rejects(lab.env.throughTime(lab.obtained), {
      reason: 'CertificateDenied',
      disposition: 'terminal',
      message: /is Denied \(Test: no such machine\); delete it and start the node again$/,
    });
  });

  it('lab/N1: gives up when it cannot be signed', async () => {
    await using lab = await asking();
    await lab.rig.decide('Approved');
    const conditions = [{ type: 'Failed', status: 'True', reason: 'SignerValidationFailure' }];
    const patch = { type: 'strategic', body: { status: { conditions } } } as const;
    await lab.env.client.patch(CertificateSigningRequest, lab.request.metadata, patch, { subresource: 'status' });
    await assert.rejects(lab.env.throughTime(lab.obtained), {
      reason: 'CertificateFailed',
      message: /is Failed \(SignerValidationFailure\)/,
    });
  });

  for (const [what, pem] of [
    ['of somebody else', undefined],
    ['that is none', 'nonsense'],
  ] as const) {
    it(`lab/N1: refuses a certificate ${what}`, async () => {
      await using lab = await asking();
      await lab.rig.decide('Approved');
      const certificate = Buffer.from(pem ?? lab.authority.certificatePem).toString('base64');
      const patch = { type: 'merge', body: { status: { certificate } } } as const;
      await lab.env.client.patch(CertificateSigningRequest, lab.request.metadata, patch, {
        subresource: 'status',
      });
      await assert.rejects(lab.env.throughTime(lab.obtained), { reason: 'CertificateUnusable' });
    });
  }

  it('ends when nobody wants it any more', async () => {
    await using lab = await asking();
    lab.stop('switched off');
    await assert.rejects(lab.env.throughTime(lab.obtained), /switched off/);
  });
});
