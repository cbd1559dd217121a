import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap, Pod } from '../../src/api/generated/core-v1.ts';
import { createManager } from '../../src/kube/manager/create-manager.ts';
import { type InProcessProgram, type Lab, startLab } from '../../src/lab/index.ts';
import { CHILD_RIGHTS, childPod } from '../support/lab-children.ts';

const OPERATOR = { namespace: 'default', name: 'operator' };

/** Writes a ConfigMap for each time that it wakes up, and remembers its lives. */
function operator() {
  const lives: { args: readonly string[]; isOver: boolean }[] = [];
  const run: InProcessProgram = async ({ transport, clock, log, args, pod, signal, fail }) => {
    const life = { args, isOver: false };
    const number = lives.push(life);
    log.info({ number }, 'Hello');
    const manager = createManager({
      name: 'operator',
      hostname: `${pod.metadata.name}-${number}`,
      kube: transport,
      clock,
      log,
      leaderElection: { id: 'operator', namespace: 'default', release: true },
      metrics: { bind: '0' },
      selfCheck: false,
    });
    manager.add({
      name: 'writer',
      group: 'leader',
      run: async (stopping) => {
        for (let tick = 1; !stopping.aborted; tick++) {
          const metadata = { namespace: 'default', name: `life-${number}-${tick}` };
          await manager.client.create(ConfigMap, { metadata });
          await clock.sleep(10_000, stopping).catch(() => {});
        }
      },
    });
    const running = manager.start(signal).catch(fail);
    return {
      [Symbol.asyncDispose]: async () => {
        await running;
        life.isOver = true;
      },
    };
  };
  return { lives, run };
}

const images = (run: InProcessProgram) => ({ 'acme/operator': { argv: ['/bin/false'], run } });
const container = async (lab: Lab) =>
  (await lab.cluster().client.find(Pod, OPERATOR))?.status?.containerStatuses?.[0];
const names = async (lab: Lab) =>
  (await lab.cluster().client.list(ConfigMap, { namespace: 'default' })).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name.startsWith('life-'));

async function started(run: InProcessProgram): Promise<Lab> {
  const lab = await startLab({ nodes: 1, clock: 'auto', images: images(run), inProcess: ['acme/operator'] });
  await lab.cluster().apply(CHILD_RIGHTS);
  return lab;
}

describe('images that run in the process of the lab', () => {
  it('lab/P12: a function stands for an image, on the clock of the lab and as the account of its pod', async () => {
    const { lives, run } = operator();
    {
      await using lab = await started(run);
      await lab.cluster().apply(childPod('operator', { image: 'acme/operator:1', args: ['--fast'] }));
      await lab.until(async () => (await names(lab)).includes('life-1-3'), { within: '2m' });
      assert.equal((await container(lab))?.ready, true);
      assert.match(await lab.cluster().logs(OPERATOR), /"message":"Hello"/);
      const own = lab.writes().filter(({ pod }) => pod?.name === 'operator');
      assert.ok(
        own.some(({ path }) => path.endsWith('/leases')),
        'it was elected though time jumps',
      );
      assert.deepEqual(new Set(own.map(({ user }) => user)), new Set(['system:serviceaccount:default:default']));
      await lab.cluster().client.delete(Pod, OPERATOR);
      await lab.until(async () => (await lab.cluster().client.find(Pod, OPERATOR)) === undefined, {
        within: '2m',
      });
      assert.deepEqual(lives, [{ args: ['--fast'], isOver: true }]);
      await lab.cluster().apply(childPod('operator', { image: 'acme/operator' }));
      await lab.until(async () => (await names(lab)).includes('life-2-1'), { within: '2m' });
    }
    assert.equal(lives[1]?.isOver, true, 'it ends with the lab');
  });

  it('lab/B3: dies after a write, and nothing of it reaches the server any more', async () => {
    const { lives, run } = operator();
    await using lab = await started(run);
    await lab.cluster().apply(childPod('operator', { image: 'acme/operator' }));
    await lab.until(async () => (await names(lab)).includes('life-1-1'), { within: '2m' });
    await lab.clock.through(lab.crashAfter({ component: 'pod/default/operator', write: 1 }), 60_000);
    const dead = await names(lab);
    await lab.until(async () => (await names(lab)).includes('life-2-2'), { within: '5m' });
    assert.equal((await container(lab))?.lastState?.terminated?.exitCode, 137);
    assert.deepEqual([lives.length, (await container(lab))?.restartCount], [2, 1]);
    assert.deepEqual(
      (await names(lab)).filter((name) => name.startsWith('life-1-')),
      dead,
    );
  });

  it('lab/P12: what it throws is the end of the container', async () => {
    await using lab = await started(() => Promise.reject(new Error('no licence')));
    await lab.cluster().apply(childPod('operator', { image: 'acme/operator' }));
    await lab.until(async () => ((await container(lab))?.restartCount ?? 0) >= 2, { within: '5m' });
    const { lastState, state } = (await container(lab)) ?? {};
    const { exitCode, message } = lastState?.terminated ?? state?.terminated ?? {};
    assert.deepEqual([exitCode, message], [1, 'no licence']);
    assert.match(await lab.cluster().logs(OPERATOR, { previous: true }), /no licence/);
  });

  it('lab/P12: a name without a function is refused', async () => {
    const run = async () => ({ [Symbol.asyncDispose]: async () => {} });
    const wrong = startLab({ images: { a: { argv: ['x'] }, b: { argv: ['x'], run } }, inProcess: ['a'] });
    await assert.rejects(wrong, {
      reason: 'UnknownInProcess',
      message: 'inProcess: images has no "a" with a function run; those that have one are b',
    });
  });
});
