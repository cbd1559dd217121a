// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './apiregistration-v1-types.ts';

export type * from './apiregistration-v1-types.ts';

export type APIService = types.APIService;
export const APIService: Kind<APIService, CreateOf<APIService, 'spec'>> = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  scope: 'Cluster',
};
