import type { CallContext, Creation, Pending, Tags } from './call.ts';
import type { NodeAddress } from './instances.ts';

/** What a port of a balancer carries. */
export type BalancerProtocol = 'TCP' | 'UDP' | 'SCTP';

/** What the balancers of the cloud can do. */
export interface LoadBalancersFacts {
  readonly protocols: readonly BalancerProtocol[];
  readonly healthChecks: readonly ('tcp' | 'http' | 'https')[];
  /** Whether `sourceRanges` of a plan are enforced; a plan with ranges is refused otherwise. */
  readonly sourceRanges: boolean;
  /** Whether backends see the address of the client. */
  readonly preservesClientAddress: boolean;
  /** Whether a client can be kept on one backend. */
  readonly sessionAffinity: boolean;
  readonly scopes: readonly BalancerScope[];
  readonly maxPorts?: number;
  /** Whether a pod reaches itself through the balancer; onboarding asks for it. */
  readonly hairpin?: boolean;
}

/** Where a balancer can be reached from. */
export type BalancerScope = 'public' | 'internal';

/** Which load balancer: that of one Service of one cluster. */
export interface BalancerRef {
  /** Stable for the life of the Service: `a` and its uid, at most 32 characters (ccm/I5). */
  readonly name: string;
  readonly cluster: string;
  readonly service: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** With the tag of the cluster; what `find` and `remove` may look for. */
  readonly tags: Tags;
  /** Of the Service, as they stand: for what only this cloud knows. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** One port of a balancer, and where it leads. */
export interface BalancerPort {
  readonly name?: string;
  readonly protocol: BalancerProtocol;
  readonly port: number;
  /** On every backend; 0 when the Service has none. */
  readonly nodePort: number;
  readonly appProtocol?: string;
}

/** A node that traffic is sent to. */
export interface Backend {
  readonly nodeName: string;
  readonly providerID?: string;
  readonly addresses: readonly NodeAddress[];
  readonly zone?: string;
}

/** Everything that a load balancer must be, worked out from a Service; nothing of it needs the Service itself. */
export interface BalancerPlan extends BalancerRef, Creation {
  readonly ports: readonly BalancerPort[];
  /** CIDRs that may connect; `0.0.0.0/0` when nobody said otherwise (ccm/S29). */
  readonly sourceRanges: readonly string[];
  readonly scope: BalancerScope;
  /** Keeps a client on one backend for so long; absent: not at all. */
  readonly affinitySeconds?: number;
  readonly externalTrafficPolicy: 'Cluster' | 'Local';
  /** Where backends say whether they have endpoints (ccm/S30); absent: ask the node ports. */
  readonly healthCheck?: { readonly path: string; readonly port: number };
  readonly ipFamilies: readonly ('IPv4' | 'IPv6')[];
  /** `spec.loadBalancerIP`: the address that the user wishes for. */
  readonly requestedAddress?: string;
  readonly backends: readonly Backend[];
}

/** How clients reach it; the same shape as in the status of a Service. */
export interface BalancerIngress {
  readonly ip?: string;
  readonly hostname?: string;
  /** `Proxy`: nodes send their own traffic through the balancer too. */
  readonly ipMode?: 'VIP' | 'Proxy';
  readonly ports?: readonly {
    readonly port: number;
    readonly protocol: BalancerProtocol;
    readonly error?: string;
  }[];
}

/** It does what the plan says. */
export interface ReadyBalancer {
  readonly kind: 'ready';
  readonly ingress: readonly BalancerIngress[];
}

/** Something else makes it: not an error, and nothing is written. */
export interface BalancerElsewhere {
  readonly kind: 'elsewhere';
}

/** What became of a plan; trouble on the way is an error instead. */
export type BalancerOutcome = ReadyBalancer | Pending | BalancerElsewhere;

/** Load balancers for Services. Never called twice at once for one Service. */
export interface LoadBalancers<C extends CallContext = CallContext> {
  declare(): LoadBalancersFacts;
  /** How it is reached now; undefined only when the cloud says that there is none. */
  find(ref: BalancerRef, call: C): Promise<readonly BalancerIngress[] | undefined>;
  /** Makes it so, from whatever is there. Called again with the same plan, it changes nothing. */
  ensure(plan: BalancerPlan, call: C): Promise<BalancerOutcome>;
  /** Only the backends, as a whole. `gone`: there is no such balancer. */
  setBackends(ref: BalancerRef, backends: readonly Backend[], call: C): Promise<'updated' | 'gone' | 'elsewhere'>;
  /** Everything of it, also what a failed `ensure` left behind. Succeeds when nothing is there; throws until all is gone. */
  remove(ref: BalancerRef, call: C): Promise<void>;
}
