import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CertificateAuthority } from './certificate-authority.ts';
import { type Kubeconfig, kubeconfig } from './kubeconfig.ts';

async function janesConfig(): Promise<{ document: Kubeconfig; certificatePem: string; privateKeyPem: string }> {
  const now = new Date('2026-03-01T12:00:00Z');
  const authority = await CertificateAuthority.create({ commonName: 'ca', now, validityMs: 1000 });
  const document = kubeconfig({
    server: 'https://127.0.0.1:6443',
    authorityPem: authority.certificatePem,
    clusterName: 'lab',
    userName: 'jane',
    credential: authority,
  });
  return { document, certificatePem: authority.certificatePem, privateKeyPem: authority.keys.privateKeyPem };
}

const decoded = (text: string | undefined): string => Buffer.from(text ?? '', 'base64').toString('utf8');

describe('kubeconfig', () => {
  it('points its only context at the cluster and the user', async () => {
    const { document } = await janesConfig();
    assert.equal(document['current-context'], 'jane@lab');
    assert.deepEqual(document.contexts, [{ name: 'jane@lab', context: { cluster: 'lab', user: 'jane' } }]);
    assert.equal(document.clusters[0]?.cluster.server, 'https://127.0.0.1:6443');
  });

  it('embeds the certificates and the key', async () => {
    const { document, certificatePem, privateKeyPem } = await janesConfig();
    assert.equal(decoded(document.clusters[0]?.cluster['certificate-authority-data']), certificatePem);
    assert.equal(decoded(document.users[0]?.user['client-certificate-data']), certificatePem);
    assert.equal(decoded(document.users[0]?.user['client-key-data']), privateKeyPem);
  });

  it('oracles/C4: names no file', async () => {
    const { document } = await janesConfig();
    assert.doesNotMatch(JSON.stringify(document), /"(certificate-authority|client-certificate|client-key)"/);
  });
});
