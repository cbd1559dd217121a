import type { Absent, CallContext, Creation, ListQuery, Page, Tags } from './call.ts';

/** How snapshots of the cloud behave. */
export interface SnapshotsFacts {
  /** A volume cannot be removed while it has snapshots. */
  readonly dependOnVolume: boolean;
}

/** A snapshot to be taken. */
export interface NewSnapshot extends Creation {
  readonly volumeId: string;
}

/** A snapshot as the cloud has it. */
export interface Snapshot {
  readonly state: 'creating' | 'ready' | 'error';
  readonly id: string;
  readonly volumeId: string;
  readonly sizeBytes: bigint;
  /** The moment whose content it holds, RFC 3339. */
  readonly takenAt: string;
  readonly tags: Tags;
}

/** Point-in-time copies of volumes. */
export interface Snapshots<C extends CallContext = CallContext> {
  declare(): SnapshotsFacts;
  create(snapshot: NewSnapshot, call: C): Promise<{ readonly id: string }>;
  describe(id: string, call: C): Promise<Snapshot | Absent>;
  list(query: ListQuery & { readonly volumeId?: string }, call: C): Promise<Page<Snapshot>>;
  remove(id: string, call: C): Promise<void>;
}
