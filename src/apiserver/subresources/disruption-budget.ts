import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { labelSelectorOf, matchesLabels } from '../../object/label-selector.ts';
import type { Resource } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { labelsOf } from '../rest/codec.ts';
import { textOf, timestamp } from '../rest/object-meta.ts';
import { listPrefix, type Scope } from '../rest/services.ts';
import { forbiddenObject, StatusError } from '../status.ts';
import { rewrite } from './rewrite.ts';

const VIOLATION = "Cannot evict pod as it would violate the pod's disruption budget.";
const STALE_RETRY_SECONDS = 10;
const MOST_DISRUPTED = 2000;
const BUDGET = { group: 'policy', resource: 'poddisruptionbudget' };

const objectIn = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isJsonObject(value) ? value : {};
};
const numberIn = (object: JsonObject, key: string): number => Number(object[key] ?? 0);

/** The budgets whose selector takes in a pod. */
export function budgetsOf(scope: Scope, budgets: Resource, pod: JsonObject): readonly JsonObject[] {
  const labels = labelsOf(pod);
  return [...scope.store.list(listPrefix(budgets, scope.info.namespace))]
    .map((entry) => scope.codec.stored(entry, budgets))
    .filter((budget) => isSelected(objectIn(budget, 'spec'), labels));
}

function isSelected({ selector }: JsonObject, labels: JsonObject): boolean {
  try {
    return matchesLabels(labelSelectorOf(selector), labels);
  } catch {
    // A selector that says nothing sensible selects nothing.
    return false;
  }
}

/** Whether a pod that is not ready may go although the budget has nothing to give (W34). */
export function allowsUnready(budget: JsonObject): boolean {
  if (objectIn(budget, 'spec')['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return true;
  const status = objectIn(budget, 'status');
  const desired = numberIn(status, 'desiredHealthy');
  return desired > 0 && numberIn(status, 'currentHealthy') >= desired;
}

/** The budget has not been looked at since it changed, or a pod changed while it was looked at. */
export const stillProcessed = (name: string): StatusError =>
  violation(`The disruption budget ${name} is still being processed by the server.`, STALE_RETRY_SECONDS);

const violation = (message: string, retryAfterSeconds?: number): StatusError =>
  new StatusError({
    code: 429,
    reason: 'TooManyRequests',
    message: VIOLATION,
    details: {
      causes: [{ reason: 'DisruptionBudget', message }],
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    },
  });

export interface Disruption {
  readonly budgets: Resource;
  readonly budgetName: string;
  readonly podName: string;
  readonly isDryRun: boolean;
}

/** Takes one disruption from a budget and writes down for which pod; 429 when there is none. */
export async function takeDisruption(scope: Scope, disruption: Disruption): Promise<void> {
  const { budgets, budgetName, podName, isDryRun } = disruption;
  const now = scope.clock.now();
  await rewrite(scope, {
    resource: budgets,
    name: budgetName,
    isDryRun,
    change: (budget) => {
      refuse(budget);
      const status = objectIn(budget, 'status');
      const allowed = numberIn(status, 'disruptionsAllowed') - 1;
      const disruptedPods = { ...objectIn(status, 'disruptedPods'), [podName]: timestamp(now) };
      budget['status'] = { ...status, disruptedPods, disruptionsAllowed: allowed };
      if (allowed === 0) setInsufficient(budget, now);
    },
  });
}

function refuse(budget: JsonObject): void {
  const status = objectIn(budget, 'status');
  const metadata = metadataOf(budget);
  const name = textOf(metadata['name']);
  if (numberIn(status, 'observedGeneration') < numberIn(metadata, 'generation')) throw stillProcessed(name);
  const allowed = numberIn(status, 'disruptionsAllowed');
  if (allowed < 0) throw forbiddenObject(BUDGET, name, 'pdb disruptions allowed is negative');
  if (Object.keys(objectIn(status, 'disruptedPods')).length > MOST_DISRUPTED) {
    const why = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    throw forbiddenObject(BUDGET, name, why);
  }
  if (allowed === 0) throw violation(blockedText(name, status));
}

function blockedText(name: string, status: JsonObject): string {
  const condition = conditionsIn(status).find(({ type }) => type === 'DisruptionAllowed') ?? {};
  const isFalse = condition['status'] === 'False' && textOf(condition['message']) !== '';
  const [reason, message] = [textOf(condition['reason']), textOf(condition['message'])];
  const blocked = `The disruption budget ${name} does not allow evicting pods currently`;
  if (isFalse && reason === 'SyncFailed') return `${blocked} because it failed sync: ${message}`;
  const [current, desired] = [numberIn(status, 'currentHealthy'), numberIn(status, 'desiredHealthy')];
  if (current <= desired) {
    return `The disruption budget ${name} needs ${desired} healthy pods and has ${current} currently`;
  }
  return isFalse ? `${blocked} (${reason}): ${message}` : blocked;
}

const conditionsIn = ({ conditions }: JsonObject): readonly JsonObject[] =>
  Array.isArray(conditions) ? conditions.filter(isJsonObject) : [];

function setInsufficient(budget: JsonObject, now: Date): void {
  const status = objectIn(budget, 'status');
  const conditions = conditionsIn(status);
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed');
  const isSame = before?.['status'] === 'False';
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    observedGeneration: numberIn(status, 'observedGeneration'),
    lastTransitionTime: isSame ? (before?.['lastTransitionTime'] ?? null) : timestamp(now),
    reason: 'InsufficientPods',
    message: '',
  };
  const others = conditions.filter((item) => item !== before);
  budget['status'] = { ...status, conditions: [...others, condition] };
}
