import { defineKind } from '../resources/kind-definition.ts';
import type { KindFactory } from '../resources/resource-kind.ts';
import type { KindName } from '../resources/resource-record.ts';

interface InstanceTypeFields {
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly gpus: number;
  /** In cents of nobody's money, by the hour. */
  readonly price: number;
  readonly available: boolean;
}

export const INSTANCE_TYPES: KindName<InstanceTypeFields> = { plural: 'instance-types' };

const TYPES: ReadonlyMap<string, Omit<InstanceTypeFields, 'available'>> = new Map([
  ['lab.small', { vcpus: 1, memoryMiB: 2048, gpus: 0, price: 2 }],
  ['lab.medium', { vcpus: 2, memoryMiB: 8192, gpus: 0, price: 5 }],
  ['lab.large', { vcpus: 4, memoryMiB: 16_384, gpus: 0, price: 10 }],
  ['lab.xlarge', { vcpus: 8, memoryMiB: 32_768, gpus: 0, price: 20 }],
  ['lab.gpu', { vcpus: 8, memoryMiB: 65_536, gpus: 1, price: 90 }],
]);

/** What instances can be like. The name is the identifier. */
export const instanceTypes: KindFactory = () =>
  defineKind(INSTANCE_TYPES, {
    singular: 'instance type',
    idPrefix: 'type',
    states: ['active'],
    seed: (transaction) => {
      for (const [name, fields] of TYPES) {
        if (transaction.get(INSTANCE_TYPES, name) !== undefined) continue;
        transaction.add(INSTANCE_TYPES, {
          id: name,
          name,
          state: 'active',
          fields: { ...fields, available: true },
        });
      }
    },
  });
