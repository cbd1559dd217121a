import { DaemonSet, Deployment } from '../../api/generated/apps-v1.ts';
import { Pod, Secret } from '../../api/generated/core-v1.ts';
import { type KubeObject, keyOf, keyText } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import { type Applier, type ApplierOptions, createApplier, type OperandKind } from '../apply/applier.ts';
import { prune, prunedKinds } from '../apply/prune.ts';
import type { CloudProvider } from '../definition.ts';
import type { OperatorNames } from '../names.ts';
import { type Convergence, convergenceOf, isEmptyDaemonSet } from '../rollout/convergence.ts';
import type { Told } from '../status/conditions.ts';
import { type Blocker, Blockers } from './blockers.ts';
import { credentialsAdvice } from './credentials-advice.ts';
import { failingContainers } from './failing-pods.ts';
import type { ObservedOperand, OperatorMetrics } from './operator-metrics.ts';

/** How the operands are. */
export interface Observation {
  readonly isConverged: boolean;
  /** The one to tell of, and whether it has lasted. */
  readonly blocker?: Blocker & { readonly isLasting: boolean };
  /** Pods do not serve, or lately did not: to be looked at again. */
  readonly isShort: boolean;
}

export interface OperandOptions extends ApplierOptions {
  readonly names: OperatorNames;
  /** All that operands of these providers can be, and where. */
  readonly kinds: readonly OperandKind[];
  readonly prune: boolean;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
}

type Workload = Deployment | DaemonSet;

interface ObservedWorkload extends Convergence, ObservedOperand {
  readonly live: Workload | undefined;
}

/**
 * On the metadata of every operand, never on its pods: a label there would restart them all. Its value is the name of the
 * ClusterOperator, because two installations in one cluster must not take each other's operands away.
 */
export const MANAGED_BY = 'slipway.dev/managed-by';
const MOST_PODS = 500;

/** What the operator has put into the cluster: writes it and looks how it does. */
export class Operands {
  readonly #options: OperandOptions;
  readonly #applier: Applier;
  readonly #labels: Readonly<Record<string, string>>;
  /** Where operands are looked for that are to go. */
  readonly #sought: readonly OperandKind[];
  /** DaemonSets without nodes by key, and since when; one or two of them. */
  readonly #emptySinceMs = new Map<string, number>();
  /** Generations that have been rolled out, by key. */
  readonly #converged = new Map<string, number | undefined>();
  readonly #blockers = new Blockers();
  #pruned = '';
  #wasBlocked = false;
  #applied: ReadonlySet<string> = new Set();

  constructor(options: OperandOptions) {
    this.#options = options;
    this.#applier = createApplier(options);
    const { kinds, names } = options;
    this.#labels = { [MANAGED_BY]: names.clusterOperator };
    this.#sought = options.prune ? prunedKinds(kinds, names.managedNamespace) : kinds;
  }

  /** Whether an event of this object may matter: one that was applied, or that has our label. */
  isOperand(object: KubeObject): boolean {
    const { labels = {} } = object.metadata;
    return this.#applied.has(idOf(object)) || labels[MANAGED_BY] === this.#labels[MANAGED_BY];
  }

  /** In their order; the first failure ends it (R34). Whether anything was written. */
  async apply(operands: readonly KubeObject[]): Promise<boolean> {
    this.#applied = new Set(operands.map(idOf));
    let isChanged = false;
    for (const operand of operands) {
      const { labels } = operand.metadata;
      const metadata = { ...operand.metadata, labels: { ...labels, ...this.#labels } };
      const applied = await this.#applier.apply({ ...operand, metadata });
      isChanged ||= applied !== 'unchanged';
    }
    if (this.#options.prune) await this.#pruneAllBut(operands);
    this.#options.metrics.applied();
    return isChanged;
  }

  /** What is left to say: of which kinds everything is gone. */
  async removeAll(): Promise<string> {
    this.#applied = new Set();
    await this.#pruneAllBut([]);
    const looked = this.#sought.map(({ kind }) => kind.kind).join(', ');
    return `what was deployed is removed; these kinds were looked at: ${looked}`;
  }

  /** Nothing is to be deployed now: what was said of operands is over. */
  rest(): void {
    this.#blockers.clear();
    this.#options.metrics.observed([]);
  }

  /** `told` is what the ClusterOperator says already. */
  async observe(provider: CloudProvider, operands: readonly KubeObject[], told: Told): Promise<Observation> {
    const all: ObservedWorkload[] = [];
    for (const operand of operands.filter(isWorkload)) all.push(await this.#workload(operand, told));
    this.#options.metrics.observed(all);
    const wasBlocked = this.#wasBlocked || told.degraded !== undefined;
    const doubtful = all.flatMap(({ live, isConverged }) =>
      live !== undefined && (!isConverged || wasBlocked || isShort(live)) ? [live] : [],
    );
    const missing = await this.#missingCredentials(provider);
    const blocker = this.#worst(missing.length > 0 ? missing : await this.#failing(doubtful), told);
    this.#wasBlocked = blocker !== undefined;
    // Who knows why says it better than the workload, which only knows that it takes too long.
    const stalled = all.find((one) => one.stalled !== undefined)?.stalled;
    if (blocker === undefined && stalled !== undefined) throw retryError('RolloutStalled', stalled);
    const isConverged = all.every((one) => one.isConverged);
    return { isConverged, isShort: doubtful.length > 0, ...(blocker !== undefined && { blocker }) };
  }

  async #workload(operand: Workload, { isSettled }: Told): Promise<ObservedWorkload> {
    const live = await this.#find(operand);
    const [id, generation] = [idOf(operand), live?.metadata.generation];
    const hasConverged = isSettled || (this.#converged.has(id) && this.#converged.get(id) === generation);
    const emptyForMs = this.#emptyForMs(operand, live);
    const progress = convergenceOf(operand, live, { emptyForMs, hasConverged });
    if (progress.isConverged) this.#converged.set(id, generation);
    return { ...progress, kind: operand.kind, name: operand.metadata.name, live };
  }

  #worst(all: readonly Blocker[], { degraded }: Told): Observation['blocker'] {
    const lasting = this.#blockers.lasting(all, this.#options.clock.monotonicMs(), degraded);
    const told = lasting ?? all[0];
    return told && { ...told, isLasting: lasting !== undefined };
  }

  #find(object: Workload): Promise<Workload | undefined> {
    const { client } = this.#options;
    const key = keyOf(object);
    return object.kind === 'Deployment' ? client.find(Deployment, key) : client.find(DaemonSet, key);
  }

  #emptyForMs(operand: Workload, live: Workload | undefined): number {
    const id = idOf(operand);
    if (live === undefined || !isEmptyDaemonSet(live)) {
      this.#emptySinceMs.delete(id);
      return 0;
    }
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = this.#emptySinceMs.get(id) ?? nowMs;
    this.#emptySinceMs.set(id, sinceMs);
    return nowMs - sinceMs;
  }

  /** Credentials that the provider declared and nobody has put there. */
  async #missingCredentials({ definition }: CloudProvider): Promise<readonly Blocker[]> {
    const { client, names } = this.#options;
    const { managedNamespace: namespace } = names;
    const missing: Blocker[] = [];
    for (const spec of definition.credentials ?? []) {
      if ((await client.find(Secret, { namespace, name: spec.secretName })) !== undefined) continue;
      const message = credentialsAdvice(spec, namespace, definition.match.type);
      missing.push({ id: spec.secretName, reason: 'CredentialsMissing', message, isAwaited: true });
    }
    return missing;
  }

  /** Asked of the server: only while something is wrong, so not often. */
  async #failing(workloads: readonly Workload[]): Promise<readonly Blocker[]> {
    const { client, clock } = this.#options;
    const failing: Blocker[] = [];
    const facts = { now: clock.now(), restartsBefore: (id: string) => this.#blockers.restartsBefore(id) };
    for (const { kind, metadata, spec } of workloads) {
      const { namespace, name } = metadata;
      const { items } = await client.live.list(Pod, {
        ...(namespace !== undefined && { namespace }),
        labels: { ...spec?.selector.matchLabels },
        limit: MOST_PODS,
      });
      for (const found of failingContainers(items, facts))
        failing.push({ ...found, message: `${kind} ${name}: ${found.message}`, isAwaited: false });
    }
    return failing;
  }

  /** Once for each set of operands: nobody else makes objects with our label. */
  async #pruneAllBut(kept: readonly KubeObject[]): Promise<void> {
    const text = JSON.stringify(kept.map(idOf));
    if (kept.length > 0 && text === this.#pruned) return;
    await prune({ ...this.#options, kinds: this.#sought }, kept, this.#labels);
    this.#pruned = text;
  }
}

const idOf = (object: KubeObject): string => `${object.kind} ${keyText(keyOf(object))}`;

const isWorkload = (object: KubeObject): object is Workload =>
  object.kind === Deployment.kind || object.kind === DaemonSet.kind;

/** Whether some of its pods do not serve; a node that restarts is reason enough to look. */
const isShort = (workload: Workload): boolean => (unavailable(workload) ?? 0) > 0;

/** Absent where all of them serve. */
const unavailable = (workload: Workload): number | undefined =>
  workload.kind === 'Deployment' ? workload.status?.unavailableReplicas : workload.status?.numberUnavailable;
