import assert from 'node:assert/strict';
import { release } from 'node:os';
import { describe, it } from 'node:test';
import { hostSystem } from './host-system.ts';

describe('hostSystem', () => {
  it('lab/N3: is this machine: its kernel and its architecture as Go names it', async () => {
    const { kernelVersion, architecture, operatingSystem } = await hostSystem('a');
    assert.equal(kernelVersion, release());
    assert.match(architecture, /^(amd64|arm64|386|arm|ppc64le|s390x|riscv64)$/);
    assert.match(operatingSystem, /^(linux|darwin|windows)$/);
  });

  it('lab/N3: gives each node identifiers of its own, the same at every start, but one boot', async () => {
    const [one, again, other] = await Promise.all([hostSystem('lab/a'), hostSystem('lab/a'), hostSystem('lab/b')]);
    assert.deepEqual(one, again);
    assert.notEqual(one.machineID, other.machineID);
    assert.notEqual(one.systemUUID, other.systemUUID);
    assert.equal(one.bootID, other.bootID);
    assert.match(one.machineID, /^[\da-f]{32}$/);
    assert.match(one.systemUUID, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  });
});
