import { join } from 'node:path';
import { userError } from '../../base/errors.ts';
import type { AddressPlan, Endpoint, LabAddress } from '../address/address-plan.ts';
import { BASE_DOMAIN } from '../address/names.ts';
import { isWithin } from '../cloud/dns/domain-name.ts';
import type { LabCloud } from '../cloud/start-cloud.ts';
import type { RunningCluster } from '../cluster/start-cluster.ts';
import type { BareMachines, NodeSurroundings } from '../machine/instance-nodes.ts';
import type { RunningNode } from '../node/start-node.ts';
import type { LabOptions } from '../setup/lab-options.ts';
import { startNames } from './lab-names.ts';
import type { CloudServices } from './start-cloud-services.ts';

export interface OutsideOptions {
  readonly options: Pick<LabOptions, 'cloud' | 'seed'>;
  readonly surroundings: NodeSurroundings;
  /** Of the lab. */
  readonly directory: string;
  /** Those that run now: some come and go. */
  readonly clusters: readonly RunningCluster[];
  /** 1–31: the second part of the addresses of instances. */
  readonly block: number;
  /** Makes nodes of instances whose user data names no cluster. */
  readonly bareMachines?: BareMachines;
}

/** What is around the clusters of a lab: names, and a cloud if there is one. */
export interface Outside extends AsyncDisposable {
  /** Throws when the lab has none. */
  readonly cloud: LabCloud;
  readonly dns: Endpoint;
  /** Zones that the name server knows, besides those of Services. */
  readonly zoneNames: () => readonly string[];
}

export async function startOutside(given: OutsideOptions): Promise<Outside> {
  const { options, surroundings, clusters } = given;
  const { plan, real, log } = surroundings;
  await using parts = new AsyncDisposableStack();
  const services = options.cloud ? await startCloud(given, parts) : undefined;
  const cloudZones = () => services?.zones.list() ?? [];
  const shown = shownIn(plan);
  const hosts = () =>
    (services?.instances() ?? []).map(({ hostname, privateAddress: api, publicAddress: wire }) => ({
      hostname,
      address: shown({ api, wire }),
    }));
  const named = () =>
    clusters.map((cluster) => ({
      domain: cluster.domain,
      api: apiAddress(plan, cluster.api),
      cache: cluster.workloads.cache,
      nodes: () => [...cluster.nodes.values()].map(({ address }) => shown(address)),
      has: (address: string) => hasAddress(cluster, plan.toApi(address)),
    }));
  const dns = parts.use(await startNames({ plan, clusters: named, cloudZones, hosts, real, log }));
  const [endpoint] = dns.endpoints;
  if (endpoint === undefined) throw new Error('the name server listens nowhere');
  const running = parts.move();
  return {
    get cloud() {
      if (services === undefined)
        throw userError('NoCloud', 'the lab was started without a cloud: start it with { cloud: true }');
      return services.cloud;
    },
    dns: endpoint,
    zoneNames: () => {
      const others = clusters.map(({ domain }) => domain).filter((domain) => !isWithin(domain, BASE_DOMAIN));
      return [BASE_DOMAIN, ...cloudZones().map(({ name }) => name), ...others];
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Instances are nodes of whichever cluster they join. Its modules are loaded for labs that have one. */
async function startCloud(
  { options: { cloud, seed }, surroundings, directory, clusters, block, bareMachines }: OutsideOptions,
  parts: AsyncDisposableStack,
): Promise<CloudServices> {
  const { InstanceNodes } = await import('../machine/instance-nodes.ts');
  const { startCloudServices } = await import('./start-cloud-services.ts');
  const others = new Set<RunningNode>();
  const boot = parts.use(
    new InstanceNodes({
      surroundings,
      block,
      ...(bareMachines !== undefined && { bareMachines }),
      directory,
      join: (node, url) => {
        const cluster = clusters.find(({ api }) => hasPort(surroundings, api.url, url));
        if (cluster !== undefined) return cluster.join(node);
        others.add(node);
        return { [Symbol.dispose]: () => void others.delete(node) };
      },
    }),
  );
  const services = await startCloudServices({
    ...surroundings,
    setup: typeof cloud === 'object' ? cloud : {},
    directory: join(directory),
    boot,
    nodes: () => [...clusters.flatMap(({ nodes }) => [...nodes.values()]), ...others],
    ...(seed !== undefined && { seed }),
  });
  return parts.use(services);
}

/**
 * What the name server answers. In mode `ports` there is only 127.0.0.1, which programs of the lab take for themselves:
 * they find places by the address that the API shows (X10).
 */
const shownIn =
  ({ mode }: Pick<AddressPlan, 'mode'>) =>
  ({ api, wire }: LabAddress): string =>
    mode === 'ports' ? api : wire;

/** Of an API server of the lab, as it is shown; one that somebody else runs is where its URL says. */
const apiAddress = (plan: AddressPlan, { address, url }: RunningCluster['api']): string =>
  address === undefined ? new URL(url).hostname : shownIn(plan)(address);

/** Whether two URLs lead to the same port of this machine. */
function hasPort({ plan }: NodeSurroundings, left: string, right: string): boolean {
  const placeOf = (text: string) => {
    const { hostname, port } = new URL(text);
    const { host, port: found } = plan.target({ host: hostname, port: Number(port || 443) });
    return `${host}:${found}`;
  };
  return placeOf(left) === placeOf(right);
}

const hasAddress = ({ nodes }: RunningCluster, address: string): boolean =>
  [...nodes.values()].some(
    (node) => node.address.api === address || node.pods.pods.some(({ status }) => status?.podIP === address),
  );
