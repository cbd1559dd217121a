// `slipway up` after a death in the middle of an installation.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JourneyEvent } from '../../src/api/journey.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { isInstalling, up } from '../support/up-run.ts';

describe('slipway up that was killed', { skip: process.platform !== 'linux' && 'looks into /proc' }, () => {
  const moments: readonly { readonly name: string; readonly isReached: (event: JourneyEvent) => boolean }[] = [
    { name: 'when hosts are known', isReached: ({ phase, row }) => phase === 'cluster' && row !== undefined },
    { name: 'half-way', isReached: isInstalling },
    { name: 'when a host is done', isReached: ({ phase, row }) => phase === 'cluster' && row?.word === 'Done' },
  ];
  for (const { name, isReached } of moments)
    it(`lab/P15: finishes an installation that was killed ${name}`, async () => {
      await using folder = await scratchDirectory();
      const first = up(folder.path);
      await first.seen(name, isReached);
      first.child.kill('SIGKILL');
      await first.exit;
      assert.ok(!first.events().some(({ phase, kind }) => phase === 'cluster' && kind === 'end'));
      const second = up(folder.path, '--once');
      assert.equal(await second.exit, 0, second.errors());
      assert.match((await second.cluster()).detail, /^5 of 5 hosts/);
      const cloud = second.events().find(({ phase, kind }) => phase === 'cloud' && kind === 'end');
      assert.match(cloud?.detail ?? '', /^5 nodes initialised, load balancer \S+ answers$/);
    });
});
