import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeLike, podLike } from '../../../../test/support/pretend-cluster.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { type Kind, type KubeObject, keyText, type ObjectKey } from '../../../api/object.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { ApiError } from '../../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { CYCLE, Scheduler } from './scheduler.ts';

const REFUSED = new ApiError({ code: 422, reason: 'Invalid', message: 'no' });

interface Sent {
  readonly uid: string;
  readonly node: string;
}

/** A cluster in which bindings take as long as the test wants. */
class SlowCluster {
  pods: readonly Pod[] = [];
  /** What is found instead of what is listed: somebody looked a moment later. */
  found: Pod | undefined;
  readonly sent: Sent[] = [];
  readonly answers: PromiseWithResolvers<void>[] = [];
  readonly scheduler = new Scheduler('default-scheduler');
  readonly #woken = new Set<string>();

  constructor() {
    this.scheduler.channel.subscribe((key) => this.#woken.add(keyText(key)));
  }

  /** A pass, and the names of the pods for which something is to be done. */
  async cycle(): Promise<readonly string[]> {
    this.#woken.clear();
    await this.scheduler.reconcile(CYCLE, this.#context());
    return [...this.#woken];
  }

  settle(name: string): Promise<unknown> {
    return this.scheduler.reconcile({ namespace: 'default', name }, this.#context());
  }

  #context(): ReconcileContext {
    const client = {
      list: (kind: Kind) => Promise.resolve({ items: this.#items(kind) }),
      find: (_kind: Kind, key: ObjectKey) => Promise.resolve(this.found ?? this.#pod(key)),
      patch: () => Promise.resolve({}),
      subresource: () => ({
        create: (_kind: Kind, _key: ObjectKey, body: KubeObject & { target: { name: string } }) => {
          this.sent.push({ uid: body.metadata.uid ?? '', node: body.target.name });
          const answer = Promise.withResolvers<void>();
          this.answers.push(answer);
          return answer.promise;
        },
      }),
    };
    const context = {
      client,
      events: { normal: () => {}, warning: () => {} },
      log: { ...SILENT_LOG, changed: () => {} },
      signal: new AbortController().signal,
      now: () => new Date(0),
    };
    // As much of a context as a scheduler uses.
    return context as unknown as ReconcileContext;
  }

  #items({ kind }: Kind): readonly KubeObject[] {
    if (kind === 'Pod') return this.pods;
    return kind === 'Node' ? [nodeLike()] : [];
  }

  #pod({ name }: ObjectKey): Pod | undefined {
    return this.pods.find(({ metadata }) => metadata.name === name);
  }
}

const old = podLike({ uid: 'old' });
const fresh = podLike({ uid: 'fresh' });

describe('a scheduler that is overtaken', () => {
  it('lab/K7: keeps what it has decided on a new pod when the binding of its namesake fails late', async () => {
    const cluster = new SlowCluster();
    cluster.pods = [old];
    await cluster.cycle();
    const first = cluster.settle('p');
    await Promise.resolve();
    cluster.pods = [fresh];
    await new Promise(setImmediate);
    await cluster.cycle();
    cluster.answers[0]?.reject(REFUSED);
    await first;
    const second = cluster.settle('p');
    await new Promise(setImmediate);
    cluster.answers[1]?.resolve();
    await second;
    assert.deepEqual(cluster.sent, [
      { uid: 'old', node: 'n1' },
      { uid: 'fresh', node: 'n1' },
    ]);
  });

  it('lab/K1: binds the very pod it has looked at, and no other of its name', async () => {
    const cluster = new SlowCluster();
    cluster.pods = [old];
    await cluster.cycle();
    cluster.found = fresh;
    await cluster.settle('p');
    assert.deepEqual(cluster.sent, []);
  });

  it('lab/K1: binds no pod that is on its way out', async () => {
    const cluster = new SlowCluster();
    cluster.pods = [old];
    assert.deepEqual(await cluster.cycle(), ['default/p']);
    cluster.found = podLike({ uid: 'old', metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    await cluster.settle('p');
    assert.deepEqual(cluster.sent, []);
  });

  it('has nothing to do for pods that nothing was decided on', async () => {
    const cluster = new SlowCluster();
    await cluster.settle('p');
    assert.deepEqual(await cluster.cycle(), []);
  });
});
