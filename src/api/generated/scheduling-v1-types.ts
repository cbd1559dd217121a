// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { ObjectMeta } from '../object.ts';

export interface PriorityClass {
  readonly apiVersion: 'scheduling.k8s.io/v1';
  readonly description?: string;
  readonly globalDefault?: boolean;
  readonly kind: 'PriorityClass';
  readonly metadata: ObjectMeta;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  readonly value?: number;
}
