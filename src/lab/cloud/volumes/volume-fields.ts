import type { KindName, ResourceRecord } from '../resources/resource-record.ts';

export interface Attachment {
  readonly instanceId: string;
  /** Where the disk appears on the instance: the same wherever and whenever the volume is attached. */
  readonly device: string;
  readonly state: 'attaching' | 'attached' | 'detaching';
}

export interface VolumeFields {
  readonly sizeGiB: number;
  readonly zone: string;
  readonly type: VolumeType;
  readonly snapshotId?: string | undefined;
  readonly encrypted: boolean;
  readonly multiAttach: boolean;
  readonly attachments: readonly Attachment[];
}

export interface SnapshotFields {
  readonly volumeId: string;
  /** Of the volume when it was taken. */
  readonly sizeGiB: number;
}

export const VOLUMES: KindName<VolumeFields> = { plural: 'volumes' };
export const SNAPSHOTS: KindName<SnapshotFields> = { plural: 'snapshots' };

export const VOLUME_TYPES = ['standard', 'fast'] as const;
export type VolumeType = (typeof VOLUME_TYPES)[number];

/** Whether a volume of that type can grow while it is attached. */
export const growsAttached = (type: VolumeType): boolean => type === 'fast';

export const linkName = (volumeId: string): string => `lab-${volumeId}`;

export const deviceOf = (volumeId: string): string => `/dev/disk/by-id/${linkName(volumeId)}`;

export const instancesOf = (record: ResourceRecord<VolumeFields> | undefined): readonly string[] =>
  record?.fields.attachments.map(({ instanceId }) => instanceId) ?? [];
