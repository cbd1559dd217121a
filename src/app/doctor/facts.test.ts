import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { gatherFacts } from './facts.ts';

describe('gatherFacts', () => {
  it('lab/X10, P6: finds out what a lab would find, limits, and whether orphans are reaped', async () => {
    await using folder = await scratchDirectory();
    const facts = await gatherFacts({
      folder: folder.path,
      env: { LANG: 'C.UTF-8', HTTPS_PROXY: 'http://secret@proxy' },
      isOnline: false,
      dashboardPort: 0,
      now: () => new Date(),
      signal: new AbortController().signal,
    });
    assert.match(facts.lab.network.text, /^Network mode \w+, because /);
    assert.deepEqual(facts.proxies, ['HTTPS_PROXY']);
    const isLinux = process.platform === 'linux';
    assert.equal(facts.processes !== undefined && facts.processes > 0, isLinux);
    assert.equal(facts.orphans !== undefined, isLinux);
    assert.equal(facts.orphans?.isFirstProcess ?? false, process.pid === 1);
  });
});
