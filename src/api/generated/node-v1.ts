// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './node-v1-types.ts';

export type * from './node-v1-types.ts';

export type RuntimeClass = types.RuntimeClass;
export const RuntimeClass: Kind<RuntimeClass, CreateOf<RuntimeClass>> = {
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  scope: 'Cluster',
};
