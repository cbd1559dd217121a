import { z } from 'zod';
import { CloudError, invalidArgument } from '../cloud-error.ts';
import { requireZone } from '../instances/placement.ts';
import { defineAction, defineKind } from '../resources/kind-definition.ts';
import type { KindFactory, Transaction, Transition } from '../resources/resource-kind.ts';
import type { ResourceRecord } from '../resources/resource-record.ts';
import { attach, attached, detach, detached } from './attachments.ts';
import type { DeviceLinks } from './device-links.ts';
import {
  growsAttached,
  instancesOf,
  SNAPSHOTS,
  VOLUME_TYPES,
  VOLUMES,
  type VolumeFields,
} from './volume-fields.ts';
import type { VolumeImages } from './volume-images.ts';

const MOST_GIB = 16_384;
const sizeSchema = z.int().min(1).max(MOST_GIB);

export interface VolumeParts {
  readonly images: VolumeImages;
  readonly links: DeviceLinks;
}

/** Disks that outlive instances (C19). */
export const volumes =
  ({ images, links }: VolumeParts): KindFactory =>
  () =>
    defineKind(VOLUMES, {
      singular: 'volume',
      idPrefix: 'vol',
      states: ['creating', 'available', 'attaching', 'in-use', 'detaching', 'deleting', 'error'],
      deletion: { during: ['deleting'] },
      quotas: { volumes: 50, 'volume-gib': 5000 },
      usage: ({ fields }) => ({ volumes: 1, 'volume-gib': fields.sizeGiB }),
      input: {
        sizeGiB: sizeSchema.optional(),
        zone: z.string(),
        type: z.enum(VOLUME_TYPES).default('standard'),
        snapshotId: z.string().optional(),
        encrypted: z.boolean().default(false),
        multiAttach: z.boolean().default(false),
      },
      changes: { sizeGiB: sizeSchema },
      create: ({ input }, transaction) => {
        requireZone(input.zone, transaction);
        const { snapshotId, zone, type, encrypted, multiAttach } = input;
        const sizeGiB = sizeOf(input.sizeGiB, snapshotId, transaction);
        const fields = { sizeGiB, zone, type, snapshotId, encrypted, multiAttach, attachments: [] };
        return { state: 'creating', fields };
      },
      update: (record, { sizeGiB }) => {
        requireGrowth(record, sizeGiB);
        return { fields: { sizeGiB } };
      },
      remove: ({ id, fields }) => {
        const [holder] = fields.attachments;
        if (holder === undefined) return { state: 'deleting' };
        throw new CloudError('InUse', `volume ${id} is attached to ${holder.instanceId}; detach it first`, {
          details: { instanceId: holder.instanceId },
        });
      },
      actions: {
        attach: defineAction({ instanceId: z.string() }, (record, { instanceId }, transaction) =>
          attach(record, instanceId, transaction),
        ),
        detach: defineAction({ instanceId: z.string().optional() }, (record, { instanceId }) =>
          detach(record, instanceId),
        ),
      },
      transitions: transitions(images, links),
      changed: async (now, before) => {
        if (now !== undefined && now.state !== 'deleting') await images.ensureSize(now.id, now.fields.sizeGiB);
        for (const instanceId of left(before, now)) await links.sync(instanceId);
      },
    });

const transitions = (
  images: VolumeImages,
  links: DeviceLinks,
): Readonly<Record<string, Transition<VolumeFields>>> => ({
  creating: {
    durationMs: 2000,
    work: async ({ id, fields }) => {
      await images.create(id, fields.sizeGiB, fields.snapshotId);
      return undefined;
    },
    finish: () => ({ state: 'available' }),
  },
  attaching: { durationMs: 1000, work: (record) => linked(record, links), finish: attached },
  detaching: { durationMs: 1000, work: (record) => linked(record, links), finish: detached },
  deleting: {
    durationMs: 1000,
    work: async ({ id }) => {
      await images.removeVolume(id);
      return undefined;
    },
    finish: () => 'gone',
  },
});

async function linked(record: ResourceRecord<VolumeFields>, links: DeviceLinks): Promise<undefined> {
  for (const instanceId of instancesOf(record)) await links.sync(instanceId);
  return undefined;
}

type MaybeVolume = ResourceRecord<VolumeFields> | undefined;

/** Instances that have the volume no more, without a state in between: they went for good. */
const left = (before: MaybeVolume, now: MaybeVolume): readonly string[] =>
  instancesOf(before).filter((id) => !instancesOf(now).includes(id));

/** As large as the snapshot, unless told otherwise. */
function sizeOf(sizeGiB: number | undefined, snapshotId: string | undefined, transaction: Transaction): number {
  if (snapshotId === undefined) {
    if (sizeGiB !== undefined) return sizeGiB;
    throw invalidArgument('sizeGiB', 'sizeGiB: a volume that is not made from a snapshot needs a size');
  }
  const { state, fields, transition } = transaction.demand(SNAPSHOTS, snapshotId, 'snapshotId');
  if (state !== 'ready')
    throw new CloudError('IncorrectState', `snapshot ${snapshotId} is ${state}`, {
      target: 'snapshotId',
      isRetryable: transition !== undefined,
    });
  if ((sizeGiB ?? fields.sizeGiB) >= fields.sizeGiB) return sizeGiB ?? fields.sizeGiB;
  throw invalidArgument('sizeGiB', `sizeGiB: snapshot ${snapshotId} needs at least ${fields.sizeGiB} GiB`);
}

function requireGrowth({ id, state, fields }: ResourceRecord<VolumeFields>, sizeGiB: number): void {
  if (sizeGiB < fields.sizeGiB)
    throw invalidArgument('sizeGiB', `sizeGiB: volume ${id} has ${fields.sizeGiB} GiB and can only grow`);
  if (sizeGiB === fields.sizeGiB) return;
  if (state === 'error') throw new CloudError('IncorrectState', `volume ${id} is ${state}`);
  if (fields.attachments.length > 0 && !growsAttached(fields.type))
    throw new CloudError('IncorrectState', `volume ${id} of type ${fields.type} cannot grow while it is attached`);
}
