import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ago, deployment, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { fewestAvailable, mostReplicas } from './bounds.ts';
import { newSetSize, rollingSteps } from './rolling.ts';
import { rolloutOf } from './rollout.ts';

/** One pod of a model: whether it ever becomes available, and whether it is. */
interface ModelPod {
  readonly canWork: boolean;
  isAvailable: boolean;
}

/** A ReplicaSet of a model, with what it last said of its pods. */
interface ModelSet {
  readonly image: string;
  readonly created: string;
  size: number;
  pods: ModelPod[];
  said: { replicas: number; availableReplicas: number };
}

/** Who moves next: the Deployment, one set (its pods, or what it says of them), or one pod. */
type Move =
  | { readonly who: 'deployment' }
  | { readonly who: 'pods' | 'status' | 'pod'; readonly at: number }
  | { readonly who: 'user'; readonly image: string };

interface ModelOptions {
  readonly canWork: (image: string, number: number) => boolean;
  /** Sets act and speak before the Deployment looks again; else whenever their turn comes. */
  readonly isPrompt: boolean;
}

class Model {
  readonly sets: ModelSet[] = [];
  readonly #options: ModelOptions;
  #deployment: Deployment;
  #made = 0;
  /** From the moment on when there were enough. */
  #wasAvailable = false;

  constructor(web: Deployment, options: ModelOptions) {
    this.#deployment = web;
    this.#options = options;
  }

  get available(): number {
    return this.sets.flatMap(({ pods }) => pods).filter((pod) => pod.isAvailable).length;
  }

  get pods(): number {
    return this.sets.reduce((total, { pods }) => total + pods.length, 0);
  }

  move(move: Move): boolean {
    const before = JSON.stringify(this.sets);
    this.#make(move);
    if (this.#options.isPrompt) {
      for (const set of this.sets) {
        this.#manage(set);
        set.said = saidOf(set);
      }
    }
    this.#check();
    return JSON.stringify(this.sets) !== before;
  }

  /** Everybody moves until nobody has anything to do. */
  settle(): void {
    for (let round = 0; round < 2000; round++) {
      const moves: Move[] = [{ who: 'deployment' }];
      for (const who of ['pods', 'pod', 'status'] as const) moves.push(...this.sets.map((_, at) => ({ who, at })));
      if (!moves.map((move) => this.move(move)).includes(true)) return;
    }
    assert.fail('the rollout does not come to an end');
  }

  #make(move: Move): void {
    if (move.who === 'deployment') return this.#roll();
    if (move.who === 'user') {
      const { spec } = this.#deployment;
      this.#deployment = { ...this.#deployment, spec: { ...spec, template: template(move.image) } };
      return;
    }
    const set = this.sets[move.at % Math.max(1, this.sets.length)];
    if (set === undefined) return;
    if (move.who === 'pods') this.#manage(set);
    if (move.who === 'pod') this.#work(set);
    if (move.who === 'status') set.said = saidOf(set);
  }

  #roll(): void {
    const real = new Map(this.sets.map((set, at) => [asReplicaSet(set, at), set]));
    const rollout = rolloutOf(this.#deployment, [...real.keys()]);
    if (rollout.newSet === undefined) {
      const total = this.sets.reduce((sum, { size }) => sum + size, 0);
      const image = this.#deployment.spec.template.spec?.containers[0]?.image ?? '';
      const size = newSetSize(this.#deployment, 0, total);
      this.sets.push({
        image,
        created: ago(1000 - this.sets.length),
        size,
        pods: [],
        said: { replicas: 0, availableReplicas: 0 },
      });
      return;
    }
    for (const { set, replicas } of rollingSteps(rollout)) {
      const target = real.get(set);
      if (target !== undefined) target.size = replicas;
    }
  }

  /** As a ReplicaSet does: what is not available goes first. */
  #manage(set: ModelSet): void {
    set.pods.sort((a, b) => Number(b.isAvailable) - Number(a.isAvailable));
    set.pods.length = Math.min(set.pods.length, set.size);
    while (set.pods.length < set.size) {
      set.pods.push({ canWork: this.#options.canWork(set.image, this.#made++), isAvailable: false });
    }
  }

  #work(set: ModelSet): void {
    const pod = set.pods.find(({ canWork, isAvailable }) => canWork && !isAvailable);
    if (pod !== undefined) pod.isAvailable = true;
  }

  #check(): void {
    const most = mostReplicas(this.#deployment);
    const wanted = this.sets.reduce((total, { size }) => total + size, 0);
    assert.ok(wanted <= most, `${wanted} pods are wanted, ${most} allowed`);
    if (this.#options.isPrompt) assert.ok(this.pods <= most, `${this.pods} pods, ${most} allowed`);
    const fewest = fewestAvailable(this.#deployment);
    this.#wasAvailable ||= this.available >= fewest;
    if (this.#wasAvailable) assert.ok(this.available >= fewest, `${this.available} of ${fewest} available`);
  }
}

const saidOf = ({ pods }: ModelSet) => ({
  replicas: pods.length,
  availableReplicas: pods.filter(({ isAvailable }) => isAvailable).length,
});

const asReplicaSet = ({ image, created, size, said }: ModelSet, at: number): ReplicaSet =>
  replicaSet(`s${at}`, size, { created, template: template(image), status: said });

const percent = fc.integer({ min: 0, max: 100 }).map((value) => `${value}%`);
const bound = fc.oneof(fc.nat(6), percent);
const settings = fc.record({
  replicas: fc.nat(12),
  maxSurge: bound,
  maxUnavailable: bound,
  isPrompt: fc.boolean(),
});
const at = fc.nat(9);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ who: 'deployment' } as const) },
  { weight: 6, arbitrary: fc.record({ who: fc.constantFrom('pods', 'status', 'pod'), at }) },
);
const change: fc.Arbitrary<Move> = fc.record({
  who: fc.constant('user' as const),
  image: fc.constantFrom('b', 'c', 'a'),
});

interface Settings {
  readonly replicas: number;
  readonly maxSurge: number | string;
  readonly maxUnavailable: number | string;
  readonly isPrompt: boolean;
}

/** A Deployment whose first template runs; of the others, pods work as told. */
function running({ replicas, isPrompt, ...bounds }: Settings, canWork: (number: number) => boolean): Model {
  const web = deployment(replicas, { ...bounds, spec: { template: template('a') } });
  const model = new Model(web, { isPrompt, canWork: (image, number) => image === 'a' || canWork(number) });
  model.settle();
  return model;
}

describe('every rolling update', () => {
  it('lab/W7: has never too many pods, never too few available ones, and ends with the new template alone', () => {
    fc.assert(
      fc.property(settings, fc.array(move, { maxLength: 60 }), (fields, moves) => {
        const model = running(fields, () => true);
        model.move({ who: 'user', image: 'b' });
        for (const one of moves) model.move(one);
        model.settle();
        const fresh = model.sets.filter(({ image }) => image === 'b').map(({ size }) => size);
        assert.deepEqual(
          [model.pods, model.available, fresh],
          [fields.replicas, fields.replicas, [fields.replicas]],
        );
      }),
    );
  });

  it('lab/W7: keeps its bounds and comes to rest when pods of new templates may never work', () => {
    const step = fc.oneof({ weight: 12, arbitrary: move }, { weight: 1, arbitrary: change });
    const fates = fc.array(fc.boolean(), { minLength: 1 });
    fc.assert(
      fc.property(settings, fc.array(step, { maxLength: 80 }), fates, (fields, steps, works) => {
        const model = running(fields, (number) => works[number % works.length] ?? true);
        for (const one of steps) model.move(one);
        model.settle();
      }),
    );
  });

  it('lab/W7: goes back to what worked when the new template does not', () => {
    fc.assert(
      fc.property(settings, fc.array(move, { maxLength: 40 }), (fields, moves) => {
        const model = running(fields, () => false);
        model.move({ who: 'user', image: 'b' });
        for (const one of moves) model.move(one);
        model.move({ who: 'user', image: 'a' });
        model.settle();
        assert.deepEqual([model.pods, model.available], [fields.replicas, fields.replicas]);
      }),
    );
  });
});
