import type { JsonObject } from '../../object/json.ts';
import {
  has,
  metadataOf,
  nameOf,
  objectAt,
  objectsAt,
  optionalAt,
  specOf,
  statusOf,
  textAt,
} from '../builtin/fields.ts';
import { AGE, ageOf, type Cell, conditionStatus, count, NAME, since, tableOf, text, wide } from './cells.ts';

export const podColumns = tableOf(
  [
    NAME,
    text('Ready'),
    text('Status'),
    text('Restarts'),
    AGE,
    wide('IP'),
    wide('Node'),
    wide('Nominated Node'),
    wide('Readiness Gates'),
  ],
  podCells,
  completion,
);

/** A row whose pod has ended says so; kubectl hides such rows on request. */
function completion(pod: JsonObject): readonly JsonObject[] {
  const phase = textAt(statusOf(pod), 'phase');
  const message = phase === 'Succeeded' ? 'The pod has completed successfully.' : 'The pod failed.';
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  return isOver ? [{ type: 'Completed', status: 'True', reason: phase, message }] : [];
}

interface Restarts {
  count: number;
  /** When a container ended last; 0 for never. */
  lastMs: number;
}

interface Summary {
  reason: string;
  ready: number;
  restarts: Restarts;
}

function podCells(pod: JsonObject, now: Date): readonly Cell[] {
  const [spec, status] = [specOf(pod), statusOf(pod)];
  const sidecars = objectsAt(spec, 'initContainers').filter(isSidecar);
  const total = objectsAt(spec, 'containers').length + sidecars.length;
  const { reason, ready, restarts } = summaryOf(spec, status);
  const restartText =
    restarts.count > 0 && restarts.lastMs > 0
      ? `${restarts.count} (${since(new Date(restarts.lastMs).toISOString(), now)} ago)`
      : String(restarts.count);
  const [firstIp] = objectsAt(status, 'podIPs');
  return [
    nameOf(pod),
    `${ready}/${total}`,
    deletionReason(pod, status) ?? reason,
    restartText,
    ageOf(pod, now),
    (firstIp && textAt(firstIp, 'ip')) || '<none>',
    textAt(spec, 'nodeName') || '<none>',
    textAt(status, 'nominatedNodeName') || '<none>',
    gatesText(spec, status),
  ];
}

const isSidecar = (container: JsonObject): boolean => textAt(container, 'restartPolicy') === 'Always';

function deletionReason(pod: JsonObject, status: JsonObject): string | undefined {
  if (!has(metadataOf(pod), 'deletionTimestamp')) return undefined;
  if (textAt(status, 'reason') === 'NodeLost') return 'Unknown';
  return ['Succeeded', 'Failed'].includes(textAt(status, 'phase')) ? undefined : 'Terminating';
}

function summaryOf(spec: JsonObject, status: JsonObject): Summary {
  const isGated = objectsAt(status, 'conditions').some(
    (condition) =>
      textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'reason') === 'SchedulingGated',
  );
  const phase = textAt(status, 'reason') || textAt(status, 'phase');
  const init = initSummary(spec, status, isGated ? 'SchedulingGated' : phase);
  const isInitialized = conditionStatus(status, 'Initialized') === 'True';
  if (init.isWaiting && !isInitialized) return init;
  return mainSummary(status, init);
}

interface InitSummary extends Summary {
  readonly isWaiting: boolean;
  readonly sidecarRestarts: Restarts;
}

function initSummary(spec: JsonObject, status: JsonObject, phase: string): InitSummary {
  const containers = objectsAt(spec, 'initContainers');
  const sidecars = new Set(containers.filter(isSidecar).map((container) => textAt(container, 'name')));
  const restarts = { count: 0, lastMs: 0 };
  const sidecarRestarts = { count: 0, lastMs: 0 };
  let ready = 0;
  for (const [index, container] of objectsAt(status, 'initContainerStatuses').entries()) {
    const isSide = sidecars.has(textAt(container, 'name'));
    addRestarts(restarts, container);
    if (isSide) addRestarts(sidecarRestarts, container);
    const state = objectAt(container, 'state');
    const ended = optionalAt(state, 'terminated');
    const isUp = isSide && container['started'] === true;
    if (isUp && ended === undefined && container['ready'] === true) ready++;
    if (isUp || (ended !== undefined && count(ended, 'exitCode') === 0)) continue;
    const reason = initReason(state, `Init:${index}/${containers.length}`);
    return { reason, ready, restarts, sidecarRestarts, isWaiting: true };
  }
  return { reason: phase, ready, restarts, sidecarRestarts, isWaiting: false };
}

function initReason(state: JsonObject, progress: string): string {
  const ended = optionalAt(state, 'terminated');
  if (ended !== undefined) return `Init:${endReason(ended)}`;
  const waiting = textAt(objectAt(state, 'waiting'), 'reason');
  return waiting === '' || waiting === 'PodInitializing' ? progress : `Init:${waiting}`;
}

const endReason = (ended: JsonObject): string =>
  textAt(ended, 'reason') ||
  (count(ended, 'signal') !== 0 ? `Signal:${count(ended, 'signal')}` : `ExitCode:${count(ended, 'exitCode')}`);

function addRestarts(restarts: Restarts, container: JsonObject): void {
  restarts.count += count(container, 'restartCount');
  const last = optionalAt(objectAt(container, 'lastState'), 'terminated');
  const at = last === undefined ? Number.NaN : Date.parse(textAt(last, 'finishedAt'));
  if (at > restarts.lastMs) restarts.lastMs = at;
}

function mainSummary(status: JsonObject, init: InitSummary): Summary {
  const restarts = { ...init.sidecarRestarts };
  let { reason, ready } = init;
  let isRunning = false;
  let errorReason = '';
  for (const container of objectsAt(status, 'containerStatuses').toReversed()) {
    addRestarts(restarts, container);
    const state = objectAt(container, 'state');
    const waiting = textAt(objectAt(state, 'waiting'), 'reason');
    const ended = optionalAt(state, 'terminated');
    if (waiting !== '') reason = waiting;
    else if (ended !== undefined) {
      reason = endReason(ended);
      if (count(ended, 'exitCode') !== 0) errorReason = reason;
    } else if (container['ready'] === true && has(state, 'running')) {
      isRunning = true;
      ready++;
    }
  }
  if (reason === 'Completed') reason = completedReason(status, isRunning, errorReason);
  return { reason, ready, restarts };
}

/** A pod of which one container has ended well is not over while another runs. */
function completedReason(status: JsonObject, isRunning: boolean, errorReason: string): string {
  if (isRunning && conditionStatus(status, 'Ready') === 'True') return 'Running';
  if (errorReason !== '') return errorReason;
  return isRunning ? 'NotReady' : 'Completed';
}

function gatesText(spec: JsonObject, status: JsonObject): string {
  const gates = objectsAt(spec, 'readinessGates');
  if (gates.length === 0) return '<none>';
  const open = gates.filter((gate) => conditionStatus(status, textAt(gate, 'conditionType')) === 'True');
  return `${open.length}/${gates.length}`;
}
