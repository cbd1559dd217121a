import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { ignite } from './first-start.ts';

const HOSTNAME = '/etc/hostname';
const saying = (text: string) => ({
  files: [{ path: HOSTNAME, content: Buffer.from(text), mode: 0o600 }],
  units: new Map(),
});

describe('the first start of a machine', () => {
  it('lab/C14: writes files once: what became of them afterwards stays', async () => {
    await using directory = await scratchDirectory();
    const root = join(directory.path, '1');
    await ignite(root, 'i-1', saying('one'));
    assert.equal(readFileSync(join(root, HOSTNAME), 'utf8'), 'one');
    assert.equal(statSync(join(root, HOSTNAME)).mode & 0o777, 0o600);
    writeFileSync(join(root, HOSTNAME), 'changed');
    await ignite(root, 'i-1', saying('one'));
    assert.equal(readFileSync(join(root, HOSTNAME), 'utf8'), 'changed');
  });

  it('lab/C14: leaves nothing of an instance that had the disk before, even after a kill', async () => {
    await using directory = await scratchDirectory();
    const root = join(directory.path, '1');
    await ignite(root, 'i-1', saying('one'));
    writeFileSync(join(root, 'certificate.pem'), 'of i-1');
    await ignite(root, 'i-2', saying('two'));
    assert.equal(readFileSync(join(root, HOSTNAME), 'utf8'), 'two');
    assert.ok(!existsSync(join(root, 'certificate.pem')));
  });

  it('lab/C14: begins anew when a kill came in between', async () => {
    await using directory = await scratchDirectory();
    const root = join(directory.path, '1');
    await ignite(root, 'i-1', saying('one'));
    rmSync(join(root, 'etc', '.ignition-result.json'));
    rmSync(join(root, HOSTNAME));
    await ignite(root, 'i-1', saying('one'));
    assert.equal(readFileSync(join(root, HOSTNAME), 'utf8'), 'one');
  });
});
