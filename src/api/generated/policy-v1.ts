// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './policy-v1-types.ts';

export type * from './policy-v1-types.ts';

export type PodDisruptionBudget = types.PodDisruptionBudget;
export const PodDisruptionBudget: Kind<PodDisruptionBudget, CreateOf<PodDisruptionBudget, 'spec'>> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  scope: 'Namespaced',
};
