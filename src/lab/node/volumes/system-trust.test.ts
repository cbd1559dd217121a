import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { provideSystemTrust } from './system-trust.ts';

const BUNDLE = 'etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem';

describe('provideSystemTrust', () => {
  it('operator/R77: gives a node a bundle of certificates, once', async () => {
    await using root = await scratchDirectory();
    await provideSystemTrust(root.path);
    const text = await readFile(join(root.path, BUNDLE), 'utf8');
    const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    assert.ok(blocks.length > 1);
    for (const block of blocks) assert.ok(new X509Certificate(block).ca);
    await writeFile(join(root.path, BUNDLE), 'mine');
    await provideSystemTrust(root.path);
    assert.equal(await readFile(join(root.path, BUNDLE), 'utf8'), 'mine');
  });
});
