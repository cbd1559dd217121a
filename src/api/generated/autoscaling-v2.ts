// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './autoscaling-v2-types.ts';

export type * from './autoscaling-v2-types.ts';

export type HorizontalPodAutoscaler = types.HorizontalPodAutoscaler;
export const HorizontalPodAutoscaler: Kind<HorizontalPodAutoscaler, CreateOf<HorizontalPodAutoscaler>> = {
  group: 'autoscaling',
  version: 'v2',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  scope: 'Namespaced',
};
