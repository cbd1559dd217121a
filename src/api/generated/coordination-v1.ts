// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './coordination-v1-types.ts';

export type * from './coordination-v1-types.ts';

export type Lease = types.Lease;
export const Lease: Kind<Lease, CreateOf<Lease, 'spec'>> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
};
