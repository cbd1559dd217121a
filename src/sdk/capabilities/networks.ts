import type { Absent, CallContext, Creation, ListQuery, Page, Tags } from './call.ts';

/** What the networks of the cloud can do. */
export interface NetworksFacts {
  readonly families: readonly ('IPv4' | 'IPv6')[];
  /** Whether packets of pods pass without address translation; overlay networks do not need it. */
  readonly forwardsForeignAddresses: boolean;
  readonly mtu?: number;
}

/** A network to be made. */
export interface NewNetwork extends Creation {
  readonly cidrs: readonly string[];
  readonly zone?: string;
}

/** A network as the cloud has it. */
export interface Network {
  readonly state: 'ready' | 'creating' | 'error';
  readonly id: string;
  readonly cidrs: readonly string[];
  readonly tags: Tags;
}

/** Networks that machines are placed in. */
export interface Networks<C extends CallContext = CallContext> {
  declare(): NetworksFacts;
  ensure(network: NewNetwork, call: C): Promise<{ readonly id: string }>;
  describe(id: string, call: C): Promise<Network | Absent>;
  list(query: ListQuery, call: C): Promise<Page<Network>>;
  remove(id: string, call: C): Promise<void>;
}
