import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Node } from '../../src/api/generated/core-v1.ts';
import { startAddressPlan } from '../../src/lab/address/start-address-plan.ts';
import { startLab } from '../../src/lab/index.ts';
import { below, directoriesIn, LabProcess, processesOf } from '../support/lab-killing.ts';
import { IMAGES, LabTrial, PORT } from '../support/lab-trial.ts';
import { shortDirectory } from '../support/short-directory.ts';

const SKIP = process.platform !== 'linux' && 'descriptors and processes are looked up in /proc';

const descriptors = (): number => readdirSync('/proc/self/fd').length;

/** Bytes that are in use after everything that can be collected was. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('there is no gc');
  for (let turn = 0; turn < 3; turn++) collect();
  return process.memoryUsage().heapUsed;
}

/** Of the straight line through the points that is nearest to them. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const square = values.reduce((sum, _, at) => sum + (at - middle) ** 2, 0);
  return values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0) / square;
}

/** Runs with temporary files below a directory. */
async function withTemporary(directory: string, run: () => Promise<void>): Promise<void> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory;
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

/** A lab that comes, does something, and goes. */
async function shortLife(): Promise<void> {
  await using lab = await startLab({ nodes: 1, clock: 'auto', cloud: true });
  await lab.cluster().apply('{ apiVersion: v1, kind: Namespace, metadata: { name: here } }');
  await lab.settle();
}

async function shortLifeWithChild(): Promise<void> {
  await using trial = await LabTrial.start();
  await trial.create('p', { containers: [{ name: 'c', image: 'sh', args: ['exec sleep 600'] }] });
  await trial.untilReady('p');
}

/** Handles of this process by kind, and how many descriptors it has; what is closed already goes in a turn or two. */
async function open(): Promise<readonly [readonly string[], number]> {
  await sleep(20);
  return [process.getActiveResourcesInfo().toSorted(), descriptors()];
}

const CYCLES = 100;
const WARM = 20;
/** Of what the runtime keeps for itself, such as compiled code and shapes of objects. */
const MOST_BYTES_EACH = 20_000;

describe('many labs in one process', { skip: SKIP }, () => {
  it('lab/P16: one after the other leave no handle, no descriptor, no memory and no file', async (t) => {
    await using scratch = await shortDirectory();
    await withTemporary(scratch.path, async () => {
      const used: number[] = [];
      const counts: (readonly [readonly string[], number])[] = [];
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        await shortLife();
        if (cycle < WARM) continue;
        used.push(usedBytes());
        counts.push(await open());
      }
      const [first, last] = [counts[0], counts.at(-1)];
      assert.deepEqual(last, first);
      t.diagnostic(`${Math.round(slope(used))} bytes more with each lab`);
      assert.ok(slope(used) < MOST_BYTES_EACH, `${Math.round(slope(used))} bytes more with each lab`);
      assert.deepEqual(directoriesIn(scratch.path), []);
    });
  });

  it('lab/P16: with processes leave nothing either', async () => {
    await using scratch = await shortDirectory();
    await withTemporary(scratch.path, async () => {
      const counts: (readonly [readonly string[], number])[] = [];
      for (let cycle = 0; cycle < 12; cycle++) {
        await shortLifeWithChild();
        counts.push(await open());
      }
      assert.deepEqual(counts.at(-1), counts[2]);
      assert.deepEqual([directoriesIn(scratch.path), processesOf(scratch.path)], [[], []]);
    });
  });

  it('lab/B1: sixteen at once do not see each other', async () => {
    await using labs = new AsyncDisposableStack();
    const trials = await Promise.all(Array.from({ length: 16 }, () => LabTrial.start()));
    for (const trial of trials) labs.use(trial);
    await Promise.all(
      trials.map((trial, at) => trial.create(`p-${at}`, { containers: [{ name: 'c', image: 'web' }] })),
    );
    const answers = await Promise.all(
      trials.map(async (trial, at) => {
        await trial.untilReady(`p-${at}`);
        const url = trial.lab.urlOf((await trial.pod(`p-${at}`))?.status?.podIP ?? '', PORT);
        let answer = '';
        await trial.lab.until(
          async () => {
            answer = await fetch(url).then(
              (response) => response.text(),
              () => '',
            );
            return answer !== '';
          },
          { within: '30s' },
        );
        return answer;
      }),
    );
    assert.deepEqual(
      answers,
      trials.map((_, at) => `p-${at}`),
    );
    assert.equal(new Set(trials.map(({ cluster }) => cluster.url)).size, 16);
    for (const { cluster } of trials) assert.equal((await cluster.client.list(Node)).items.length, 1);
  });
});

describe('labs in processes of their own', { skip: SKIP }, () => {
  it('lab/X3: eight at once do not clash', async () => {
    await using scratch = await shortDirectory();
    const cache = below(scratch.path, 'cache');
    const first = LabProcess.start({ scratch: below(scratch.path, 'first'), cache });
    await first.said('up');
    await first.end();
    const labs = Array.from({ length: 8 }, (_, at) =>
      LabProcess.start({ scratch: below(scratch.path, String(at)), cache }),
    );
    const urls = await Promise.all(labs.map(async (lab) => (await lab.said('started')).url));
    assert.equal(new Set(urls).size, 8, urls.join(' '));
    for (const lab of labs) {
      const { pods = [] } = await lab.said('up');
      assert.deepEqual(
        pods.map(({ ready, restarts }) => [ready, restarts]),
        pods.map(() => ['True', 0]),
      );
    }
    await Promise.all(labs.map((lab) => lab.end()));
    assert.deepEqual(processesOf(scratch.path), []);
  });
});

describe('a data directory', () => {
  it('lab/P13: is refused to a second lab, and the processes of the first one live on', async () => {
    await using scratch = await shortDirectory();
    const data = join(scratch.path, 'd');
    await using trial = await LabTrial.start({ data });
    await trial.create('p', { containers: [{ name: 'c', image: 'sh', args: ['exec sleep 600'] }] });
    await trial.untilReady('p');
    await assert.rejects(
      startLab({ nodes: 1, images: IMAGES, data }),
      new RegExp(
        `^SlipwayError: ${data} is in use by process ${process.pid} \\(a lab, started \\d\\d:\\d\\d\\)\\. `,
      ),
    );
    assert.deepEqual(
      await trial.picture('p'),
      { phase: 'Running', state: 'running', lastState: '', restarts: 0, ready: 'True' },
      'nobody has touched it',
    );
  });

  it('lab/X1: keeps its network, and refuses to start when somebody else has it', async () => {
    await using scratch = await shortDirectory();
    const data = join(scratch.path, 'd');
    const octetOf = async () => {
      await using lab = await startLab({ nodes: 1, clock: 'auto', data });
      return Number(new URL(lab.cluster().url).hostname.split('.')[1]);
    };
    const octet = await octetOf();
    assert.equal(await octetOf(), octet);
    {
      await using _other = await startAddressPlan({ directory: scratch.path, preferredOctet: octet });
      await assert.rejects(octetOf(), {
        message: `the objects in ${data} have addresses 10.${octet}.x.y, and another lab on this machine has these now. End it, or choose another --data`,
      });
    }
    assert.equal(await octetOf(), octet);
    assert.ok(existsSync(data));
  });
});
