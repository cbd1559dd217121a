import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { ApiServer } from '../../src/apiserver/options.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import { daemonSetController } from '../../src/lab/workloads/daemonset/controller.ts';
import { jobController } from '../../src/lab/workloads/job/controller.ts';
import { orphanedPodController } from '../../src/lab/workloads/job/orphaned-pods.ts';
import { startWorkloads } from '../../src/lab/workloads/start-workloads.ts';
import { kubectl } from '../support/kubectl.ts';
import { agent } from '../support/lab-daemons.ts';
import { work } from '../support/lab-jobs.ts';
import { needsOracle } from '../support/needs-oracle.ts';
import { addNodes, PretendNodes } from '../support/pretend-nodes.ts';
import { scratchDirectory } from '../support/scratch.ts';

const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
const account = (name: string) => ({ user: `system:serviceaccount:kube-system:${name}`, groups: GROUPS });

const STAND_INS = [
  { name: 'daemonset', ...account('daemon-set-controller'), controllers: () => [daemonSetController()] },
  { name: 'job', ...account('job-controller'), controllers: () => [jobController(), orphanedPodController()] },
];

/** Pods of jobs succeed, all others run. */
const NODES = new PretendNodes({
  fate: ({ metadata }) => (metadata.labels?.['job-name'] === undefined ? 'ready' : 'succeeded'),
});

/** Our server with our controllers on the host's clock, and nodes that take their turns. */
async function startCluster(): Promise<{ readonly server: ApiServer } & AsyncDisposable> {
  const clock = new SystemClock();
  // Ends what was begun when the rest fails.
  await using stack = new AsyncDisposableStack();
  const server = await startApiServer({ storage: 'memory', listen: { host: '127.0.0.1', port: 0 } });
  stack.defer(() => server.stop());
  const admin = createClient({ transport: server.client(), fieldManager: 'test', clock, log: SILENT_LOG });
  const transportAs = (user: string, groups: readonly string[]) => server.client(user, [...groups]);
  stack.use(await startWorkloads({ standIns: STAND_INS, admin, transportAs, clock, log: SILENT_LOG }));
  await addNodes(admin, 'n1', 'n2');
  let isOver = false;
  const turns = (async () => {
    while (!isOver) {
      await NODES.step({ client: admin, clock });
      await sleep(50);
    }
  })();
  stack.defer(async () => {
    isOver = true;
    await turns;
  });
  const running = stack.move();
  return { server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

describe('kubectl with daemon sets and jobs of the lab', needsOracle('kubectl'), () => {
  let cluster: Awaited<ReturnType<typeof startCluster>> | undefined;
  let scratch: Awaited<ReturnType<typeof scratchDirectory>>;
  let config = '';
  before(async () => {
    scratch = await scratchDirectory();
    cluster = await startCluster();
    config = join(scratch.path, 'admin.kubeconfig');
    await writeFile(config, JSON.stringify(await cluster.server.kubeconfig('admin', ['system:masters'])));
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
    await scratch[Symbol.asyncDispose]();
  });

  const said = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectl(config, ...words);
    assert.equal(code, 0, `kubectl ${words.join(' ')}: ${stderr}`);
    return stdout;
  };
  const applied = async (name: string, object: object): Promise<void> => {
    const file = join(scratch.path, `${name}.yaml`);
    await writeFile(file, stringify(object));
    await said('apply', '-f', file);
  };
  const images = () =>
    said('get', 'pods', '-l', 'app=agent', '-o', 'jsonpath={.items[*].spec.containers[0].image}');
  const rolledOut = () => said('rollout', 'status', 'ds/agent', '--timeout=20s');

  it('lab/W22: rolls daemon sets out, shows their history, goes back and restarts them', async () => {
    await applied('agent', { apiVersion: 'apps/v1', kind: 'DaemonSet', ...agent() });
    assert.match(await rolledOut(), /daemon set "agent" successfully rolled out/);
    await said('set', 'image', 'ds/agent', 'agent=agent:2');
    assert.match(await rolledOut(), /successfully rolled out/);
    assert.equal(await images(), 'agent:2 agent:2');
    assert.match(await said('rollout', 'history', 'ds/agent'), /REVISION[^\n]*\n1 [^\n]*\n2 /);
    assert.match(await said('rollout', 'undo', 'ds/agent'), /rolled back/);
    assert.match(await rolledOut(), /successfully rolled out/);
    assert.equal(await images(), 'agent:1 agent:1');
    assert.match(await said('rollout', 'history', 'ds/agent'), /REVISION[^\n]*\n2 [^\n]*\n3 /);
    assert.match(await said('rollout', 'history', 'ds/agent', '--revision=2'), /Image:\s+agent:2/);
    assert.match(await said('rollout', 'restart', 'ds/agent'), /restarted/);
    assert.match(await rolledOut(), /successfully rolled out/);
    assert.match(await said('get', 'ds', 'agent'), /\nagent +2 +2 +2 +2 +2 /);
    assert.match(await said('describe', 'ds', 'agent'), /SuccessfulCreate .*Created pod: agent-/);
  });

  it('lab/W25: still knows what was applied last', async () => {
    const plain = agent({ terminationGracePeriodSeconds: 5 });
    await applied('agent', { apiVersion: 'apps/v1', kind: 'DaemonSet', ...plain });
    await rolledOut();
    await applied('agent', { apiVersion: 'apps/v1', kind: 'DaemonSet', ...agent() });
    const path = 'jsonpath={.spec.template.spec.terminationGracePeriodSeconds}';
    assert.equal(await said('get', 'ds', 'agent', '-o', path), '30');
  });

  it('lab/W29: waits for jobs, shows and deletes them', async () => {
    await applied('work', { apiVersion: 'batch/v1', kind: 'Job', ...work({ completions: 2 }) });
    assert.match(await said('wait', '--for=condition=complete', 'job/work', '--timeout=20s'), /condition met/);
    assert.match(await said('get', 'job', 'work'), /\nwork +Complete +2\/2 /);
    assert.match(await said('describe', 'job', 'work'), /Completed .*Job completed/);
    await said('delete', 'job', 'work', '--timeout=20s');
    await said('wait', '--for=delete', 'pod', '-l', 'job-name=work', '--timeout=20s');
  });
});
