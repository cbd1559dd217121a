import { AS_EXPECTED, condition, SYNCING_FAILED } from '../status/conditions.ts';
import type { OperatorCondition } from '../status/operator-status.ts';

/** What the two conditions of a controller begin with; the doubled word is upstream's, and programs look for it (R57). */
export type SyncController = 'CloudConfigController' | 'TrustedCABundleControllerController';

const WORDS: Readonly<Record<SyncController, { readonly title: string; readonly task: string }>> = {
  CloudConfigController: { title: 'Cloud Config Controller', task: 'sync cloud config' },
  TrustedCABundleControllerController: {
    title: 'Trusted CA Bundle Controller',
    task: 'sync the trusted CA bundle',
  },
};

/** Available and Degraded, in this order. */
export const conditionTypes = (controller: SyncController): readonly [string, string] => [
  `${controller}Available`,
  `${controller}Degraded`,
];

export function healthy(controller: SyncController): readonly OperatorCondition[] {
  const [available, degraded] = conditionTypes(controller);
  const message = `${WORDS[controller].title} works as expected`;
  return [condition(available, 'True', AS_EXPECTED, message), condition(degraded, 'False', AS_EXPECTED, message)];
}

/** With the error itself, which upstream leaves to its log. */
export function failing(controller: SyncController, problem: string): readonly OperatorCondition[] {
  const [available, degraded] = conditionTypes(controller);
  const { title, task } = WORDS[controller];
  const message = `${title} failed to ${task}: ${problem}`;
  return [
    condition(available, 'False', SYNCING_FAILED, message),
    condition(degraded, 'True', SYNCING_FAILED, message),
  ];
}
