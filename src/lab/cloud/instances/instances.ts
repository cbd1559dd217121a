import { z } from 'zod';
import { dropInstanceClient } from '../access/credentials.ts';
import { CloudError } from '../cloud-error.ts';
import { IMAGES } from '../images/images.ts';
import { AddressReserve } from '../networks/address-reserve.ts';
import { freeAddresses } from '../networks/addresses.ts';
import { chosenNetwork } from '../networks/networks.ts';
import { defineAction, defineKind } from '../resources/kind-definition.ts';
import type { CloudServices, KindFactory, Transaction, Transition } from '../resources/resource-kind.ts';
import type { ResourceRecord } from '../resources/resource-record.ts';
import { letGo } from '../volumes/attachments.ts';
import { ConsoleLog } from './console-log.ts';
import { INSTANCES, type InstanceFields } from './instance-fields.ts';
import { INSTANCE_TYPES } from './instance-types.ts';
import { requireZone, unknownChoice } from './placement.ts';
import { isPowered, Power } from './power.ts';

type Instance = ResourceRecord<InstanceFields>;

const VISIBLE_MS = 3_600_000;
const MOST_USER_DATA = 64 * 1024;
/** Nodes of a cloud without a boot have addresses of the last cluster, which nobody else uses then. */
const [SPARE_CLUSTER, MOST_NODES] = [31, 253];

const hostName = z
  .string()
  .regex(
    /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    'must be a name such as worker-1, since it becomes the host name',
  );

const input = {
  type: z.string(),
  zone: z.string(),
  imageId: z.string().optional(),
  userData: z
    .base64({ error: 'must be base64' })
    .max(MOST_USER_DATA, `has at most ${MOST_USER_DATA} characters`)
    .default(''),
  networkId: z.string().optional(),
  sshKeys: z.array(z.string().max(8192)).max(20).optional(),
  placement: z.strictObject({ group: z.string().max(128).optional() }).optional(),
};

export interface InstanceParts {
  /** The disk of an instance is there, and nothing runs on it yet. */
  readonly onPowered: (instanceId: string) => Promise<void>;
}

/** Machines that come and go (C13, C14). */
export const instances =
  ({ onPowered }: InstanceParts): KindFactory =>
  (services) => {
    const { boot, clock, log, real } = services;
    const consoles = new ConsoleLog(clock);
    const power = new Power({ boot, consoles, log, real, onPowered });
    const addresses = new AddressReserve(() => takeAddress(services));
    return defineKind(INSTANCES, {
      singular: 'instance',
      idPrefix: 'i',
      states: STATES,
      name: { schema: hostName },
      quotas: { instances: 20, vcpus: 64 },
      usage: ({ state, fields }) => (state === 'terminated' ? {} : { instances: 1, vcpus: fields.vcpus }),
      deletion: { during: ['shutting-down'], rest: { state: 'terminated', visibleMs: VISIBLE_MS } },
      input,
      changes: {},
      create: (wish, transaction) => {
        const { userData, ...given } = wish.input;
        const chosen = choices(given, transaction);
        const inUse = new Set(liveInstances(transaction).map(({ fields }) => fields.privateAddress));
        const address = addresses.take(({ privateAddress }) => inUse.has(privateAddress));
        const { id, name } = wish;
        return {
          state: 'pending',
          fields: { ...given, ...chosen, ...address, ...namesOf(id, name, given.zone) },
          hidden: { userData },
        };
      },
      remove: () => ({ state: 'shutting-down' }),
      actions: {
        start: defineAction({}, start),
        stop: defineAction({}, (instance) => switched(instance, 'stopping', ['stopped', 'stopping'])),
        reboot: defineAction({}, (instance) => switched(instance, 'rebooting', ['rebooting'])),
      },
      transitions: transitions(power),
      view: (instance) => ({ powerState: isPowered(instance) ? 'on' : 'off' }),
      subresources: {
        console: {
          methods: ['GET'],
          serve: async ({ id }) => ({ status: 200, body: { lines: [...consoles.lines(id)] } }),
        },
      },
      changed: (now, before) => {
        if (now !== undefined) {
          addresses.settle(({ privateAddress }) => privateAddress === now.fields.privateAddress);
          if (now.state !== 'terminated') power.want(now);
          else if (before !== undefined) boot?.release(now.id, now.fields.privateAddress);
          return;
        }
        if (before === undefined) return;
        power.forget(before.id);
        consoles.forget(before.id);
      },
      dispose: async () => power.stop(),
    });
  };

function transitions(power: Power): Readonly<Record<string, Transition<InstanceFields>>> {
  const afterPower = async ({ id }: Instance) => {
    await power.settled(id);
    return undefined;
  };
  return {
    pending: { durationMs: 3000, finish: () => ({ state: 'running' }) },
    starting: { durationMs: 2000, finish: () => ({ state: 'running' }) },
    rebooting: { durationMs: 2000, work: afterPower, finish: () => ({ state: 'running' }) },
    stopping: { durationMs: 2000, work: afterPower, finish: () => ({ state: 'stopped' }) },
    'shutting-down': {
      durationMs: 2000,
      work: afterPower,
      finish: ({ id }, transaction) => {
        letGo(id, transaction);
        freeAddresses(id, transaction);
        dropInstanceClient(id, transaction);
        return { state: 'terminated' };
      },
    },
  };
}

const STATES = [
  'pending',
  'running',
  'stopping',
  'stopped',
  'starting',
  'rebooting',
  'shutting-down',
  'terminated',
  'error',
];

interface NodeAddress {
  readonly privateAddress: string;
  readonly publicAddress: string;
}

function takeAddress({ boot, addresses, state }: CloudServices): NodeAddress {
  if (boot !== undefined) return boot.takeAddress();
  const inUse = new Set(state.list(INSTANCES).map(({ fields }) => fields.privateAddress));
  for (let node = 1; node <= MOST_NODES; node++) {
    const { api, wire } = addresses.node(SPARE_CLUSTER, node);
    if (!inUse.has(api)) return { privateAddress: api, publicAddress: wire };
  }
  throw new CloudError('InsufficientCapacity', `all ${MOST_NODES} addresses of instances are in use`);
}

const liveInstances = (transaction: Transaction): readonly Instance[] =>
  transaction.list(INSTANCES).filter(({ state }) => state !== 'terminated');

/** What the wish names is there, and can be used. */
function choices(
  given: {
    readonly zone: string;
    readonly type: string;
    readonly imageId?: string | undefined;
    readonly networkId?: string | undefined;
  },
  transaction: Transaction,
): Pick<InstanceFields, 'vcpus' | 'memoryMiB' | 'gpus' | 'networkId'> {
  requireZone(given.zone, transaction);
  const type = transaction.get(INSTANCE_TYPES, given.type);
  if (type === undefined)
    throw unknownChoice(
      'type',
      given.type,
      transaction.list(INSTANCE_TYPES).map(({ id }) => id),
    );
  if (given.imageId !== undefined) requireImage(given.imageId, transaction);
  const { vcpus, memoryMiB, gpus } = type.fields;
  return { vcpus, memoryMiB, gpus, networkId: chosenNetwork(given.networkId, transaction).id };
}

function requireImage(id: string, transaction: Transaction): void {
  const { state } = transaction.demand(IMAGES, id, 'imageId');
  if (state === 'available') return;
  throw new CloudError('IncorrectState', `image ${id} is ${state}`, {
    target: 'imageId',
    isRetryable: state !== 'error',
  });
}

/** What an instance is called, by others and on its wire. */
const namesOf = (id: string, name: string, zone: string) => ({
  hostname: `${name}.${zone}.lab.internal`,
  providerID: `lab://${zone}/${id}`,
  // 02: nobody's card, but ours.
  mac: `02:${(id.slice(2).match(/../g) ?? []).slice(0, 5).join(':')}`,
});

function start(instance: Instance, _: object, transaction: Transaction) {
  if (['running', 'starting', 'rebooting', 'pending'].includes(instance.state)) return undefined;
  if (instance.state !== 'stopped') throw notNow(instance, 'starting');
  requireZone(instance.fields.zone, transaction);
  return { state: 'starting' };
}

function switched(instance: Instance, state: string, already: readonly string[]) {
  if (already.includes(instance.state)) return undefined;
  if (instance.state !== 'running') throw notNow(instance, state);
  return { state };
}

const notNow = ({ id, state, transition }: Instance, wanted: string): CloudError =>
  new CloudError('IncorrectState', `instance ${id} is ${state}; ${wanted} is not possible now`, {
    isRetryable: transition !== undefined,
  });
