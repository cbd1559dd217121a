import { CloudError, invalidArgument } from '../cloud-error.ts';
import { INSTANCES } from '../instances/instance-fields.ts';
import type { Transaction } from '../resources/resource-kind.ts';
import type { RecordChange, ResourceRecord } from '../resources/resource-record.ts';
import { deviceOf, VOLUMES, type VolumeFields } from './volume-fields.ts';

type Volume = ResourceRecord<VolumeFields>;
type VolumeChange = RecordChange<VolumeFields>;

const MOST_PER_INSTANCE = 25;

/** Begins to attach a volume; undefined when it is attached there already (C19). */
export function attach(volume: Volume, instanceId: string, transaction: Transaction): VolumeChange | undefined {
  const { id, state, fields } = volume;
  const known = fields.attachments.find((attachment) => attachment.instanceId === instanceId);
  if (known !== undefined && known.state !== 'detaching') return undefined;
  requireInstance(volume, instanceId, transaction);
  const [holder] = fields.attachments;
  if (holder !== undefined && !fields.multiAttach)
    throw new CloudError('InUse', `volume ${id} is attached to ${holder.instanceId}`, {
      details: { instanceId: holder.instanceId },
    });
  if (state !== 'available' && state !== 'in-use') throw notNow(volume, 'attached');
  const used = transaction
    .list(VOLUMES)
    .filter(({ fields: { attachments } }) => attachments.some((each) => each.instanceId === instanceId)).length;
  if (used >= MOST_PER_INSTANCE)
    throw new CloudError('QuotaExceeded', `instance ${instanceId} has ${used} volumes, which is the limit`, {
      details: { quota: 'volumes-per-instance', limit: MOST_PER_INSTANCE, used },
    });
  const attachment = { instanceId, device: deviceOf(id), state: 'attaching' as const };
  return { state: 'attaching', fields: { attachments: [...fields.attachments, attachment] } };
}

/** Begins to detach a volume, from everywhere unless an instance is named; undefined when it is not attached there. */
export function detach(volume: Volume, instanceId: string | undefined): VolumeChange | undefined {
  const isMeant = (attachment: { readonly instanceId: string }) =>
    instanceId === undefined || attachment.instanceId === instanceId;
  const meant = volume.fields.attachments.filter(isMeant);
  if (meant.every(({ state }) => state === 'detaching')) return undefined;
  // A volume whose attaching failed can be taken back.
  if (volume.state !== 'in-use' && volume.state !== 'error') throw notNow(volume, 'detached');
  const attachments = volume.fields.attachments.map((attachment) =>
    isMeant(attachment) ? { ...attachment, state: 'detaching' as const } : attachment,
  );
  return { state: 'detaching', fields: { attachments } };
}

/** What is being attached, is. */
export const attached = ({ fields }: Volume): VolumeChange => ({
  state: 'in-use',
  fields: { attachments: fields.attachments.map((attachment) => ({ ...attachment, state: 'attached' as const })) },
});

/** What is being detached, is gone. */
export const detached = ({ fields }: Volume): VolumeChange =>
  withAttachments(fields.attachments.filter(({ state }) => state !== 'detaching'));

/** An instance goes for good, and lets go of everything at once. */
export function letGo(instanceId: string, transaction: Transaction): void {
  for (const volume of transaction.list(VOLUMES)) {
    const { attachments } = volume.fields;
    const left = attachments.filter((attachment) => attachment.instanceId !== instanceId);
    if (left.length === attachments.length) continue;
    // Of several, one may still be on its way; then only this one goes.
    const isMoving = left.some(({ state }) => state !== 'attached');
    transaction.change(volume, isMoving ? { fields: { attachments: left } } : withAttachments(left));
  }
}

const withAttachments = (attachments: VolumeFields['attachments']): VolumeChange => ({
  state: attachments.length === 0 ? 'available' : 'in-use',
  fields: { attachments },
});

const notNow = ({ id, state, transition }: Volume, what: string): CloudError =>
  new CloudError('IncorrectState', `volume ${id} is ${state} and cannot be ${what} now`, {
    isRetryable: transition !== undefined,
  });

function requireInstance({ id, fields }: Volume, instanceId: string, transaction: Transaction): void {
  const instance = transaction.demand(INSTANCES, instanceId, 'instanceId');
  if (!['running', 'stopped', 'stopping', 'starting', 'rebooting'].includes(instance.state))
    throw new CloudError('IncorrectState', `instance ${instanceId} is ${instance.state}`, {
      target: 'instanceId',
      isRetryable: instance.state === 'pending',
    });
  const { zone } = instance.fields;
  if (zone !== fields.zone)
    throw invalidArgument(
      'instanceId',
      `instanceId: volume ${id} is in zone ${fields.zone}, instance ${instanceId} in zone ${zone}`,
    );
}
