import {
  type Call,
  type InstanceObservation,
  type InstanceRef,
  type Instances,
  type NodeAddress,
  type PresentInstance,
  ProviderError,
} from 'slipway/sdk';
import type { AcmeCloudClient, Instance } from './client.ts';
import { instanceIDOf, providerIDOf } from './provider-id.ts';

/** The machines behind the nodes of a cluster. */
export const instances: Instances<Call<AcmeCloudClient>> = {
  declare: () => ({}),

  async describe(ref, { client, signal }) {
    if (ref.providerID === undefined)
      return byName(ref, await client.instances(client.clusterTags, signal), client);
    const id = instanceIDOf(ref.providerID);
    if (id === undefined) return { state: 'unmanaged' };
    const found = await client.instance(id, signal);
    return found === undefined
      ? { state: 'absent', evidence: `the cloud has no instance ${id}` }
      : seen(found, client);
  },

  async describeMany(refs, call) {
    const { client, signal } = call;
    const all = await client.instances(client.clusterTags, signal);
    const byId = new Map(all.map((instance) => [instance.id, instance]));
    const answers = new Map<string, InstanceObservation>();
    for (const ref of refs) {
      const id = instanceIDOf(ref.providerID ?? '');
      const listed = id === undefined ? undefined : byId.get(id);
      // A list may leave out what is there; only a question for the one machine is evidence that it is gone.
      const answer = listed === undefined ? await single(ref, { all, call }) : seen(listed, client);
      if (answer !== undefined) answers.set(ref.nodeName, answer);
    }
    return answers;
  },
};

/** Undefined when it is unknown. */
async function single(
  ref: InstanceRef,
  { all, call }: { readonly all: readonly Instance[]; readonly call: Call<AcmeCloudClient> },
): Promise<InstanceObservation | undefined> {
  try {
    return ref.providerID === undefined ? byName(ref, all, call.client) : await instances.describe(ref, call);
  } catch (error) {
    call.log.warn({ err: error, node: ref.nodeName }, 'Instance is unknown');
    return undefined;
  }
}

/** Throws when there is none: a machine that has just been made may not be listed yet. */
function byName(
  { nodeName }: InstanceRef,
  all: readonly Instance[],
  client: AcmeCloudClient,
): InstanceObservation {
  const found = all.find(
    ({ name, hostname, state }) => isAlive(state) && (name === nodeName || hostname === nodeName),
  );
  if (found === undefined) throw new ProviderError('not-found', `the cloud has no instance called ${nodeName}`);
  return seen(found, client);
}

const isAlive = (state: string): boolean => state !== 'terminated';
/** Every other state is on its way somewhere. */
const POWER: Readonly<Record<string, PresentInstance['power']>> = {
  running: 'on',
  stopped: 'off',
};

function seen(instance: Instance, { region }: AcmeCloudClient): InstanceObservation {
  const { id, zone, type, state } = instance;
  if (!isAlive(state)) return { state: 'absent', evidence: `instance ${id} is ${state}` };
  return {
    state: 'present',
    power: POWER[state] ?? 'unknown',
    providerID: providerIDOf(instance),
    instanceType: type,
    addresses: addressesOf(instance),
    zone,
    region,
  };
}

const addressesOf = ({ hostname, privateAddress, publicAddress }: Instance): readonly NodeAddress[] => [
  { type: 'InternalIP', address: privateAddress },
  { type: 'ExternalIP', address: publicAddress },
  { type: 'InternalDNS', address: hostname },
];
