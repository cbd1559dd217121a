import type { Tags } from '../capabilities/call.ts';
import type {
  Backend,
  BalancerIngress,
  BalancerOutcome,
  BalancerPlan,
  BalancerRef,
  BalancerScope,
} from '../capabilities/load-balancers.ts';
import { broken } from './contract.ts';
import {
  answerText,
  callWith,
  capabilityOf,
  eventually,
  type ProviderSubject,
  type requireThrown,
} from './contract-subject.ts';

/** A load balancer by the word of the cloud, not of the provider. */
export interface ObservedBalancer {
  readonly ports: readonly number[];
  /** Names of the nodes behind it. */
  readonly nodeNames: readonly string[];
  readonly tags: Tags;
  /** Where it can be reached from; nothing is checked without it. */
  readonly scope?: BalancerScope;
}

/** How load balancers are looked at in the cloud under test. */
export interface LoadBalancersSubject extends ProviderSubject {
  /** Two machines that may be backends. */
  readonly backends: readonly [Backend, Backend];
  /** Two ports that the cloud can listen at; 80 and 443 unless given. */
  readonly ports?: readonly [number, number];
  /** How many load balancers, and parts of them, there are: by the word of the cloud, not of the provider. */
  count(): Promise<number>;
  /** Undefined when there is none of that name. */
  observe?(name: string): Promise<ObservedBalancer | undefined>;
  /** The next `ensure` gets stuck on its way, with something left behind, until disposed. */
  breakMidway?(): Promise<Disposable | AsyncDisposable>;
  /** The next creation happens and its answer is lost. */
  loseAnswer?(): Promise<Disposable | AsyncDisposable>;
  /** The account may have no more load balancers, until disposed. */
  exhaustQuota?(): Promise<Disposable | AsyncDisposable>;
}

const USUAL_PORTS = [80, 443] as const;

let plans = 0;

/** A load balancer that a case plans; whatever became of it is removed when the case is over. */
export class PlannedBalancer implements AsyncDisposable {
  readonly subject: LoadBalancersSubject;
  readonly ports: readonly number[];
  #plan: BalancerPlan;

  constructor(subject: LoadBalancersSubject, plan: BalancerPlan) {
    this.subject = subject;
    this.ports = subject.ports ?? USUAL_PORTS;
    this.#plan = plan;
  }

  get plan(): BalancerPlan {
    return this.#plan;
  }

  /** What everything but `ensure` is given: a Service that goes has nothing else to say. */
  get ref(): BalancerRef {
    const { name, cluster, service, tags, annotations } = this.#plan;
    return { name, cluster, service, tags, annotations };
  }

  /** Another plan has another token: a cloud may refuse one that it knows with something else. */
  change(changes: Partial<BalancerPlan>): void {
    const idempotencyToken = `${this.#plan.service.uid}-${++plans}`;
    this.#plan = { ...this.#plan, idempotencyToken, ...changes };
  }

  async ensureOnce(): Promise<BalancerOutcome> {
    return await this.#capability.ensure(structuredClone(this.#plan), callWith());
  }

  async setBackends(backends: readonly Backend[]): Promise<'updated' | 'gone' | 'elsewhere'> {
    return await this.#capability.setBackends(structuredClone(this.ref), structuredClone(backends), callWith());
  }

  async find(): Promise<readonly BalancerIngress[] | undefined> {
    return await this.#capability.find(structuredClone(this.ref), callWith());
  }

  async remove(): Promise<void> {
    await this.#capability.remove(structuredClone(this.ref), callWith());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Best effort: whoever cannot remove breaks a promise of its own, with a message of its own.
    await gone(this).catch(() => undefined);
  }

  get #capability() {
    return capabilityOf(this.subject, 'loadBalancers');
  }
}

/** A plan for a Service that nobody has; each with a name of its own. */
export function planned(subject: LoadBalancersSubject, changes: Partial<BalancerPlan> = {}): PlannedBalancer {
  const { provider, backends, ports: [port] = USUAL_PORTS } = subject;
  // The end of a uid is cut off in names.
  const uid = `${String(++plans).padStart(8, '0')}-0000-4000-8000-c04f0000c04f`;
  const name = `a${uid.replaceAll('-', '')}`.slice(0, 32);
  return new PlannedBalancer(subject, {
    name,
    cluster: provider.clusterId ?? 'conformance',
    service: { namespace: 'conformance', name: `service-${plans}`, uid },
    logicalName: name,
    idempotencyToken: uid,
    tags: provider.clusterTags,
    annotations: {},
    ports: [{ protocol: 'TCP', port, nodePort: 30_080 }],
    sourceRanges: ['0.0.0.0/0'],
    scope: capabilityOf(subject, 'loadBalancers').declare().scopes[0] ?? 'public',
    externalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    backends,
    ...changes,
  });
}

/** Ensures it until it does what the plan says. */
export async function ready(balancer: PlannedBalancer): Promise<readonly BalancerIngress[]> {
  return await eventually(balancer.subject, 'ensure() answers ready', async () => {
    const outcome = await balancer.ensureOnce();
    if (outcome.kind === 'ready') return { got: outcome.ingress };
    const isComplete = outcome.kind === 'pending' && outcome.retryAfterMs > 0 && outcome.why.trim() !== '';
    if (isComplete) return { yet: `pending: ${outcome.why}` };
    throw broken(`ensure() answered ${answerText(outcome)}: say ready, or pending with a time and a reason`);
  });
}

/** Removes it until that succeeds. */
export async function gone(balancer: PlannedBalancer): Promise<void> {
  await eventually(balancer.subject, 'remove() succeeds', async () => {
    await balancer.remove();
    return { got: undefined };
  });
}

/** Asks until the provider can tell. */
export const findNow = (balancer: PlannedBalancer): Promise<readonly BalancerIngress[] | undefined> =>
  eventually(balancer.subject, 'find() answers', async () => ({ got: await balancer.find() }));

/** Every method, with this plan. */
export function balancerCalls(
  { subject, plan, ref }: PlannedBalancer,
  capability = capabilityOf(subject, 'loadBalancers'),
): Parameters<typeof requireThrown>[0] {
  return {
    find: (call) => capability.find(ref, call),
    ensure: (call) => capability.ensure(plan, call),
    setBackends: (call) => capability.setBackends(ref, plan.backends, call),
    remove: (call) => capability.remove(ref, call),
  };
}
