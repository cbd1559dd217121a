import type { PodDisruptionBudget } from '../../../api/generated/policy-v1-types.ts';
import { type LabelSelector, NOTHING } from '../../../object/label-selector.ts';
import { selectorOf } from '../pods/claims.ts';

/** The pods that a budget is for: none without a selector, all of the namespace with an empty one. */
export const budgetSelector = ({ spec }: PodDisruptionBudget): LabelSelector =>
  spec?.selector === undefined ? NOTHING : selectorOf(spec.selector);
