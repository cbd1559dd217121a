import { z } from 'zod';
import { CloudError, invalidArgument } from '../cloud-error.ts';
import { INSTANCES } from '../instances/instance-fields.ts';
import { defineKind } from '../resources/kind-definition.ts';
import type { KindFactory, Transaction } from '../resources/resource-kind.ts';
import type { KindName, ResourceRecord } from '../resources/resource-record.ts';
import { type Cidr, cidrSchema, isInside, overlap, parseCidr } from './cidr.ts';

interface NetworkFields {
  readonly cidr: string;
}

interface SubnetFields extends NetworkFields {
  readonly networkId: string;
  readonly zone?: string | undefined;
}

interface RouteFields {
  readonly networkId: string;
  readonly destinationCidr: string;
  readonly targetInstanceId: string;
}

const NETWORKS: KindName<NetworkFields> = { plural: 'networks' };
const SUBNETS: KindName<SubnetFields> = { plural: 'subnets' };
const ROUTES: KindName<RouteFields> = { plural: 'routes' };

const DEFAULT_NETWORK = 'default';
const freeName = z.string().max(128).default('');

/** The network that is meant: the one with this identifier, or the one that every cloud has. */
export function chosenNetwork(id: string | undefined, transaction: Transaction): ResourceRecord<NetworkFields> {
  if (id !== undefined) return transaction.demand(NETWORKS, id, 'networkId');
  const usual = transaction.list(NETWORKS).find(({ name }) => name === DEFAULT_NETWORK);
  if (usual !== undefined) return usual;
  throw invalidArgument('networkId', 'networkId: there is no default network, so one has to be named');
}

/** Ranges of addresses. One called `default` is there from the start. */
export const networks: KindFactory = ({ addresses }) =>
  defineKind(NETWORKS, {
    singular: 'network',
    idPrefix: 'net',
    states: ['active'],
    quotas: { networks: 10 },
    input: { cidr: cidrSchema },
    changes: {},
    create: ({ input }) => ({ state: 'active', fields: { cidr: input.cidr } }),
    remove: ({ id }, transaction) => {
      const instances = transaction.list(INSTANCES).filter(({ state }) => state !== 'terminated');
      refuseUsers(id, [...transaction.list(SUBNETS), ...transaction.list(ROUTES), ...instances]);
      return 'gone';
    },
    seed: (transaction) => {
      if (transaction.list(NETWORKS).some(({ name }) => name === DEFAULT_NETWORK)) return;
      const cidr = `10.${addresses.octet}.0.0/16`;
      transaction.add(NETWORKS, { name: DEFAULT_NETWORK, state: 'active', fields: { cidr } });
    },
  });

/** Parts of networks, which do not overlap. */
export const subnets: KindFactory = () =>
  defineKind(SUBNETS, {
    singular: 'subnet',
    idPrefix: 'sub',
    states: ['active'],
    quotas: { subnets: 100 },
    input: { cidr: cidrSchema, networkId: z.string().optional(), zone: z.string().optional() },
    changes: {},
    create: ({ input }, transaction) => {
      const network = chosenNetwork(input.networkId, transaction);
      requireRoom(input.cidr, network, transaction);
      return { state: 'active', fields: { cidr: input.cidr, networkId: network.id, zone: input.zone } };
    },
    remove: () => 'gone',
  });

/** Where packets for a range go: to an instance. Nobody forwards them in the lab; providers only have to keep order. */
export const routes: KindFactory = () =>
  defineKind(ROUTES, {
    singular: 'route',
    idPrefix: 'rt',
    states: ['active'],
    name: { schema: freeName },
    quotas: { routes: 100 },
    input: { destinationCidr: cidrSchema, targetInstanceId: z.string(), networkId: z.string().optional() },
    changes: { targetInstanceId: z.string() },
    create: ({ input }, transaction) => {
      const { destinationCidr, targetInstanceId } = input;
      const { id: networkId } = chosenNetwork(input.networkId, transaction);
      requireLiveTarget(targetInstanceId, transaction);
      const rival = transaction
        .list(ROUTES)
        .find(({ fields }) => fields.networkId === networkId && fields.destinationCidr === destinationCidr);
      if (rival !== undefined)
        throw new CloudError('AlreadyExists', `${destinationCidr} has a route already: ${rival.id}`, {
          target: 'destinationCidr',
          details: { id: rival.id },
        });
      return { state: 'active', fields: { destinationCidr, targetInstanceId, networkId } };
    },
    update: (_, { targetInstanceId }, transaction) => {
      requireLiveTarget(targetInstanceId, transaction);
      return { fields: { targetInstanceId } };
    },
    remove: () => 'gone',
  });

function requireLiveTarget(id: string, transaction: Transaction): void {
  const { state } = transaction.demand(INSTANCES, id, 'targetInstanceId');
  if (state === 'terminated' || state === 'shutting-down')
    throw new CloudError('IncorrectState', `instance ${id} is ${state}`, { target: 'targetInstanceId' });
}

function requireRoom(text: string, network: ResourceRecord<NetworkFields>, transaction: Transaction): void {
  const cidr = cidrOf(text);
  if (!isInside(cidr, cidrOf(network.fields.cidr)))
    throw invalidArgument('cidr', `cidr: ${text} is not inside ${network.fields.cidr} of network ${network.id}`);
  const rival = transaction
    .list(SUBNETS)
    .find(({ fields }) => fields.networkId === network.id && overlap(cidrOf(fields.cidr), cidr));
  if (rival === undefined) return;
  throw new CloudError('InUse', `${text} overlaps ${rival.fields.cidr} of subnet ${rival.id}`, { target: 'cidr' });
}

function refuseUsers(id: string, objects: readonly ResourceRecord<{ readonly networkId: string }>[]): void {
  const user = objects.find(({ fields }) => fields.networkId === id);
  if (user === undefined) return;
  throw new CloudError('InUse', `network ${id} is used by ${user.id}`, { details: { id: user.id } });
}

/** The schema has let nothing else in. */
const cidrOf = (text: string): Cidr => parseCidr(text) ?? { first: 0, bits: 0 };
