import type { KubeObject } from '../../api/object.ts';
import { generalState } from './general-state.ts';
import { isTrueAt, numberAt, referenceAt, textAt } from './object-fields.ts';
import { kubectl, type State, secretCommand } from './row.ts';
import {
  conditionIn,
  conditionsOf,
  isFailure,
  isGood,
  isTold,
  saying,
  sinceTold,
  type ToldCondition,
} from './told-condition.ts';

/** What an object of a provider is called when it has done its part. */
interface Contract {
  /** Of `status.initialization`, for the v1beta2 contract; `status.ready` is that of the one before. */
  readonly field: string;
  readonly done: string;
  readonly working: string;
}

const INFRASTRUCTURE: Contract = { field: 'provisioned', done: 'provisioned', working: 'provisioning' };
const BOOTSTRAP: Contract = { field: 'dataSecretCreated', done: 'secret ready', working: 'no data yet' };

/** Infrastructure clusters and machines of any provider. */
export const infrastructureState = (object: KubeObject, at: Date): State =>
  generalState(object, at) ?? contractState(object, INFRASTRUCTURE);

/** Bootstrap configs of any provider. */
export const bootstrapState = (object: KubeObject, at: Date): State =>
  generalState(object, at) ?? contractState(object, BOOTSTRAP);

function contractState(object: KubeObject, { field, done, working }: Contract): State {
  const isDone = isTrueAt(object, 'status', 'initialization', field) || isTrueAt(object, 'status', 'ready');
  const failure = isDone && isTold(object, 'Ready', 'True') ? undefined : failureIn(object);
  if (failure !== undefined)
    return {
      health: isDone ? 'attention' : 'failed',
      word: isDone ? 'not ready' : 'failed',
      since: failure.since,
      why: saying(failure),
      next: kubectl(object, 'describe'),
    };
  const since = sinceTold(object, 'Ready');
  if (isDone) return { health: 'done', word: done, since };
  const told = notYet(object);
  return { health: 'working', word: working, since, why: told === undefined ? undefined : saying(told) };
}

/** The first condition that tells of something people have to put right; the others before the one that sums up. */
function failureIn(object: KubeObject, without: readonly string[] = []): ToldCondition | undefined {
  const bad = conditionsOf(object).filter(
    (condition) => !isGood(condition) && isFailure(condition) && !without.includes(condition.type),
  );
  return bad.find(({ type }) => !SUMMARIES.includes(type)) ?? bad[0];
}

const SUMMARIES = ['Ready', 'Available', 'UpToDate'];

/** What is waited for: the first condition that is not good, the others before the one that sums up. */
function notYet(object: KubeObject): ToldCondition | undefined {
  const waiting = conditionsOf(object).filter((condition) => !isGood(condition) && condition.status !== 'True');
  return waiting.find(({ type }) => !SUMMARIES.includes(type)) ?? waiting[0];
}

/** Control planes of any provider, with Machines or without. */
export function controlPlaneState(object: KubeObject, at: Date): State {
  const general = generalState(object, at);
  if (general !== undefined) return general;
  const wanted = numberAt(object, 'spec', 'replicas');
  const ready = numberAt(object, 'status', 'readyReplicas') ?? 0;
  const isUp = isInitialized(object);
  const word = wanted === undefined ? readiness(isUp) : `${ready}/${wanted} ready`;
  // Before there is a control plane, nobody expects a kubeconfig.
  const failure = failureIn(object, isUp ? [] : ['KubeconfigAvailable']);
  if (failure !== undefined)
    return {
      health: isUp ? 'attention' : 'failed',
      word,
      since: failure.since,
      why: saying(failure),
      next: adviceFor(object, failure),
    };
  const since = sinceTold(object, 'Available', 'Ready');
  const isDone = isUp && ready >= (wanted ?? 0) && !isChanging(object);
  return isDone
    ? { health: 'done', word, since, why: behind(object, wanted) }
    : { health: 'working', word, since, why: changeOf(object) ?? waitingFor(object) };
}

/** Machines that run and are not as wanted: nothing is wrong with them, and yet somebody asked for others. */
export function behind(object: KubeObject, wanted = 0): string | undefined {
  const upToDate = numberAt(object, 'status', 'upToDateReplicas');
  return upToDate === undefined || upToDate >= wanted ? undefined : `${upToDate}/${wanted} up to date`;
}

const readiness = (isUp: boolean): string => (isUp ? 'ready' : 'not ready');

/** In the words of both contracts. */
const isInitialized = (object: KubeObject): boolean =>
  isTrueAt(object, 'status', 'initialization', 'controlPlaneInitialized') ||
  isTrueAt(object, 'status', 'initialized') ||
  isTrueAt(object, 'status', 'ready');

const isChanging = (object: KubeObject): boolean => changeOf(object) !== undefined;

const CHANGES = ['RollingOut', 'Remediating', 'ScalingUp', 'ScalingDown'];

function changeOf(object: KubeObject): string | undefined {
  const change = conditionsOf(object).find(({ type, status }) => CHANGES.includes(type) && status === 'True');
  return change === undefined ? undefined : saying(change);
}

/** What each step of a control plane is waited for, in the order of the steps. */
const STEPS = [
  'MachinesCreated',
  'ClusterInstallConfigured',
  'KubernetesVersionAvailable',
  'Available',
  'MachinesReady',
];

function waitingFor(object: KubeObject): string | undefined {
  const told = STEPS.map((type) => conditionIn(object, type)).find(
    (condition) => condition !== undefined && condition.status === 'False',
  );
  const waiting = told ?? notYet(object);
  return waiting === undefined ? undefined : saying(waiting);
}

function adviceFor(object: KubeObject, failure: ToldCondition): string {
  const secret = textAt(object, 'spec', 'config', 'pullSecretRef', 'name');
  const isAboutSecret = /PullSecret|Unauthori[sz]ed/.test(failure.reason) || /pull secret/i.test(failure.message);
  if (isAboutSecret && secret !== '') return secretCommand(object, secret);
  const template =
    referenceAt(object, 'spec', 'machineTemplate', 'infrastructureRef') ??
    referenceAt(object, 'spec', 'machineTemplate', 'spec', 'infrastructureRef');
  if (/Cloning|Generation/.test(failure.reason) && template !== undefined)
    return `correct ${template.kind} ${template.name}, or spec.machineTemplate of ${object.kind} ${object.metadata.name}`;
  return kubectl(object, 'edit');
}
