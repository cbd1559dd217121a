import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { factsLike, nodeLike } from '../../../../test/support/pretend-cluster.ts';
import { ClusterView } from './cluster-view.ts';
import { decide } from './decision.ts';
import { PortUse } from './host-ports.ts';
import type { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';

const NODE_NAMES = ['n1', 'n2', 'n3'] as const;

/** A pod with amounts that collide often. */
const podArbitrary = fc.record({
  cpu: fc.integer({ min: 0, max: 20 }),
  memory: fc.integer({ min: 0, max: 8 }),
  npu: fc.integer({ min: 0, max: 3 }),
  port: fc.option(fc.constantFrom(80, 81), { nil: undefined }),
});
type Wishes = typeof podArbitrary extends fc.Arbitrary<infer T> ? T : never;

const STEPS = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: fc.constant('schedule' as const), pod: podArbitrary }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('own choice' as const),
      pod: podArbitrary,
      node: fc.constantFrom(...NODE_NAMES),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constantFrom('bound', 'finished', 'deleted', 'rejected', 'changed'),
      at: fc.nat(30),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('node' as const),
      node: fc.constantFrom(...NODE_NAMES),
      cpu: fc.integer({ min: 1, max: 40 }),
      npu: fc.nat(4),
      pods: fc.integer({ min: 0, max: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('node gone' as const), node: fc.constantFrom(...NODE_NAMES) }),
  },
);
type Step = typeof STEPS extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  readonly wishes: Wishes;
  readonly uid: string;
  node: string;
  isBound: boolean;
  hasChosenItself: boolean;
}

const typedEntries = <K extends string>(object: Readonly<Record<K, number>>) =>
  Object.entries(object) as [K, number][];

/** Plays steps against a view, and remembers what it must say. */
class Model {
  readonly view = new ClusterView();
  readonly pods = new Map<string, Known>();
  readonly nodes = new Map<string, { readonly cpu: number; readonly npu: number; readonly pods: number }>();
  #made = 0;

  play(step: Step): void {
    if (step.type === 'schedule') this.#schedule(step.pod);
    else if (step.type === 'own choice') this.#add(step.pod, step.node);
    else if (step.type === 'node') this.#node(step);
    else if (step.type === 'node gone') this.#nodeGone(step.node);
    else this.#change([...this.pods.values()][step.at % Math.max(1, this.pods.size)], step.type);
  }

  facts({ uid, wishes: { cpu, memory, npu, port }, node, isBound }: Known, labels = {}): PodFacts {
    const requests = { cpu: `${cpu}`, memory: `${memory}Gi`, 'acme.example/npu': `${npu}` };
    const ports = port === undefined ? [] : [{ containerPort: port, hostPort: port }];
    const containers = [{ name: 'c', image: 'i', resources: { requests }, ports }];
    return factsLike({ name: uid, uid, labels, spec: { containers, ...(isBound && { nodeName: node }) } });
  }

  #known(wishes: Wishes): Known {
    return { wishes, uid: `p${this.#made++}`, node: '', isBound: false, hasChosenItself: false };
  }

  #add(wishes: Wishes, node: string): void {
    const known = { ...this.#known(wishes), node, isBound: true, hasChosenItself: true };
    this.pods.set(known.uid, known);
    this.view.setPod(this.facts(known));
  }

  #schedule(wishes: Wishes): void {
    const known = this.#known(wishes);
    const facts = this.facts(known);
    const fitting = [...this.nodes.keys()].filter((name) => this.#fits(wishes, name));
    const decision = decide(facts, this.view);
    assert.equal(decision.type === 'placed', fitting.length > 0, 'a pod that fits somewhere is placed');
    if (decision.type !== 'placed') return this.view.setPod(facts);
    assert.ok(fitting.includes(decision.node));
    this.view.assume(facts, decision.node);
    known.node = decision.node;
    this.pods.set(known.uid, known);
  }

  /** Told from what the test itself knows. */
  #fits(wishes: Wishes, name: string): boolean {
    const there = [...this.pods.values()].filter(({ node }) => node === name).map((pod) => pod.wishes);
    const node = this.nodes.get(name) ?? { cpu: 0, npu: 0, pods: 0 };
    const limits = { cpu: node.cpu, npu: node.npu, memory: 32 };
    const isEnough = ([what, limit]: readonly [keyof typeof limits, number]) =>
      wishes[what] === 0 || there.reduce((sum, one) => sum + one[what], wishes[what]) <= limit;
    const isFree = wishes.port === undefined || there.every(({ port }) => port !== wishes.port);
    return there.length < node.pods && isFree && typedEntries(limits).every(isEnough);
  }

  #change(known: Known | undefined, type: string): void {
    if (known === undefined) return;
    if (type === 'bound') {
      known.isBound = true;
      this.view.setPod(this.facts(known));
    } else if (type === 'changed') this.view.setPod(this.facts(known, { changed: 'yes' }));
    else if (type === 'rejected' && !known.isBound) {
      this.pods.delete(known.uid);
      this.view.forget(known.uid);
    } else if (type === 'finished' || type === 'deleted') {
      this.pods.delete(known.uid);
      this.view.removePod(known.uid);
    }
  }

  #node({ node: name, cpu, npu, pods }: Step & { type: 'node' }): void {
    this.nodes.set(name, { cpu, npu, pods });
    const allocatable = { cpu: `${cpu}`, memory: '32Gi', pods: `${pods}`, 'acme.example/npu': `${npu}` };
    this.view.setNode(nodeLike({ name, allocatable }));
  }

  #nodeGone(name: string): void {
    this.nodes.delete(name);
    this.view.removeNode(name);
  }
}

/** What a node must say, added up anew. */
function expected(model: Model, node: string) {
  const facts = [...model.pods.values()].filter((pod) => pod.node === node).map((pod) => model.facts(pod));
  const sum = (amounts: (pod: PodFacts) => ReadonlyMap<string, number>): Record<string, number> => {
    const total: Record<string, number> = {};
    for (const pod of facts) for (const [name, amount] of amounts(pod)) total[name] = (total[name] ?? 0) + amount;
    return total;
  };
  const ports = new PortUse();
  for (const { hostPorts } of facts) ports.take(hostPorts);
  return {
    pods: facts.map(({ uid }) => uid).toSorted(),
    requested: sum(({ requests }) => requests),
    scored: sum(({ scored }) => scored),
    ports: ports.entries,
  };
}

const found = ({ pods, requested, scored, ports }: NodeView) => ({
  pods: [...pods.keys()].toSorted(),
  requested: Object.fromEntries(requested),
  scored: Object.fromEntries(scored),
  ports: ports.entries,
});

/** No resource is given away twice by scheduling: what pods take that chose their node themselves is their own doing. */
function assertNotOvercommitted(node: NodeView, before: ReadonlyMap<string, number>): void {
  const limits = [...node.allocatable].filter(([name]) => name !== 'pods');
  for (const [name, limit] of limits) {
    const used = node.requested.get(name) ?? 0;
    assert.ok(used <= limit || used <= (before.get(name) ?? 0), `${name} of ${node.name}: ${used} of ${limit}`);
  }
}

describe('the view of a cluster', () => {
  it('lab/K5: totals of nodes are what their pods take, whatever happened and in whatever order', () => {
    fc.assert(
      fc.property(fc.array(STEPS, { maxLength: 60 }), (steps) => {
        const model = new Model();
        for (const step of steps) model.play(step);
        const { view, nodes, pods } = model;
        assert.deepEqual(
          view.candidates.map(({ name }) => name),
          [...nodes.keys()].toSorted(),
        );
        for (const node of view.candidates) assert.deepEqual(found(node), expected(model, node.name));
        assert.deepEqual([...view.placed.keys()].toSorted(), [...pods.keys()].toSorted());
      }),
      { numRuns: 300 },
    );
  });

  it('lab/K7: scheduling never gives anything away twice, not pods, devices, nor ports', () => {
    fc.assert(
      fc.property(fc.array(STEPS, { maxLength: 60 }), (steps) => {
        const model = new Model();
        for (const step of steps) {
          const before = new Map(model.view.candidates.map((node) => [node.name, new Map(node.requested)]));
          const counts = new Map(model.view.candidates.map((node) => [node.name, node.pods.size]));
          model.play(step);
          if (step.type !== 'schedule') continue;
          for (const node of model.view.candidates) {
            assertNotOvercommitted(node, before.get(node.name) ?? new Map());
            const isSame = node.pods.size === counts.get(node.name);
            assert.ok(isSame || node.pods.size <= (node.allocatable.get('pods') ?? 0));
          }
        }
      }),
      { numRuns: 200 },
    );
  });

  it('lab/K5: counts a pod from when it is assumed until it has ended', () => {
    const view = new ClusterView();
    view.setNode(nodeLike());
    const cpu = () => view.node('n1')?.requested.get('cpu') ?? 0;
    const pod = { requests: { cpu: '2' } };
    view.assume(factsLike(pod), 'n1');
    assert.deepEqual([cpu(), view.assumedNode('uid-p')], [2000, 'n1']);
    // The cache has not seen the binding yet.
    view.setPod(factsLike(pod));
    assert.equal(cpu(), 2000);
    view.setPod(factsLike({ ...pod, node: 'n1' }));
    assert.deepEqual([cpu(), view.assumedNode('uid-p')], [2000, undefined]);
    // Nothing is assumed any more that could be taken back.
    view.forget('uid-p');
    assert.equal(cpu(), 2000);
    view.removePod('uid-p');
    assert.equal(cpu(), 0);
  });

  it('lab/K5: follows a pod that somebody else gave another node', () => {
    const view = new ClusterView();
    for (const name of ['n1', 'n2']) view.setNode(nodeLike({ name }));
    view.assume(factsLike(), 'n1');
    view.setPod(factsLike({ node: 'n2' }));
    assert.deepEqual([view.node('n1')?.pods.size, view.node('n2')?.pods.size], [0, 1]);
  });

  it('lab/K5: counts the pods of a node that comes after them', () => {
    const view = new ClusterView();
    view.setPod(factsLike({ node: 'late', requests: { cpu: '1' } }));
    assert.equal(view.node('late'), undefined);
    view.setNode(nodeLike({ name: 'late' }));
    assert.equal(view.node('late')?.requested.get('cpu'), 1000);
    view.removeNode('late');
    view.setNode(nodeLike({ name: 'late' }));
    assert.equal(view.node('late')?.pods.size, 1);
  });
});
