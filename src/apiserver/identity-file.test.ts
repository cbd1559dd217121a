import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { VirtualClock } from '../base/clock.ts';
import { openIdentity } from './identity.ts';
import { type KeptKeys, readKeys, writeKeys } from './identity-file.ts';

const WAY =
  'Put the file back from a copy; or remove it: new keys are made then, and kubeconfigs and tokens of before are refused';

describe('the file with the keys of the server', () => {
  let good: KeptKeys | undefined;
  before(async () => {
    await using folder = await scratchDirectory();
    const clock = new VirtualClock({ start: new Date('2026-05-04T03:02:01Z') });
    const identity = await openIdentity({ directory: folder.path, kept: undefined, clock, hostNames: ['a.test'] });
    identity.save();
    good = readKeys(folder.path);
  });

  it('is read as it was written, and need not be there', async () => {
    await using folder = await scratchDirectory();
    assert.equal(readKeys(folder.path), undefined);
    assert.equal(readKeys(join(folder.path, 'file', 'below')), undefined);
    assert.ok(good);
    writeKeys(join(folder.path, 'new'), good);
    assert.deepEqual(readKeys(join(folder.path, 'new')), good);
    assert.deepEqual(readdirSync(join(folder.path, 'new')), ['identity.json']);
  });

  const changed = (change: Partial<Record<keyof KeptKeys, unknown>>) => () =>
    JSON.stringify({ ...good, ...change });
  const damaged: readonly [string, () => string][] = [
    ['it is empty', () => ' \n'],
    ['it is not JSON', () => '{"authorityKeyPem": "secret'],
    ['it is not a JSON object', () => 'null'],
    ['authorityPem must be text', () => '{}'],
    ['servingKeyPem must be text', changed({ servingKeyPem: 5 })],
    ['hostNames must be a list of texts', changed({ hostNames: 'a' })],
    ['authorityPem is not a certificate', changed({ authorityPem: 'secret' })],
    ['authorityKeyPem is not a key', changed({ authorityKeyPem: 'secret' })],
    ['servingCertificatePem is not a certificate', changed({ servingCertificatePem: '' })],
    ['tokenKeyPem is not a key', changed({ tokenKeyPem: '' })],
    ['tokenPublicPem is not a key', changed({ tokenPublicPem: '' })],
    [
      'servingKeyPem is not the key of servingCertificatePem',
      () => JSON.stringify({ ...good, servingKeyPem: good?.authorityKeyPem }),
    ],
  ];
  for (const [why, text] of damaged) {
    it(`reliability/D0: is refused with what is wrong and what to do, and left as it is: ${why}`, async () => {
      await using folder = await scratchDirectory();
      const file = join(folder.path, 'identity.json');
      writeFileSync(file, text());
      assert.throws(() => readKeys(folder.path), {
        reason: 'IdentityUnusable',
        message: `the keys of the API server in ${file} cannot be used: ${why}. ${WAY}`,
      });
      assert.equal(readFileSync(file, 'utf8'), text());
    });
  }

  it('is refused when it is a folder', async () => {
    await using folder = await scratchDirectory();
    mkdirSync(join(folder.path, 'identity.json'));
    assert.throws(() => readKeys(folder.path), /identity\.json cannot be used: it is a folder\. Put the file/);
  });

  it('leaves no key behind where it cannot be written', async () => {
    await using folder = await scratchDirectory();
    mkdirSync(join(folder.path, 'identity.json'));
    assert.ok(good);
    const keys = good;
    assert.throws(() => writeKeys(folder.path, keys), {
      reason: 'DataFolderUnusable',
      message: /^the data folder .* cannot be written: it is a folder\. Choose another folder with --data/,
    });
    assert.deepEqual(readdirSync(folder.path), ['identity.json']);
  });
});
