// The phases of the journey that bring a provider to a cluster, as users start them.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Event } from '../../src/api/generated/core-v1.ts';
import type { JourneyEvent } from '../../src/api/journey.ts';
import { cloudPhase } from '../../src/app/cloud/cloud-phase.ts';
import type { Lab } from '../../src/lab/index.ts';
import { endWaits, withCluster } from '../support/journey-phases.ts';
import { outcomeOf, scratchDirectory } from '../support/scratch.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** `slipway up --once` in a folder, as users start it: how it ended, and what it said of the cloud. */
async function up(folder: string, { more = [], wanted = 0 }: { more?: readonly string[]; wanted?: number } = {}) {
  const { PATH, HOME } = process.env;
  const words = ['--conditions=slipway-source', MAIN, 'up', '--once', '--output', 'json'];
  // The folder goes with --data, since a child starts in ours.
  const args = [...words, '--data', join(folder, '.slipway'), ...more];
  const { code, stdout, stderr } = await outcomeOf(process.execPath, args, { PATH, HOME, LANG: 'C.UTF-8' });
  assert.equal(code, wanted, `${stdout}${stderr}`);
  const all: readonly JourneyEvent[] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const events = all.filter(({ phase }) => phase === 'cloud');
  const end = events.find(({ kind }) => kind === 'end') ?? assert.fail(stdout);
  const clusterEnd = all.find(({ phase, kind }) => phase === 'cluster' && kind === 'end') ?? assert.fail(stdout);
  const shown = events.flatMap(({ row }) => (row === undefined ? [] : [`${row.path.join(' ')} ${row.word}`]));
  return { end, clusterEnd, rows: [...new Set(shown)] };
}

/** Whether somebody has been warned of something. */
async function isWarned(lab: Lab): Promise<boolean> {
  const { items } = await lab.cluster().client.list(Event);
  return items.some(({ type, involvedObject }) => type === 'Warning' && involvedObject.kind === 'Node');
}

const NAMES = ['cp-0', 'cp-1', 'cp-2', 'w-0', 'w-1'];

describe('the cloud phase of the journey', () => {
  it('ccm/N3, ccm/S14: shows machines that become nodes and a load balancer that answers, and does so anew in the next run', async () => {
    await using folder = await scratchDirectory();
    const first = await up(folder.path);
    assert.match(first.end.detail, /^5 nodes initialised, load balancer \S+ answers$/);
    for (const name of NAMES) assert.ok(first.rows.includes(`${name} initialised`), first.rows.join('\n'));
    const second = await up(folder.path);
    assert.equal(second.end.health, 'done');
    // What is installed is not installed again.
    assert.match(second.clusterEnd.detail, /^5 of 5 hosts/);
    // What an earlier run left would look well whatever the provider does now.
    for (const state of ['uninitialised', 'initialised'])
      for (const name of NAMES) assert.ok(second.rows.includes(`${name} ${state}`), second.rows.join('\n'));
  });

  it('experience/X31: goes on where a provider was broken, once it is mended', async () => {
    await using folder = await scratchDirectory();
    const file = join(folder.path, 'provider.ts');
    const more = ['--provider', file];
    await writeFile(file, acmeWith(`connect: () => { throw new Error('boom'); }`));
    const broken = await up(folder.path, { more, wanted: 1 });
    assert.equal(broken.end.health, 'failed');
    await writeFile(file, acmeWith(''));
    const mended = await up(folder.path, { more: [...more, '--from', 'cloud'] });
    assert.match(mended.end.detail, /^5 nodes initialised/);
  });

  it('ccm/N4: fails on what an earlier run left when the provider does not work any more', async () => {
    await using folder = await scratchDirectory();
    await up(folder.path);
    await using world = await withCluster(folder.path);
    const { context, lab } = world;
    lab.cloud.fault({ match: { path: '/v1/tokens' }, effect: { status: 503 } });
    endWaits(world, () => isWarned(lab));
    const outcome = await cloudPhase.run(context);
    assert.equal(outcome.health, 'failed', JSON.stringify(outcome));
  });
});

/** The example with something else, such as `connect: …`. */
const acmeWith = (fields: string): string => `
import { defineProvider } from 'slipway/sdk';
import acme from ${JSON.stringify(join(import.meta.dirname, '../../examples/acme-cloud/provider.ts'))};
export default defineProvider({ ...acme, ${fields} });
`;
