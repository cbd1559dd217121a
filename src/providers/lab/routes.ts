import type { Call, Tags } from '../../sdk/capabilities/call.ts';
import type { CloudRoute, RouteCreation, Routes } from '../../sdk/capabilities/routes.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { instanceIdOf } from './instance-choice.ts';
import { ofCluster } from './instances.ts';
import type { LabClient } from './lab-client.ts';
import { isCode, isGone } from './lab-errors.ts';
import { instanceSchema, type LabInstance, type LabRoute, routeSchema } from './lab-objects.ts';

type LabCall = Call<LabClient>;

const KIND = 'routes';
const LONGEST_NAME = 128;

/** Routes of the lab cloud: a destination of a network leads to one machine. */
export const routes: Routes<LabCall> = {
  declare: () => ({ tracksNodeAddresses: false, maxConcurrent: 10 }),

  async list({ tags }, call) {
    const { client, signal } = call;
    const [known, machines] = await Promise.all([
      client.list(KIND, { tags }, routeSchema, signal),
      ofCluster(call),
    ]);
    const byId = new Map(machines.map((machine) => [machine.id, machine]));
    return await Promise.all(known.map((route) => shown(route, byId, call)));
  },

  async create(route, creation, call) {
    const { client, signal } = call;
    const target = await targetOf(route, creation, call);
    const body = {
      name: `${creation.nameHint} ${route.destinationCIDR}`.slice(-LONGEST_NAME),
      destinationCidr: route.destinationCIDR,
      targetInstanceId: target.id,
      networkId: target.networkId,
      tags: creation.tags,
    };
    try {
      await client.create(KIND, { body }, routeSchema, signal);
    } catch (error) {
      if (!isCode(error, 'AlreadyExists') || error.otherId === undefined) throw error;
      await requireSame(error.otherId, target, creation.tags, call);
    }
  },

  async remove({ name, destinationCIDR }, { tags }, call) {
    const { client, signal } = call;
    if (name !== undefined) return await removeOurs(name, tags, call);
    const known = await client.list(KIND, { tags }, routeSchema, signal);
    for (const { id, destinationCidr } of known)
      if (destinationCidr === destinationCIDR) await removeOurs(id, tags, call);
  },
};

/** The name of a route is its identifier: that is how it is found again, exactly. */
async function shown(
  { id, destinationCidr, targetInstanceId }: LabRoute,
  machines: ReadonlyMap<string, LabInstance>,
  call: LabCall,
): Promise<CloudRoute> {
  const machine = machines.get(targetInstanceId) ?? (await machineOf(targetInstanceId, call));
  const isDead = machine === undefined || machine.state === 'terminated';
  return {
    name: id,
    targetNode: machine?.name ?? '',
    destinationCIDR: destinationCidr,
    ...(isDead && { blackhole: true }),
  };
}

async function machineOf(id: string, { client, signal }: LabCall): Promise<LabInstance | undefined> {
  try {
    return await client.get('instances', id, instanceSchema, signal);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function targetOf(route: CloudRoute, { providerID }: RouteCreation, call: LabCall): Promise<LabInstance> {
  const id = providerID === undefined ? undefined : instanceIdOf(providerID);
  if (id !== undefined) return await call.client.get('instances', id, instanceSchema, call.signal);
  const [target, ...more] = (await ofCluster(call, route.targetNode)).filter(
    ({ state }) => state !== 'terminated',
  );
  if (target !== undefined && more.length === 0) return target;
  const found = target === undefined ? 'no instance is' : 'several instances are';
  throw new ProviderError('not-found', `${found} called ${route.targetNode}, and its Node has no provider ID`);
}

/** What is there already is what was asked for, perhaps by an earlier call whose answer was lost. */
async function requireSame(
  id: string,
  target: LabInstance,
  tags: Tags,
  { client, signal }: LabCall,
): Promise<void> {
  const there = await client.truth(KIND, id, routeSchema, signal);
  if (there !== undefined && carries(there, tags) && there.targetInstanceId === target.id) return;
  const problem = there === undefined ? 'was just removed' : `leads to ${there.targetInstanceId}`;
  throw new ProviderError('conflict', `the destination of the new route has the route ${id}, which ${problem}`);
}

async function removeOurs(id: string, tags: Tags, { client, signal }: LabCall): Promise<void> {
  const there = await client.truth(KIND, id, routeSchema, signal);
  if (there !== undefined && carries(there, tags)) await client.delete(KIND, id, signal);
}

const carries = ({ tags }: LabRoute, wanted: Tags): boolean =>
  Object.entries(wanted).every(([key, value]) => tags[key] === value);
