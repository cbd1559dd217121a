import type { Json, JsonObject } from '../api/json.ts';
import { apiVersionOf, type KubeObject } from '../api/object.ts';
import type { DefinedKind } from '../api/schema/define-kind.ts';
import type { StoreEvent } from '../apiserver/store/store.ts';
import { ApiError } from '../kube/client/api-error.ts';
import type { Controller } from '../kube/controller/controller.ts';
import { PrometheusMetrics } from '../kube/metrics/metrics.ts';
import { generatedValue } from './generated-objects.ts';
import { TestEnv, type TestEnvOptions } from './test-env.ts';

export interface FuzzOptions<T extends KubeObject, I> {
  readonly kind: DefinedKind<T, I>;
  /** For one life of the program; called twice. */
  readonly controllers: () => readonly Controller[];
  /** How many objects; 50 unless told otherwise. */
  readonly runs?: number;
  /** Same seed, same objects. */
  readonly seed?: number;
  /** Texts for fields whose pattern is beyond the generator, by path such as `spec.issuer`. */
  readonly samples?: Readonly<Record<string, readonly Json[]>>;
  readonly env?: Omit<TestEnvOptions, 'seed'>;
}

export interface FuzzReport {
  /** Objects that the server took. */
  readonly accepted: number;
  /** Objects that it refused: rules that a schema cannot say. */
  readonly rejected: number;
  /** Reconciles that ended by a mistake of the controller. */
  readonly bugs: number;
  /** Objects that a second life of the program wrote though nothing had changed. */
  readonly rewritten: readonly string[];
}

const REST_MS = 10 * 60_000;
const NAMESPACE = 'default';

/**
 * Makes objects from the definition of a kind and lets the controllers reconcile them (T6): then a second life of the
 * program meets them all again. Good: no `bugs`, nothing `rewritten`. Rejects when the server took no object at all.
 */
export async function fuzzReconciler<T extends KubeObject, I>(options: FuzzOptions<T, I>): Promise<FuzzReport> {
  const { kind, controllers, seed = 1 } = options;
  const { kinds = [], ...rest } = options.env ?? {};
  await using env = await TestEnv.start({ ...rest, kinds: [...kinds, kind], seed });
  const registry = new PrometheusMetrics();
  const first = await env.startManager({ add: controllers(), registry });
  const { accepted, rejected } = await createObjects(env, options);
  if (accepted === 0)
    throw new Error(`the server refused every ${kind.kind}; give samples, or a kind with fewer rules`);
  await env.advance(REST_MS);
  await env.stopManager(first);
  const rewritten = new Set<string>();
  using _writes = env.server.store.subscribe('/registry/', (event) => {
    if (isOfInterest(event)) rewritten.add(event.key);
  });
  const second = new PrometheusMetrics();
  await env.startManager({ add: controllers(), registry: second });
  await env.advance(REST_MS);
  const bugs = bugsIn(await registry.text()) + bugsIn(await second.text());
  return { accepted, rejected, bugs, rewritten: [...rewritten] };
}

/** What the runtime writes to tell of itself is not the doing of a reconciler. */
const isOfInterest = ({ key }: StoreEvent): boolean =>
  !/^\/registry\/[^/]+\/(events|leases|serviceaccounts|roles|rolebindings|clusterroles|clusterrolebindings)\//.test(
    key,
  );

async function createObjects<T extends KubeObject, I>(env: TestEnv, options: FuzzOptions<T, I>) {
  const { kind, runs = 50, samples = {} } = options;
  const random = () => env.clock.random();
  let accepted = 0;
  for (let number = 0; number < runs; number++) {
    const {
      metadata: _given,
      status: _status,
      ...body
    } = generatedValue(kind.schema, { random, samples }) as JsonObject;
    const object = {
      ...body,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: `fuzz-${number}`, ...(kind.scope === 'Namespaced' && { namespace: NAMESPACE }) },
    };
    try {
      await env.client.create(kind, object as unknown as I);
      accepted++;
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 422)) throw error;
    }
  }
  return { accepted, rejected: runs - accepted };
}

const bugsIn = (text: string): number =>
  [...text.matchAll(/^slipway_controller_reconciles_total\{[^}]*result="bug"[^}]*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
