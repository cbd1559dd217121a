// The phases of the journey that bring a provider to a cluster, with real processes.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Event } from '../../src/api/generated/core-v1.ts';
import type { Failure, JourneyEvent } from '../../src/api/journey.ts';
import { cloudPhase } from '../../src/app/cloud/cloud-phase.ts';
import { slipwayImages } from '../../src/app/cloud/slipway-image.ts';
import { failureWithCause } from '../../src/app/journey/cause.ts';
import { LAB } from '../../src/app/lab/lab-handover.ts';
import { definitionPhase } from '../../src/app/provider/definition-phase.ts';
import { TimeUp } from '../../src/lab/clock/auto-lab-clock.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { phaseContext } from '../support/phase-context.ts';
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
  const labEnd = all.find(({ phase, kind }) => phase === 'cluster' && kind === 'end') ?? assert.fail(stdout);
  const shown = events.flatMap(({ row }) => (row === undefined ? [] : [`${row.path.join(' ')} ${row.word}`]));
  return { end, labEnd, rows: [...new Set(shown)] };
}

interface SeenFailure extends Failure {
  /** What it said that it waits for. */
  readonly waits: readonly string[];
  /** What it wrote down, for when everything is gone. */
  readonly picture: string;
}

/** How the phase fails in a lab in which something is wrong; time is up as soon as it has said what `isOver` wants. */
async function failureIn(
  provider: string | undefined,
  spoil: (lab: Lab) => void,
  isOver: (waits: readonly string[]) => boolean = () => false,
): Promise<SeenFailure> {
  await using folder = await scratchDirectory();
  const waits: string[] = [];
  const { context: silent } = phaseContext(folder.path);
  const context = { ...silent, waitingFor: (predicate: string) => void waits.push(predicate) };
  const loaded = await definitionPhase(provider).run(context);
  assert.equal(loaded.health, 'done', JSON.stringify(loaded));
  await using lab = await startLab({ cloud: true, images: slipwayImages(), maxGraceMs: 1000 });
  const until: Lab['until'] = (check, options) =>
    lab.until(async () => {
      if (isOver(waits)) throw new TimeUp(0);
      return check();
    }, options);
  LAB.put(context, { lab: { ...lab, until }, hasHello: true, startedAt: lab.clock.now() });
  spoil(lab);
  const outcome = await cloudPhase.run(context);
  assert.equal(outcome.health, 'failed', JSON.stringify(outcome));
  const circumstances = { warnings: [], waitingFor: undefined, log: 'journey.log', continuation: [] };
  const picture = await readFile(join(lab.directory, 'cloud-not-ready.txt'), 'utf8');
  return { ...(await failureWithCause(cloudPhase, outcome, context, circumstances)), waits, picture };
}

/** Whether somebody has been warned of something. */
async function isWarned(lab: Lab): Promise<boolean> {
  const { items } = await lab.cluster().client.list(Event);
  return items.some(({ type, involvedObject }) => type === 'Warning' && involvedObject.kind === 'Node');
}

const NAMES = ['acme-cloud-1', 'acme-cloud-2', 'acme-cloud-3'];

describe('the cloud phase of the journey', () => {
  it('ccm/N3, ccm/S14: shows machines that become nodes and a load balancer that answers, and does so anew in the next run', async () => {
    await using folder = await scratchDirectory();
    const first = await up(folder.path);
    assert.match(first.end.detail, /^3 nodes initialised, load balancer \S+ answers$/);
    for (const name of NAMES) assert.ok(first.rows.includes(`${name} initialised`), first.rows.join('\n'));
    const second = await up(folder.path);
    assert.equal(second.end.health, 'done');
    // Machines of the first run are nodes until the cloud phase takes them away.
    assert.match(second.labEnd.detail, /^(\d of )?5 nodes ready/);
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
    assert.match(mended.end.detail, /^3 nodes initialised/);
  });

  it('ccm/P3: asks for no load balancer where the provider has none', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'provider.ts'), WITHOUT_BALANCERS);
    const { context } = phaseContext(folder.path);
    assert.equal((await definitionPhase(folder.path).run(context)).health, 'done');
    await using lab = await startLab({ cloud: true, images: slipwayImages(), maxGraceMs: 1000 });
    LAB.put(context, { lab, hasHello: true, startedAt: lab.clock.now() });
    const outcome = await cloudPhase.run(context);
    assert.equal(outcome.health, 'done', JSON.stringify(outcome));
    assert.match(outcome.detail, /^3 nodes initialised, no load balancer/);
  });

  it('ccm/N4: fails on what an earlier run left when the provider does not work any more', async () => {
    await using folder = await scratchDirectory();
    await up(folder.path);
    await using lab = await startLab({
      nodes: 2,
      cloud: true,
      images: slipwayImages(),
      maxGraceMs: 1000,
      data: join(folder.path, '.slipway', 'lab'),
    });
    lab.cloud.fault({ match: { path: '/v1/tokens' }, effect: { status: 503 } });
    const { context } = phaseContext(folder.path);
    assert.equal((await definitionPhase(undefined).run(context)).health, 'done');
    const until: Lab['until'] = (check, options) =>
      lab.until(async () => {
        if (await isWarned(lab)) throw new TimeUp(0);
        return check();
      }, options);
    LAB.put(context, { lab: { ...lab, until }, hasHello: true, startedAt: lab.clock.now() });
    const outcome = await cloudPhase.run(context);
    assert.equal(outcome.health, 'failed', JSON.stringify(outcome));
  });

  it('experience/X31: names what the provider was told when its credentials are wrong, as soon as no try helps', async () => {
    const refuse = ({ cloud }: Lab) =>
      void cloud.fault({ match: { path: '/v1/tokens' }, effect: { status: 401 } });
    const { what, cause, look, waits, picture } = await failureIn(undefined, refuse);
    assert.match(what, /^3 of 3 nodes still carry the taint node\.cloudprovider\.kubernetes\.io\/uninitialized$/);
    assert.match(cause, /^Node acme-cloud-\d: CloudUnauthenticated: POST \/v1\/tokens .* 401 Unauthenticated/);
    assert.match(
      look.join('\n'),
      /without --once:\nkubectl .* logs -n openshift-acme-cloud-cloud-controller-manager acme-c/,
    );
    assert.match(look.join('\n'), /cloud-not-ready\.txt/);
    assert.match(waits.join('\n'), /initialises acme-cloud-1, acme-cloud-2, acme-cloud-3$/m);
    assert.match(waits.at(-1) ?? '', /acme-cloud-3 \(last warning: Node acme-cloud-\d: CloudUnauthenticated: /);
    assert.match(picture, /^no further try helps: Node acme-cloud-\d: CloudUnauthenticated: /);
    assert.match(
      picture,
      /last lines of cloud-controller-manager in pod acme-cloud-cloud-controller-manager-\S+:\n {2}\S/,
    );
  });

  it('experience/X31: says while it waits why the Service gets no load balancer', async () => {
    const refuse = ({ cloud }: Lab) =>
      void cloud.fault({ match: { path: '/v1/load-balancers' }, effect: { status: 403 } });
    const isTold = (waits: readonly string[]) =>
      waits.some((wait) =>
        wait.startsWith(
          'Service hello gets a load balancer (last warning: Service hello: SyncLoadBalancerFailed: ',
        ),
      );
    const { what, cause, waits } = await failureIn(undefined, refuse, isTold);
    assert.ok(isTold(waits), waits.join('\n'));
    assert.equal(what, 'the load balancer of Service hello does not answer');
    assert.match(cause, /^Service hello: SyncLoadBalancerFailed: .* 403 /);
  });

  it('experience/X31: names the last words of a cloud controller manager that cannot stay up, without a long wait', async () => {
    await using folder = await scratchDirectory();
    await writeFile(join(folder.path, 'provider.ts'), UNUSABLE);
    const { cause, look, picture } = await failureIn(folder.path, () => {});
    // One end alone may be chance.
    assert.match(cause, /^pod tiny-cloud-controller-manager-\S+ ended \d+ times: .*TINY_KEY is missing/);
    assert.match(
      look.join('\n'),
      /kubectl .* logs --previous -n openshift-tiny-cloud-controller-manager tiny-cloud-c/,
    );
    assert.match(
      picture,
      /^the cloud controller manager ends over and over\nlast lines of .*in pod tiny-.*TINY_KEY is missing/s,
    );
  });
});

/** The example with something else, such as `connect: …`. */
const acmeWith = (fields: string): string => `
import { defineProvider } from 'slipway/sdk';
import acme from ${JSON.stringify(join(import.meta.dirname, '../../examples/acme-cloud/provider.ts'))};
const { loadBalancers, ...others } = acme.capabilities;
export default defineProvider({ ...acme, ${fields} });
`;

/** As for a cloud that has no load balancers. */
const WITHOUT_BALANCERS = acmeWith('capabilities: others, ccm: { external: true }');

/** A provider that loads, and cannot be connected. */
const UNUSABLE = `
import { defineProvider, ProviderError } from 'slipway/sdk';
export default defineProvider({
  name: 'tiny',
  displayName: 'Tiny',
  architectures: ['amd64'],
  providerID: { scheme: 'tiny', format: '{id}', pattern: /^tiny:\\/\\/.+$/ },
  connect: () => {
    throw new ProviderError('invalid', 'TINY_KEY is missing');
  },
  capabilities: { instances: { declare: () => ({}), describe: async () => ({ state: 'unmanaged' }) } },
});
`;
