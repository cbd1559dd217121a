import { z } from 'zod';
import { CloudError } from '../cloud-error.ts';
import { defineKind } from '../resources/kind-definition.ts';
import { transitionProgress } from '../resources/operation.ts';
import type { KindFactory } from '../resources/resource-kind.ts';
import { SNAPSHOTS, VOLUMES } from './volume-fields.ts';
import type { VolumeImages } from './volume-images.ts';

/** What volumes were at some moment: that of the call (C20). */
export const snapshots =
  (images: VolumeImages): KindFactory =>
  () =>
    defineKind(SNAPSHOTS, {
      singular: 'snapshot',
      idPrefix: 'snap',
      states: ['pending', 'ready', 'error'],
      quotas: { snapshots: 100 },
      input: { volumeId: z.string() },
      changes: {},
      create: ({ input: { volumeId } }, transaction) => {
        const { state, fields, transition } = transaction.demand(VOLUMES, volumeId, 'volumeId');
        if (state === 'creating' || state === 'deleting' || state === 'error')
          throw new CloudError('IncorrectState', `volume ${volumeId} is ${state}`, {
            target: 'volumeId',
            isRetryable: transition !== undefined && state === 'creating',
          });
        return { state: 'pending', fields: { volumeId, sizeGiB: fields.sizeGiB } };
      },
      remove: ({ id }, transaction) => {
        const user = transaction
          .list(VOLUMES)
          .find(({ state, fields }) => state === 'creating' && fields.snapshotId === id);
        if (user === undefined) return 'gone';
        throw new CloudError('InUse', `volume ${user.id} is being made from snapshot ${id}`, {
          isRetryable: true,
          details: { volumeId: user.id },
        });
      },
      transitions: {
        pending: {
          durationMs: 2000,
          work: async ({ id }) => {
            if (await images.hasSnapshot(id)) return undefined;
            throw new CloudError('Internal', 'the volume could not be copied');
          },
          finish: () => ({ state: 'ready' }),
        },
      },
      view: (record, now) => ({ progress: record.state === 'error' ? 0 : transitionProgress(record, now) }),
      changed: async (now, before) => {
        // Before the client is answered, so that nothing it writes afterwards is in the snapshot.
        if (now?.state === 'pending') await images.snapshot(now.id, now.fields.volumeId);
        if (now === undefined && before !== undefined) await images.removeSnapshot(before.id);
      },
    });
