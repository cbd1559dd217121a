import type { Absent, CallContext, Creation, ListQuery, Page, Tags } from './call.ts';

/** What volumes the cloud has. */
export interface VolumesFacts {
  readonly minBytes: bigint;
  readonly maxBytes: bigint;
  /** Sizes are multiples of it. */
  readonly stepBytes: bigint;
  /** Longest name that the cloud takes. */
  readonly nameLength: number;
  /** Whether one volume can be used by several instances at once, and how. */
  readonly sharing: 'never' | 'read-only' | 'read-write';
  /** Whether a volume grows while it is attached. */
  readonly growsOnline: boolean;
  readonly maxPerInstance?: number;
}

/** What a new volume is a copy of. */
export type VolumeSource = { readonly volumeId: string } | { readonly snapshotId: string };

/** A volume to be made. */
export interface NewVolume extends Creation {
  readonly sizeBytes: bigint;
  readonly zone?: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly source?: VolumeSource;
}

/** How a node finds the disk of an attachment. */
export interface DeviceHint {
  readonly serial?: string;
  readonly wwn?: string;
  readonly path?: string;
}

/** That a machine has a volume, or is about to. */
export interface Attachment {
  readonly providerID: string;
  readonly readOnly: boolean;
  readonly state: 'attaching' | 'attached' | 'detaching';
  readonly device?: DeviceHint;
}

/** A volume as the cloud has it. */
export interface Volume {
  readonly state: 'creating' | 'ready' | 'deleting' | 'error';
  readonly id: string;
  readonly sizeBytes: bigint;
  readonly zones: readonly string[];
  readonly tags: Tags;
  readonly source?: VolumeSource;
  readonly attachments: readonly Attachment[];
}

/** Block storage. `create` and `attach` may return before the thing is ready; whoever waits asks `describe`. */
export interface Volumes<C extends CallContext = CallContext> {
  declare(): VolumesFacts;
  create(volume: NewVolume, call: C): Promise<{ readonly id: string }>;
  describe(id: string, call: C): Promise<Volume | Absent>;
  list(query: ListQuery, call: C): Promise<Page<Volume>>;
  remove(id: string, call: C): Promise<void>;
  attach?(
    id: string,
    to: { readonly providerID: string; readonly readOnly: boolean; readonly idempotencyToken: string },
    call: C,
  ): Promise<DeviceHint>;
  /** Succeeds when it is not attached, and when either is gone. */
  detach?(id: string, from: { readonly providerID: string }, call: C): Promise<void>;
  /** Answers with the new size, which may be more. */
  grow?(
    id: string,
    to: { readonly sizeBytes: bigint; readonly idempotencyToken: string },
    call: C,
  ): Promise<bigint>;
}
