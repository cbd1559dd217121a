import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { AddressPlan } from '../address/address-plan.ts';
import type { LabClock } from '../clock/lab-clock.ts';
import { CloudZones } from '../cloud/dns/cloud-zones.ts';
import { INSTANCES, type InstanceFields } from '../cloud/instances/instance-fields.ts';
import { loadBalancers } from '../cloud/load-balancers/load-balancers.ts';
import { instanceFacts } from '../cloud/metadata/instance-facts.ts';
import type { MetadataCaller } from '../cloud/metadata/metadata-caller.ts';
import { type Metadata, startMetadata } from '../cloud/metadata/start-metadata.ts';
import { type LabCloud, startCloud } from '../cloud/start-cloud.ts';
import type { InstanceNodes } from '../machine/instance-nodes.ts';
import type { RunningNode } from '../node/start-node.ts';
import type { CloudSetup } from '../setup/lab-options.ts';
import { hasEnded } from '../workloads/pods/pod-state.ts';
import { instanceCredentials } from './instance-credentials.ts';

export interface CloudServicesOptions {
  readonly setup: CloudSetup;
  readonly plan: AddressPlan;
  readonly directory: string;
  readonly boot: InstanceNodes;
  /** Nodes of all clusters that are on. */
  readonly nodes: () => readonly RunningNode[];
  readonly seed?: number;
  readonly clock: LabClock;
  readonly real: Clock;
  readonly log: Log;
}

/** The cloud of a lab with everything that belongs to it. Disposing it cuts everybody off. */
export interface CloudServices extends AsyncDisposable {
  readonly cloud: LabCloud;
  readonly metadata: Metadata;
  readonly zones: CloudZones;
  /** Those that are there, on or off. */
  readonly instances: () => readonly InstanceFields[];
}

const CLOUD_PORT = 8080;
const METADATA_PORT = 80;
const ALL_ALIKE =
  'the metadata service knows nobody here: it tells instances apart by their addresses (C28), and in network mode ' +
  'ports everybody has 127.0.0.1; start the lab with network loopback or anyip, on Linux';

/** Starts the cloud (§6): its API, its load balancers, and the service that tells instances who they are. */
export async function startCloudServices(options: CloudServicesOptions): Promise<CloudServices> {
  const { setup, plan, directory, boot, nodes, seed, clock, real, log } = options;
  const hold = (reason: string) => clock.hold(reason);
  await using parts = new AsyncDisposableStack();
  const zones = new CloudZones();
  const cloud = parts.use(
    await startCloud({
      ...setup,
      listen: async (server) => {
        const at = { host: plan.cloud.api, port: CLOUD_PORT };
        await plan.listen(server, at);
        return plan.target(at);
      },
      directory,
      clock,
      real,
      log,
      boot,
      addresses: plan,
      kinds: [loadBalancers({ network: plan, hold }), ...zones.kinds],
      hold,
      ...(seed !== undefined && { seed }),
    }),
  );
  const metadata = parts.use(
    await startMetadata({
      listen: (server) => plan.listen(server, { host: plan.metadata.api, port: METADATA_PORT }),
      addresses: [plan.metadata.api],
      whoIs: (address) => callerAt(plan.toApi(address), cloud, nodes()),
      ...(plan.mode === 'ports' && { anonymity: ALL_ALIKE }),
      instance: (id) => {
        const record = cloud.state.get(INSTANCES, id);
        return record && instanceFacts(record);
      },
      credentials: instanceCredentials(cloud),
      clock,
      real,
      hold,
      log,
    }),
  );
  const running = parts.move();
  const instances = () =>
    cloud.state
      .list(INSTANCES)
      .filter(({ state }) => state !== 'terminated')
      .map(({ fields }) => fields);
  return { cloud, metadata, zones, instances, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Whose address it is: an instance's, with its node if there is one, or a pod's on such a node (C28, C29). */
function callerAt(
  address: string,
  { state }: LabCloud,
  nodes: readonly RunningNode[],
): MetadataCaller | undefined {
  const instanceAt = (private_: string): string | undefined =>
    state
      .list(INSTANCES)
      .find(({ fields, state: now }) => fields.privateAddress === private_ && now !== 'terminated')?.id;
  const own = instanceAt(address);
  if (own !== undefined) {
    const node = nodes.find((one) => one.address.api === address)?.name;
    return { instanceId: own, ...(node !== undefined && { node }) };
  }
  for (const node of nodes) {
    // A pod that has ended keeps the address in its status when another one has it.
    const pod = node.pods.pods.find((one) => one.status?.podIP === address && !hasEnded(one));
    const instanceId = pod && instanceAt(node.address.api);
    if (pod === undefined || instanceId === undefined) continue;
    const { namespace = 'default', name } = pod.metadata;
    return { instanceId, node: node.name, pod: { namespace, name } };
  }
  return undefined;
}
