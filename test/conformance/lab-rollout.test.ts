import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import type { Controller } from '../../src/kube/controller/controller.ts';
import { createManager } from '../../src/kube/manager/create-manager.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import { deploymentController } from '../../src/lab/workloads/deployment/controller.ts';
import { replicaSetController } from '../../src/lab/workloads/replicaset/controller.ts';
import { readyPods, webDeployment } from '../support/deployment-world.ts';
import { kubectl } from '../support/kubectl.ts';
import { needsOracle } from '../support/needs-oracle.ts';
import { scratchDirectory } from '../support/scratch.ts';

/** Who acts, with the rights that every cluster gives to the controller of this name. */
const ACTORS = [
  { user: 'system:serviceaccount:kube-system:deployment-controller', controller: deploymentController },
  { user: 'system:serviceaccount:kube-system:replicaset-controller', controller: replicaSetController },
];
const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];

/** A cluster on a socket with our stand-ins, where pods become ready at once, and kubectl for its administrator. */
class RolloutCluster implements AsyncDisposable {
  readonly #kubeconfig: string;
  readonly #parts: AsyncDisposableStack;
  readonly #forbidden: readonly string[];

  private constructor(kubeconfig: string, parts: AsyncDisposableStack, forbidden: readonly string[]) {
    this.#kubeconfig = kubeconfig;
    this.#parts = parts;
    this.#forbidden = forbidden;
  }

  static async start(): Promise<RolloutCluster> {
    await using parts = new AsyncDisposableStack();
    const clock = new SystemClock();
    const directory = parts.use(await scratchDirectory());
    const server = await startApiServer({ storage: 'memory', listen: { host: '127.0.0.1', port: 0 } });
    parts.defer(() => server.stop());
    const kubeconfig = join(directory.path, 'admin.kubeconfig');
    await writeFile(kubeconfig, JSON.stringify(await server.kubeconfig('admin', ['system:masters'])), {
      mode: 0o600,
    });
    const errors: string[] = [];
    const log = createLog({ level: 'error', write: (line) => void errors.push(line), now: () => clock.now() });
    const start = async (controller: Controller, kube: Transport): Promise<void> => {
      const manager = parts.use(createManager({ kube, name: controller.name, clock, log, selfCheck: false }));
      manager.add(controller);
      const ended = manager.start(stop.signal);
      parts.defer(() => ended);
      await manager.whenReady();
    };
    const stop = new AbortController();
    for (const { user, controller } of ACTORS) await start(controller(), server.client(user, GROUPS));
    await start(readyPods(clock), server.client('admin', ['system:masters']));
    parts.defer(() => stop.abort());
    return new RolloutCluster(kubeconfig, parts.move(), errors);
  }

  /** Its output; fails when it fails. */
  async run(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await kubectl(this.#kubeconfig, ...words);
    assert.equal(code, 0, `kubectl ${words.join(' ')}: ${stderr}${this.#forbidden.join('')}`);
    return stdout;
  }

  /** Waits for the end of the rollout. */
  status(): Promise<string> {
    return this.run('rollout', 'status', 'deployment/web', '--timeout=20s');
  }

  async apply(object: object): Promise<void> {
    const file = `${this.#kubeconfig}.json`;
    await writeFile(file, JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', ...object }));
    await this.run('apply', '-f', file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
    assert.deepEqual(this.#forbidden, []);
  }
}

const DONE_TEXT = 'deployment "web" successfully rolled out\n';

describe('kubectl with Deployments of the lab', needsOracle('kubectl'), () => {
  it('lab/W12: rollout status ends when the rollout does, history, undo and restart work', async () => {
    await using cluster = await RolloutCluster.start();
    await cluster.apply(webDeployment({ replicas: 3 }));
    assert.ok((await cluster.status()).endsWith(DONE_TEXT));
    await cluster.run('annotate', 'deployment/web', 'kubernetes.io/change-cause=first');
    await cluster.run('set', 'image', 'deployment/web', 'web=web:2');
    assert.ok((await cluster.status()).endsWith(DONE_TEXT));
    assert.match(await cluster.run('rollout', 'history', 'deployment/web'), /^1 +first\n2 +first\n/m);
    assert.match(await cluster.run('rollout', 'history', 'deployment/web', '--revision=1'), /Image:\s+web:1\n/);
    await cluster.run('rollout', 'undo', 'deployment/web');
    assert.ok((await cluster.status()).endsWith(DONE_TEXT));
    assert.match(await cluster.run('rollout', 'history', 'deployment/web'), /^2 .*\n3 .*\n/m);
    await cluster.run('rollout', 'undo', 'deployment/web', '--to-revision=2');
    assert.ok((await cluster.status()).endsWith(DONE_TEXT));
    const jsonpath = '-ojsonpath={.spec.template.spec.containers[0].image}';
    assert.equal(await cluster.run('get', 'deployment/web', jsonpath), 'web:2');
    await cluster.run('rollout', 'restart', 'deployment/web');
    assert.ok((await cluster.status()).endsWith(DONE_TEXT));
    assert.match(await cluster.run('rollout', 'history', 'deployment/web'), /^3 .*\n4 .*\n5 .*\n/m);
  });

  it('lab/W9: rollout pause and resume, scale and wait work', async () => {
    await using cluster = await RolloutCluster.start();
    await cluster.apply(webDeployment({ replicas: 1 }));
    await cluster.run('wait', '--for=condition=Available', 'deployment/web', '--timeout=20s');
    await cluster.run('rollout', 'pause', 'deployment/web');
    await cluster.run('set', 'image', 'deployment/web', 'web=web:2');
    await cluster.run('scale', 'deployment/web', '--replicas=2');
    await cluster.run('wait', '--for=jsonpath={.status.readyReplicas}=2', 'deployment/web', '--timeout=20s');
    const images = '-ojsonpath={.items[*].spec.containers[0].image}';
    assert.equal(await cluster.run('get', 'pods', images), 'web:1 web:1');
    await cluster.run('rollout', 'resume', 'deployment/web');
    assert.ok((await cluster.status()).endsWith(DONE_TEXT));
    assert.equal(await cluster.run('get', 'pods', '-lapp=web', images), 'web:2 web:2');
    assert.match(await cluster.run('get', 'deployment/web'), /^web +2\/2 +2 +2 /m);
    const text = await cluster.run('describe', 'deployment/web');
    assert.match(text, /Available +True +MinimumReplicasAvailable\n/);
    assert.match(text, /Progressing +True +NewReplicaSetAvailable\n/);
    assert.match(text, /Replicas: +2 desired \| 2 updated \| 2 total \| 2 available \| 0 unavailable\n/);
    assert.match(text, /NewReplicaSet: +web-\w+ \(2\/2 replicas created\)\n/);
    assert.match(text, /ScalingReplicaSet.*Scaled up replica set web-\w+ from 0 to 1\n/);
    assert.match(
      await cluster.run('describe', 'replicaset', '--show-events=true'),
      /SuccessfulCreate.*Created pod: web-\w+-\w{5}\n/,
    );
  });

  it('lab/W6: apply keeps working after the controller has written', async () => {
    await using cluster = await RolloutCluster.start();
    const labelled = (labels: object) => ({
      ...webDeployment(),
      metadata: { ...webDeployment().metadata, labels },
    });
    await cluster.apply(labelled({ a: '1', b: '2' }));
    await cluster.status();
    // What was applied before and is not now goes, which only works when what was applied before is known.
    await cluster.apply(labelled({ a: '1' }));
    assert.equal(await cluster.run('get', 'deployment/web', '-ojsonpath={.metadata.labels}'), '{"a":"1"}');
    await cluster.run('delete', 'deployment/web', '--cascade=foreground', '--timeout=20s');
    assert.equal(await cluster.run('get', 'replicasets,pods', '-oname'), '');
  });
});
