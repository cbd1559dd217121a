import type { BareMetalHost, HostImage } from '../../../api/metal3/metal3-v1alpha1.ts';
import { time } from '../../../api/time.ts';
import { jsonEqual } from '../../../object/json.ts';
import { hardwareOf, hostHardwareId } from './bare-metal-hosts.ts';

/** Where a host is in its life (S13, S15). */
export type HostState =
  | ''
  | 'registering'
  | 'inspecting'
  | 'preparing'
  | 'available'
  | 'provisioning'
  | 'provisioned'
  | 'deprovisioning';

/** How long hosts take; milliseconds. */
export interface HostPace {
  readonly registering: number;
  readonly inspecting: number;
  readonly preparing: number;
  readonly provisioning: number;
  readonly deprovisioning: number;
}

export const USUAL_PACE: HostPace = {
  registering: 2000,
  inspecting: 10_000,
  preparing: 2000,
  provisioning: 20_000,
  deprovisioning: 10_000,
};

/** All that a server wants of a status, more than others read. */
export interface HostStatus extends NonNullable<BareMetalHost['status']> {
  readonly provisioning: { readonly ID: string; readonly state: HostState; readonly image?: HostImage };
  readonly poweredOn: boolean;
  readonly operationalStatus: string;
  readonly errorMessage: string;
  readonly errorCount: number;
  readonly provisioningFailCount: number;
  readonly hardwareProfile?: string;
  readonly lastUpdated?: string;
}

export function stateOf({ status }: BareMetalHost): HostState {
  const state = status?.provisioning?.state ?? '';
  return isState(state) ? state : '';
}

const STATES: readonly string[] = [
  'registering',
  'inspecting',
  'preparing',
  'available',
  'provisioning',
  'provisioned',
  'deprovisioning',
];
const isState = (text: string): text is HostState => STATES.includes(text);

/** Somebody wants an image on it, and wants it on. */
export const isWanted = ({ spec }: BareMetalHost): boolean =>
  spec?.image !== undefined && spec.image.url !== '' && spec.online;

/** The image is not the one that it was provisioned with any more. */
const isOutdated = ({ spec, status }: BareMetalHost): boolean =>
  !jsonEqual(jsonOf(spec?.image), jsonOf(status?.provisioning?.image));

// Plain JSON from the server; what is absent is as good as null.
const jsonOf = (image: unknown) => JSON.parse(JSON.stringify(image ?? null));

/** How long it still stays in its state. */
export function restMs(host: BareMetalHost, pace: HostPace, now: Date): number {
  const { [stateOf(host) as keyof HostPace]: takesMs = 0 } = pace as Partial<HostPace>;
  const since = (host.status as Partial<HostStatus> | undefined)?.lastUpdated;
  const sinceMs = since === undefined ? now.getTime() : Date.parse(since);
  return Math.max(0, sinceMs + takesMs - now.getTime());
}

/** What follows a state by itself. */
const FOLLOWERS: Partial<Record<HostState, HostState>> = {
  '': 'registering',
  registering: 'inspecting',
  inspecting: 'preparing',
  preparing: 'available',
  provisioning: 'provisioned',
  deprovisioning: 'available',
};

/** What follows when the time of a state is over; undefined where it waits for somebody. Pure. */
export function nextState(host: BareMetalHost): HostState | undefined {
  const state = stateOf(host);
  const hasImage = state === 'provisioning' || state === 'provisioned';
  if (hasImage && isOutdated(host)) return 'deprovisioning';
  if (state === 'available' && isWanted(host)) return 'provisioning';
  return FOLLOWERS[state];
}

/** The status of a host that enters a state. */
export function enteredStatus(host: BareMetalHost, state: HostState, now: Date): HostStatus {
  const { image: kept } = host.status?.provisioning ?? {};
  const hasImage = state === 'provisioning' || state === 'provisioned';
  const image = state === 'provisioning' ? host.spec?.image : kept;
  const isKnown = state !== '' && state !== 'registering' && state !== 'inspecting';
  return {
    ...host.status,
    provisioning: { ID: hostHardwareId(host), state, ...(hasImage && image !== undefined && { image }) },
    poweredOn: state === 'provisioned',
    operationalStatus: 'OK',
    errorMessage: '',
    errorCount: 0,
    provisioningFailCount: 0,
    ...(isKnown && { hardware: hardwareOf(host), hardwareProfile: 'unknown' }),
    lastUpdated: time(now),
  };
}

/** The status of a host whose provisioning does not work. */
export function failedStatus(host: BareMetalHost, message: string): HostStatus {
  const { errorCount = 0 } = (host.status ?? {}) as Partial<HostStatus>;
  const isNew = host.status?.errorMessage !== message;
  return {
    ...host.status,
    provisioning: { ID: hostHardwareId(host), ...host.status?.provisioning, state: stateOf(host) },
    poweredOn: host.status?.poweredOn ?? false,
    operationalStatus: 'error',
    errorType: 'provisioning error',
    errorMessage: message,
    errorCount: isNew ? errorCount + 1 : errorCount,
    provisioningFailCount: isNew ? errorCount + 1 : errorCount,
  };
}
