import { z } from 'zod';
import { messageOf } from '../../../base/errors.ts';
import type { LabAddress } from '../../address/address-plan.ts';
import { CloudError } from '../cloud-error.ts';
import { INSTANCES } from '../instances/instance-fields.ts';
import { defineAction, defineKind } from '../resources/kind-definition.ts';
import type { KindFactory, Transaction } from '../resources/resource-kind.ts';
import type { KindName } from '../resources/resource-record.ts';
import { AddressReserve } from './address-reserve.ts';

interface AddressFields {
  readonly family: 'ipv4';
  /** What can be dialled on this machine. */
  readonly address: string;
  /** The same as the API of the cluster shows it. */
  readonly apiAddress: string;
  readonly attachedTo?: string | undefined;
}

const ADDRESSES: KindName<AddressFields> = { plural: 'addresses' };

/** An instance goes, its addresses stay. */
export function freeAddresses(instanceId: string, transaction: Transaction): void {
  for (const record of transaction.list(ADDRESSES)) {
    if (record.fields.attachedTo !== instanceId) continue;
    transaction.change(record, { state: 'free', fields: { attachedTo: undefined } });
  }
}

/** Addresses that stay when instances come and go. */
export const floatingAddresses: KindFactory = ({ addresses: { balancers } }) => {
  const reserve = new AddressReserve(() => taken(() => balancers.take()));
  return defineKind(ADDRESSES, {
    singular: 'address',
    idPrefix: 'ip',
    states: ['free', 'attached'],
    name: { schema: z.string().max(128).default('') },
    quotas: { addresses: 10 },
    input: {
      family: z.literal('ipv4', 'must be ipv4: the lab has no other').default('ipv4'),
      attachedTo: z.string().optional(),
    },
    changes: {},
    create: ({ input: { attachedTo } }, transaction) => {
      if (attachedTo !== undefined) requireLive(attachedTo, 'attachedTo', transaction);
      const inUse = new Set(transaction.list(ADDRESSES).map(({ fields }) => fields.apiAddress));
      const { api, wire } = reserve.take((address) => inUse.has(address.api));
      const fields = { family: 'ipv4' as const, address: wire, apiAddress: api, attachedTo };
      return { state: attachedTo === undefined ? 'free' : 'attached', fields };
    },
    remove: ({ id, fields: { attachedTo } }) => {
      if (attachedTo === undefined) return 'gone';
      throw new CloudError('InUse', `address ${id} is attached to ${attachedTo}; detach it first`, {
        details: { instanceId: attachedTo },
      });
    },
    actions: {
      attach: defineAction({ instanceId: z.string() }, ({ id, fields }, { instanceId }, transaction) => {
        if (fields.attachedTo === instanceId) return undefined;
        if (fields.attachedTo !== undefined)
          throw new CloudError('InUse', `address ${id} is attached to ${fields.attachedTo}`, {
            details: { instanceId: fields.attachedTo },
          });
        requireLive(instanceId, 'instanceId', transaction);
        return { state: 'attached', fields: { attachedTo: instanceId } };
      }),
      detach: defineAction({}, ({ fields }) =>
        fields.attachedTo === undefined ? undefined : { state: 'free', fields: { attachedTo: undefined } },
      ),
    },
    changed: (now, before) => {
      const address = (now ?? before)?.fields.apiAddress;
      if (address === undefined) return;
      reserve.settle(({ api }) => api === address);
      // Known at once after a restart, and again with every change, which does nothing.
      if (now !== undefined) balancers.keep(address);
      else balancers.release(address);
    },
  });
};

function taken(take: () => LabAddress): LabAddress {
  try {
    return take();
  } catch (cause) {
    throw new CloudError('InsufficientCapacity', messageOf(cause), { cause });
  }
}

function requireLive(instanceId: string, target: string, transaction: Transaction): void {
  const { state } = transaction.demand(INSTANCES, instanceId, target);
  if (state === 'terminated' || state === 'shutting-down')
    throw new CloudError('IncorrectState', `instance ${instanceId} is ${state}`, { target });
}
