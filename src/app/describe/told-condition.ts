import type { KubeObject } from '../../api/object.ts';
import { isRecord } from '../../object/record.ts';
import { recordsAt } from './object-fields.ts';

/** A condition in whichever dialect an object has it. */
export interface ToldCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Only the older dialect of Cluster API has it. */
  readonly severity?: string;
  readonly since?: string;
}

/** Objects of Cluster API 1.9 and 1.10 have the newer dialect in a place of its own, beside the older one. */
export function conditionsOf(object: KubeObject): readonly ToldCondition[] {
  const newer = recordsAt(object, 'status', 'v1beta2', 'conditions');
  return (newer.length > 0 ? newer : recordsAt(object, 'status', 'conditions')).flatMap(toldCondition);
}

function toldCondition(value: Readonly<Record<string, unknown>>): readonly ToldCondition[] {
  if (!isRecord(value) || typeof value['type'] !== 'string') return [];
  const text = (name: string) => (typeof value[name] === 'string' ? value[name] : '');
  const since = text('lastTransitionTime');
  const severity = text('severity');
  return [
    {
      type: value['type'],
      status: text('status'),
      reason: text('reason'),
      message: text('message'),
      ...(severity !== '' && { severity }),
      ...(since !== '' && { since }),
    },
  ];
}

export const conditionIn = (object: KubeObject, type: string): ToldCondition | undefined =>
  conditionsOf(object).find((condition) => condition.type === type);

/** Since when the first of these conditions says what it says; where there is none, since the object exists. */
export function sinceTold(object: KubeObject, ...types: readonly string[]): string | undefined {
  const told = types.flatMap((type) => conditionIn(object, type)?.since ?? []);
  return told[0] ?? object.metadata.creationTimestamp ?? undefined;
}

export const isTold = (object: KubeObject, type: string, status: string): boolean =>
  conditionIn(object, type)?.status === status;

/** Types of which True is the news, and False the calm (experience X44, and what assisted-service and kubelets have). */
const NEGATIVE: ReadonlySet<string> = new Set([
  'Paused',
  'Deleting',
  'RollingOut',
  'ScalingUp',
  'ScalingDown',
  'Updating',
  'Remediating',
  'Failed',
  'LastInstallationPreparationFailed',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
]);

/** Of an installation that is over, however it ended: neither good nor bad. */
const NEUTRAL: ReadonlySet<string> = new Set(['Stopped']);

export const isGood = ({ type, status }: ToldCondition): boolean =>
  NEUTRAL.has(type) || status === (NEGATIVE.has(type) ? 'False' : 'True');

/** Words in a reason that tell of something that does not heal by waiting. */
const FAILURE =
  /Fail|Error|Invalid|NotFound|Unauthori[sz]ed|Unavailable$|Unsupported|Forbidden|Cancelled|Missing|Refused|Expired|DoesNotExist|ObjectDeleted/;

/** Whether people have to do something about it. A severity says so; where there is none, the reason does. */
export function isFailure({ reason, severity }: ToldCondition): boolean {
  if (severity === 'Error' || severity === 'Warning') return true;
  return !reason.startsWith('Waiting') && FAILURE.test(reason);
}

/** Messages of Cluster API are lists over several lines; here they are one sentence. */
export const oneLine = (message: string): string =>
  message
    .split('\n')
    .map((line) => line.trim().replace(/^\* /, ''))
    .filter((line) => line !== '')
    .join('; ')
    .replaceAll(':; ', ': ');

/** What a condition says, in as many words as it has. */
export const saying = ({ reason, message }: ToldCondition): string => oneLine(message) || reason;
