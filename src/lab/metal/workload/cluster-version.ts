import type {
  ClusterOperatorCondition,
  ClusterVersion,
  ClusterVersionHistoryEntry,
} from '../../../api/openshift/config-v1.ts';
import { time } from '../../../api/time.ts';

/** A release that a cluster can run. */
export interface Release {
  readonly version: string;
  readonly image: string;
}

export type ClusterVersionStatus = NonNullable<ClusterVersion['status']>;
type Said = Omit<ClusterOperatorCondition, 'lastTransitionTime'>;

/** There is one, and this is its name. */
export const CLUSTER_VERSION = { name: 'version' } as const;
/** On the ClusterVersion: updates that are under way fail, and this is what is said of it (S25). */
export const FAIL_UPDATE = 'simulate.slipway.dev/fail-update';

/** Pure: where a release is found that nobody named an image for. */
export const unnamedImage = (version: string): string => `lab.invalid/release:${version}`;

/** Pure: what is said when the control plane is up and the installation goes on (S24). */
export function installingStatus(release: Release, generation: number, now: Date): ClusterVersionStatus {
  const said: readonly Said[] = [
    accepted(release),
    { type: 'Available', status: 'False' },
    { type: 'Failing', status: 'False' },
    working(release),
  ];
  return {
    desired: release,
    history: [begun(release, now)],
    observedGeneration: generation,
    versionHash: '',
    availableUpdates: null,
    conditions: withSaid([], [noUpdates, ...said], now),
  };
}

/** Pure: whether no release was ever applied as a whole. */
export const isInstalling = ({ history = [] }: ClusterVersionStatus): boolean =>
  !history.some(({ state }) => state === 'Completed');

/** Pure: the newest release is applied as a whole; installations end so, and updates (S24, S25). */
export function completedStatus(status: ClusterVersionStatus, now: Date): ClusterVersionStatus {
  const [newest, ...older] = status.history ?? [];
  const { version = '' } = newest ?? {};
  return {
    ...status,
    history: [{ ...newest, state: 'Completed', completionTime: time(now) }, ...older],
    conditions: withSaid(
      status.conditions,
      [
        { type: 'Available', status: 'True', message: `Done applying ${version}` },
        { type: 'Failing', status: 'False' },
        { type: 'Progressing', status: 'False', message: `Cluster version is ${version}` },
      ],
      now,
    ),
  };
}

/** Pure: an update to a release begins; what was under way before has ended with it, unfinished (S25). */
export function begunStatus(cv: ClusterVersion, release: Release, now: Date): ClusterVersionStatus {
  const { status = {}, metadata } = cv;
  const [newest, ...older] = status.history ?? [];
  const ended = newest === undefined ? [] : [{ ...newest, completionTime: newest.completionTime ?? time(now) }];
  return {
    ...status,
    desired: release,
    history: [begun(release, now), ...ended, ...older],
    observedGeneration: metadata.generation ?? 0,
    conditions: withSaid(
      status.conditions,
      [accepted(release), { type: 'Failing', status: 'False' }, working(release)],
      now,
    ),
  };
}

/** Pure: the update has failed: its entry stays unfinished and has an end (S25). */
export function failedStatus(status: ClusterVersionStatus, why: string, now: Date): ClusterVersionStatus {
  const [newest, ...older] = status.history ?? [];
  const message = `Error while reconciling ${newest?.version ?? ''}: ${why}`;
  const reason = 'UpdatePayloadFailed';
  return {
    ...status,
    history: [{ ...newest, completionTime: time(now) }, ...older],
    conditions: withSaid(
      status.conditions,
      [
        { type: 'Failing', status: 'True', reason, message: why },
        { type: 'Progressing', status: 'False', reason, message },
      ],
      now,
    ),
  };
}

/** Pure: there is no such release; whatever goes on goes on. */
export function refusedStatus(cv: ClusterVersion, image: string, why: string, now: Date): ClusterVersionStatus {
  const { status = {}, metadata } = cv;
  const message = `Retrieving payload failed image="${image}" failure=${why}`;
  const said = { type: 'ReleaseAccepted', status: 'False' as const, reason: 'RetrievePayload', message };
  return {
    ...status,
    observedGeneration: metadata.generation ?? 0,
    conditions: withSaid(status.conditions, [said], now),
  };
}

const begun = ({ version, image }: Release, now: Date): ClusterVersionHistoryEntry => ({
  state: 'Partial',
  startedTime: time(now),
  completionTime: null,
  version,
  image,
  verified: false,
});

const noUpdates: Said = {
  type: 'RetrievedUpdates',
  status: 'False',
  reason: 'NoChannel',
  message: 'The update channel has not been configured.',
};

const accepted = ({ version, image }: Release): Said => ({
  type: 'ReleaseAccepted',
  status: 'True',
  reason: 'PayloadLoaded',
  message: `Payload loaded version="${version}" image="${image}"`,
});

const working = ({ version }: Release): Said => ({
  type: 'Progressing',
  status: 'True',
  message: `Working towards ${version}`,
});

/** Each in its place, new ones behind; the time moves with the status. */
function withSaid(
  old: readonly ClusterOperatorCondition[] = [],
  said: readonly Said[],
  now: Date,
): readonly ClusterOperatorCondition[] {
  const next = said.map((one) => {
    const before = old.find(({ type }) => type === one.type);
    const since = before?.status === one.status ? before.lastTransitionTime : time(now);
    return { ...one, lastTransitionTime: since };
  });
  const kept = old.map((condition) => next.find(({ type }) => type === condition.type) ?? condition);
  return [...kept, ...next.filter(({ type }) => !old.some((condition) => condition.type === type))];
}
