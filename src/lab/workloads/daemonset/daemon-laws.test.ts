import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { daemonPodOn, daemonSet, nodeOf, now, rolling } from '../../../../test/support/lab-daemons.ts';
import type { DaemonSet } from '../../../api/generated/apps-v1-types.ts';
import type { Node, Pod, Taint } from '../../../api/generated/core-v1-types.ts';
import { type DaemonFacts, isDaemonAvailable, isLeaving, podsByNode } from './daemon-facts.ts';
import { nodeFit } from './daemon-placement.ts';
import type { PodPlan } from './node-plan.ts';
import { podPlan } from './reconcile.ts';
import { rolloutBounds } from './rollout-bounds.ts';

const NODES = ['n1', 'n2', 'n3', 'n4'];
const STEPS = [
  'ready',
  'unready',
  'fail',
  'succeed',
  'leave',
  'gone',
  'twin',
  'template',
  'taint',
  'node',
  'sync',
] as const;
const EFFECTS = [undefined, 'NoSchedule', 'NoExecute'] as const;

interface Step {
  readonly what: (typeof STEPS)[number];
  /** Which pod or node it happens to. */
  readonly which: number;
}

/** Nodes, pods and a daemon set, without a server. */
class World {
  readonly set: DaemonSet;
  #hash = 'v0';
  #made = 0;
  #nodes: readonly Node[] = NODES.slice(0, 2).map((name) => nodeOf(name));
  #pods: readonly Pod[] = [];

  constructor(set: DaemonSet) {
    this.set = set;
  }

  get facts(): DaemonFacts {
    return { set: this.set, hash: this.#hash, nodes: this.#nodes, podsByNode: podsByNode(this.#pods), now };
  }

  get pods(): readonly Pod[] {
    return this.#pods;
  }

  step({ what, which }: Step): void {
    if (what === 'sync') this.sync();
    else if (what === 'template') this.#hash = `v${which % 3}`;
    else if (what === 'taint' || what === 'node') this.#changeNodes(what, which);
    else this.#changePod(what, which);
  }

  /** What the controller does; checks what it may do. */
  sync(): PodPlan {
    const before = this.facts;
    const plan = podPlan(before, () => false);
    const removed = new Set(plan.remove.map(({ pod }) => pod));
    const made = plan.create.map((node) => this.#newPod(node, { isUnplaced: true }));
    this.#pods = [...this.#pods.map((pod) => (removed.has(pod) ? leaving(pod) : pod)), ...made];
    checkBounds(before, this.facts, plan);
    checkCrowds(this.facts, plan);
    return plan;
  }

  /** What kubelets, the scheduler and the garbage collector do in the end. */
  calm(): void {
    const names = new Set(this.#nodes.map(({ metadata }) => metadata.name));
    const placed = this.#pods.filter((pod) => !isLeaving(pod)).flatMap((pod) => this.#settled(pod, names));
    this.#pods = placed;
  }

  #settled(pod: Pod, names: ReadonlySet<string>): readonly Pod[] {
    const [node = ''] = podsByNode([pod]).keys();
    if (!names.has(node)) return pod.spec.nodeName === undefined ? [pod] : [];
    const hasEnded = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
    return [hasEnded ? placedOn(pod, node) : withReady(placedOn(pod, node), true)];
  }

  #newPod(node: string, { isUnplaced = false, hash = this.#hash } = {}): Pod {
    this.#made++;
    return daemonPodOn(node, { name: `p${this.#made}`, hash, age: 50 - this.#made / 10, isUnplaced });
  }

  #changeNodes(what: 'taint' | 'node', which: number): void {
    const name = NODES[which % NODES.length] ?? '';
    const others = this.#nodes.filter(({ metadata }) => metadata.name !== name);
    const isThere = others.length < this.#nodes.length;
    if (what === 'node') this.#nodes = isThere ? others : [...others, nodeOf(name)];
    else if (isThere) this.#nodes = [...others, nodeOf(name, { taints: taintsOf(which) })];
  }

  #changePod(what: Exclude<Step['what'], 'sync' | 'template' | 'taint' | 'node'>, which: number): void {
    const at = which % Math.max(1, this.#pods.length);
    const pod = this.#pods[at];
    if (pod === undefined) return;
    const [node = ''] = podsByNode([pod]).keys();
    const changed: Record<typeof what, () => readonly Pod[]> = {
      ready: () => [withReady(placedOn(pod, node), true)],
      unready: () => [withReady(placedOn(pod, node), false)],
      fail: () => [withPhase(placedOn(pod, node), 'Failed')],
      succeed: () => [withPhase(placedOn(pod, node), 'Succeeded')],
      leave: () => [leaving(pod)],
      gone: () => (isLeaving(pod) ? [] : [pod]),
      twin: () => [pod, this.#newPod(node, { hash: `v${which % 3}` })],
    };
    this.#pods = this.#pods.toSpliced(at, 1, ...changed[what]());
  }
}

function taintsOf(which: number): readonly Taint[] {
  const effect = EFFECTS[which % EFFECTS.length];
  return effect === undefined ? [] : [{ key: 'x', effect }];
}

const leaving = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: pod.metadata.deletionTimestamp ?? now.toISOString() },
});
const placedOn = (pod: Pod, node: string): Pod => ({ ...pod, spec: { ...pod.spec, nodeName: node } });
const withPhase = (pod: Pod, phase: 'Failed' | 'Succeeded'): Pod => ({ ...pod, status: { phase } });
const withReady = (pod: Pod, isReady: boolean): Pod => ({
  ...pod,
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  },
});

const desiredIn = ({ set, nodes }: DaemonFacts): readonly string[] =>
  nodes.filter((node) => nodeFit(set, node).shouldRun).map(({ metadata }) => metadata.name);

const isServed = (facts: DaemonFacts, node: string): boolean =>
  (facts.podsByNode.get(node) ?? []).some((pod) => !isLeaving(pod) && isDaemonAvailable(pod, facts));

/** Whenever the controller takes an available pod away for an update, no more nodes are without one than it may. */
function checkBounds(before: DaemonFacts, after: DaemonFacts, { remove }: PodPlan): void {
  const desired = desiredIn(before);
  const taken = remove.filter(
    ({ pod, node, why }) => why === 'outdated' && desired.includes(node) && isDaemonAvailable(pod, before),
  );
  if (taken.length === 0) return;
  const lost = taken.filter(({ node }) => !isServed(after, node));
  const unavailable = desired.filter((node) => !isServed(after, node));
  const { maxUnavailable } = rolloutBounds(before.set, desired.length);
  assert.ok(
    lost.length === 0 || unavailable.length <= maxUnavailable,
    `${unavailable.length} nodes are without a pod`,
  );
}

/** No node gets a pod that has one, unless it may have two. */
function checkCrowds(after: DaemonFacts, { create }: PodPlan): void {
  assert.equal(new Set(create).size, create.length);
  const { maxSurge } = rolloutBounds(after.set, Math.max(1, desiredIn(after).length));
  for (const node of create) {
    const present = (after.podsByNode.get(node) ?? []).filter((pod) => maxSurge === 0 || !isLeaving(pod));
    const running = present.filter(({ status }) => status?.phase !== 'Failed' && status?.phase !== 'Succeeded');
    assert.ok(running.length <= (maxSurge === 0 ? 1 : 2), `${running.length} pods on ${node}`);
  }
}

const stepArbitrary = fc.record({ what: fc.constantFrom(...STEPS), which: fc.nat(11) });
const strategyArbitrary = fc.oneof(
  fc.constantFrom(1, 2, '30%', '100%').map((maxUnavailable) => rolling(maxUnavailable)),
  fc.constantFrom(1, 2, '50%').map((maxSurge) => rolling(0, maxSurge)),
);

describe('laws of daemon sets', () => {
  it('lab/W24: never take away more than they may, come to rest, and have one updated pod on each node then', () => {
    fc.assert(
      fc.property(strategyArbitrary, fc.array(stepArbitrary, { maxLength: 40 }), (updateStrategy, steps) => {
        const world = new World(daemonSet({ updateStrategy }));
        for (const step of steps) world.step(step);
        const left = { rounds: 60 };
        for (let isMoving = true; isMoving && left.rounds > 0; left.rounds--) {
          world.calm();
          const { create, remove } = world.sync();
          isMoving = create.length + remove.length > 0;
        }
        assert.ok(left.rounds > 0, 'does not come to rest');
        checkRest(world);
      }),
      { numRuns: 1000 },
    );
  });

  it('lab/W23: OnDelete puts nodes in order and updates nothing', () => {
    fc.assert(
      fc.property(fc.array(stepArbitrary, { maxLength: 40 }), (steps) => {
        const world = new World(daemonSet({ updateStrategy: { type: 'OnDelete' } }));
        for (const step of steps) world.step(step);
        const { remove } = world.sync();
        assert.ok(remove.every(({ why }) => why !== 'outdated'));
      }),
      { numRuns: 200 },
    );
  });
});

function checkRest({ facts, pods }: World): void {
  for (const node of desiredIn(facts)) {
    const on = facts.podsByNode.get(node) ?? [];
    assert.deepEqual(
      [node, on.map(({ metadata }) => metadata.labels?.['controller-revision-hash'])],
      [node, [facts.hash]],
    );
  }
  for (const node of facts.nodes) {
    const { length } = facts.podsByNode.get(node.metadata.name) ?? [];
    assert.ok(length <= 1, `${length} pods on ${node.metadata.name}`);
    assert.ok(length === 0 || nodeFit(facts.set, node).shouldContinue, `a pod on ${node.metadata.name}`);
  }
  assert.ok(pods.every((pod) => facts.nodes.some(({ metadata }) => metadata.name === pod.spec.nodeName)));
}
