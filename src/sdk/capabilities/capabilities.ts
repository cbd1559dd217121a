import type { CallContext } from './call.ts';
import type { Credentials } from './credentials.ts';
import type { Dns } from './dns.ts';
import type { Images } from './images.ts';
import type { Instances } from './instances.ts';
import type { LoadBalancers } from './load-balancers.ts';
import type { Metadata } from './metadata.ts';
import type { Networks } from './networks.ts';
import type { ObjectStore } from './object-store.ts';
import type { Routes } from './routes.ts';
import type { Snapshots } from './snapshots.ts';
import type { Volumes } from './volumes.ts';
import type { Zones } from './zones.ts';

/** What a cloud can do. A missing one turns the parts that need it off, and they say why. */
export interface Capabilities<C extends CallContext = CallContext> {
  readonly instances?: Instances<C>;
  readonly zones?: Zones<C>;
  readonly loadBalancers?: LoadBalancers<C>;
  readonly routes?: Routes<C>;
  readonly volumes?: Volumes<C>;
  readonly snapshots?: Snapshots<C>;
  readonly dns?: Dns<C>;
  readonly images?: Images<C>;
  readonly networks?: Networks<C>;
  readonly objectStore?: ObjectStore<C>;
  readonly credentials?: Credentials<C>;
  readonly metadata?: Metadata;
}

/** Of a capability, as in a definition. */
export type CapabilityName = keyof Capabilities;

interface MethodTable {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** Every capability with its methods: what a definition is checked against. */
export const CAPABILITY_METHODS: Readonly<Record<CapabilityName, MethodTable>> = {
  instances: { required: ['declare', 'describe'], optional: ['describeMany'] },
  zones: { required: ['declare', 'list'], optional: [] },
  loadBalancers: { required: ['declare', 'find', 'ensure', 'setBackends', 'remove'], optional: [] },
  routes: { required: ['declare', 'list', 'create', 'remove'], optional: [] },
  volumes: {
    required: ['declare', 'create', 'describe', 'list', 'remove'],
    optional: ['attach', 'detach', 'grow'],
  },
  snapshots: { required: ['declare', 'create', 'describe', 'list', 'remove'], optional: [] },
  dns: { required: ['declare', 'findZone', 'ensure', 'remove'], optional: [] },
  images: { required: ['declare', 'create', 'describe', 'list', 'remove'], optional: [] },
  networks: { required: ['declare', 'ensure', 'describe', 'list', 'remove'], optional: [] },
  objectStore: { required: ['declare', 'ensure', 'put', 'link', 'remove'], optional: [] },
  credentials: { required: ['declare', 'ensure', 'remove'], optional: ['check'] },
  metadata: { required: ['declare'], optional: [] },
};

/** All of them, in the order of the documentation. */
export const CAPABILITY_NAMES = Object.keys(CAPABILITY_METHODS) as readonly CapabilityName[];

/** Methods that only look, whatever capability they are of: all others may change something in the cloud. */
export const READING_METHODS: ReadonlySet<string> = new Set([
  'declare',
  'describe',
  'describeMany',
  'find',
  'findZone',
  'list',
  'check',
]);
