import { type ConditionNews, news } from './assisted-conditions.ts';

/** How many hosts there are, and how many there must be. */
export interface HostCounts {
  readonly expectedMasters: number;
  readonly expectedWorkers: number;
  /** Those whose hardware is known. */
  readonly registered: number;
  readonly approved: number;
  readonly unsynced: number;
  /** Of those that are approved. */
  readonly masters: number;
  readonly workers: number;
}

export interface InstallCircumstances {
  /** Empty while the cluster is not registered. */
  readonly state: string;
  readonly stateInfo: string;
  /** What is wrong with the spec, or missing; undefined when it is applied. */
  readonly problem: string | undefined;
  readonly counts: HostCounts;
  readonly isOnHold: boolean;
}

const NOT_STARTED = new Set(['insufficient', 'pending-for-input', 'ready']);
const COMPLETED = new Set(['installed', 'adding-hosts']);

export const hasStarted = (state: string): boolean => state !== '' && !NOT_STARTED.has(state);
export const isCompleted = (state: string): boolean => COMPLETED.has(state);

/** Pure: all of them, always together (spec section 7). */
export function installConditions(facts: InstallCircumstances): readonly ConditionNews[] {
  const synced = specSynced(facts);
  if (facts.state === '') return [synced, ...UNKNOWN];
  return [
    synced,
    validated(facts),
    requirementsMet(facts),
    completed(facts),
    failed(facts),
    stopped(facts),
    news('LastInstallationPreparationFailed', 'False', 'NoFailedPreparation', 'No preparation has failed'),
  ];
}

const UNKNOWN: readonly ConditionNews[] = [
  'Validated',
  'RequirementsMet',
  'Completed',
  'Failed',
  'Stopped',
  'LastInstallationPreparationFailed',
].map((type) => news(type, 'Unknown', 'NotAvailable', 'The cluster is not registered'));

const specSynced = ({ problem }: InstallCircumstances): ConditionNews =>
  problem === undefined
    ? news('SpecSynced', 'True', 'SyncOK', 'The spec was applied')
    : news('SpecSynced', 'False', 'InputError', `The spec was not applied: ${problem}`);

const validated = ({ state }: InstallCircumstances): ConditionNews =>
  state === 'insufficient'
    ? news('Validated', 'False', 'ValidationsFailing', 'There are not enough hosts that are ready')
    : news('Validated', 'True', 'ValidationsPassing', 'The cluster passes all validations');

function requirementsMet({ state, counts }: InstallCircumstances): ConditionNews {
  const type = 'RequirementsMet';
  if (state === 'insufficient' || state === 'pending-for-input')
    return news(type, 'False', 'ClusterNotReady', 'The cluster is not ready to be installed');
  if (state === 'ready') return { ...missing(counts), type };
  if (state === 'installed' || state === 'error' || state === 'cancelled')
    return news(type, 'True', 'ClusterInstallationStopped', 'The installation is over');
  return news(type, 'True', 'ClusterAlreadyInstalling', 'The installation has begun');
}

/** In the order of assisted-service: the first that is true. */
function missing(counts: HostCounts): ConditionNews {
  const { expectedMasters, expectedWorkers, registered, approved, unsynced, masters, workers } = counts;
  const expected = expectedMasters + expectedWorkers;
  const no = (reason: string, message: string): ConditionNews => news('', 'False', reason, message);
  if (registered < expected)
    return no('InsufficientAgents', `${expected} hosts are needed, ${registered} have registered`);
  if (unsynced > 0) return no('UnsyncedAgents', `The spec of ${unsynced} hosts was not applied`);
  if (approved < expected) return no('UnapprovedAgents', `${expected - approved} hosts are not approved`);
  if (registered > expected)
    return no('AdditionalAgents', `${expected} hosts are needed, ${registered} have registered`);
  if (masters !== expectedMasters || workers !== expectedWorkers)
    return no('ClusterNotReady', `${expectedMasters} masters are needed, ${masters} hosts have that role`);
  return news('', 'True', 'ClusterIsReady', 'The cluster is ready to be installed');
}

/** Exactly as many hosts as are needed, all approved, each with its role (S19). */
export const areRequirementsMet = (counts: HostCounts): boolean => missing(counts).status === 'True';

/** Its message moves with the state, and so does its time: that is since when a state lasts. */
function completed({ state, stateInfo, isOnHold }: InstallCircumstances): ConditionNews {
  const type = 'Completed';
  const message = `${state}: ${stateInfo}`;
  if (isCompleted(state)) return news(type, 'True', 'InstallationCompleted', message);
  if (state === 'error' || state === 'cancelled') return news(type, 'False', 'InstallationFailed', message);
  if (hasStarted(state)) return news(type, 'False', 'InstallationInProgress', message);
  return state === 'ready' && isOnHold
    ? news(type, 'False', 'InstallationOnHold', `${state}: spec.holdInstallation is true`)
    : news(type, 'False', 'InstallationNotStarted', message);
}

const failed = ({ state, stateInfo }: InstallCircumstances): ConditionNews =>
  state === 'error'
    ? news('Failed', 'True', 'InstallationFailed', `The installation failed: ${stateInfo}`)
    : news('Failed', 'False', 'InstallationNotFailed', 'The installation has not failed');

function stopped({ state, stateInfo }: InstallCircumstances): ConditionNews {
  const type = 'Stopped';
  if (isCompleted(state)) return news(type, 'True', 'InstallationCompleted', 'The installation is completed');
  if (state === 'error') return news(type, 'True', 'InstallationFailed', `The installation failed: ${stateInfo}`);
  if (state === 'cancelled') return news(type, 'True', 'InstallationCancelled', 'The installation was cancelled');
  return news(type, 'False', 'InstallationNotStopped', 'The installation goes on, or has not begun');
}
