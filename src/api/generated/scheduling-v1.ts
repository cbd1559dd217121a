// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './scheduling-v1-types.ts';

export type * from './scheduling-v1-types.ts';

export type PriorityClass = types.PriorityClass;
export const PriorityClass: Kind<PriorityClass, CreateOf<PriorityClass>> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  scope: 'Cluster',
};
