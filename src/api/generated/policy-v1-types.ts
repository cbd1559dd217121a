// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { Condition, ObjectMeta } from '../object.ts';
import type { DeleteOptions, LabelSelector } from './meta-v1-types.ts';

export interface Eviction {
  readonly apiVersion: 'policy/v1';
  readonly deleteOptions?: DeleteOptions;
  readonly kind: 'Eviction';
  readonly metadata: ObjectMeta;
}

export interface PodDisruptionBudget {
  readonly apiVersion: 'policy/v1';
  readonly kind: 'PodDisruptionBudget';
  readonly metadata: ObjectMeta;
  readonly spec: PodDisruptionBudgetSpec;
  readonly status?: PodDisruptionBudgetStatus;
}

export interface PodDisruptionBudgetSpec {
  readonly maxUnavailable?: number | string;
  readonly minAvailable?: number | string;
  readonly selector?: LabelSelector;
  readonly unhealthyPodEvictionPolicy?: "AlwaysAllow" | "IfHealthyBudget";
}

export interface PodDisruptionBudgetStatus {
  readonly conditions?: readonly Condition[];
  readonly currentHealthy?: number;
  readonly desiredHealthy?: number;
  readonly disruptedPods?: Readonly<Record<string, string>>;
  readonly disruptionsAllowed?: number;
  readonly expectedPods?: number;
  readonly observedGeneration?: number;
}
