// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './discovery-v1-types.ts';

export type * from './discovery-v1-types.ts';

export type EndpointSlice = types.EndpointSlice;
export const EndpointSlice: Kind<EndpointSlice, CreateOf<EndpointSlice>> = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
};
