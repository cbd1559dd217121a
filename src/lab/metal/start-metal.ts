import { join } from 'node:path';
import { assistedDefinitions } from '../../api/assisted/definitions.schema.ts';
import { clusterApiDefinitions } from '../../api/cluster-api/definitions.schema.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { hiveDefinitions } from '../../api/hive/definitions.schema.ts';
import { labInfrastructureDefinitions } from '../../api/lab-infrastructure/definitions.schema.ts';
import { metal3Definitions } from '../../api/metal3/definitions.schema.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Log } from '../../base/log.ts';
import { until } from '../../kube/apply/until.ts';
import { createClient } from '../../kube/client/create-client.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { isTrue } from '../../object/conditions.ts';
import type { LabClock } from '../clock/lab-clock.ts';
import type { LabCloud } from '../cloud/start-cloud.ts';
import { type StandIn, startWorkloads } from '../workloads/start-workloads.ts';
import { AssistedFaults } from './assisted/assisted-faults.ts';
import { assistedControllers } from './assisted/controllers.ts';
import { assistedRest } from './assisted/rest.ts';
import { startRestServer } from './assisted/rest-server.ts';
import { cloudMachineControllers } from './cloud-machine/controllers.ts';
import { HttpInstanceCloud } from './cloud-machine/http-instance-cloud.ts';
import { coreControllers } from './core/controllers.ts';
import { CloudHosts } from './host/cloud-hosts.ts';
import type { HostPower } from './host/host-power.ts';
import { Hosts, type PowerEvent, type PoweredHost } from './host/hosts.ts';
import { machineHttp } from './host/machine-http.ts';
import { scriptedIdentity } from './host/node-identity.ts';
import { metal3Controllers } from './metal3/controllers.ts';
import { USUAL_PACE } from './metal3/host-states.ts';
import { LabRegistry } from './registry/lab-registry.ts';
import { startRegistryServer } from './registry/registry-server.ts';
import type { WorkloadClusters } from './workload/workload-clusters.ts';

export interface MetalOptions {
  /** To the API server that Clusters and hosts are written to, as a user. */
  readonly hub: (user: string, groups: readonly string[]) => Transport;
  /** Where clusters come to be: those of a lab. */
  readonly workloads: WorkloadClusters;
  /** Machines are instances of it, too: a cloud controller manager finds them there. None unless given. */
  readonly cloud?: LabCloud;
  /** What instances are tagged with. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly clock: LabClock;
  readonly log: Log;
  /** For what scripts of hosts write while they run. */
  readonly directory: string;
  /** Multiplies how long machines and installations take: 1 is minutes, as outside. */
  readonly pace?: number;
}

/** Bare metal and those who install clusters on it, at work for one hub. */
export interface Metal extends AsyncDisposable {
  /** `host:port/repository` with the releases that can be installed. */
  readonly releaseRepository: string;
  readonly assistedUrl: string;
  /** Machines that are on. */
  readonly powered: readonly PoweredHost[];
  /** What was switched on and off, in order. */
  readonly record: readonly PowerEvent[];
  readonly faults: AssistedFaults;
}

const LOOPBACK = '127.0.0.1';
const ADMIN = { user: 'admin', groups: ['system:masters'] };
const REPOSITORY = 'openshift-release-dev/ocp-release';
const ESTABLISHED_MS = 30_000;
const ZONES: readonly string[] = ['a', 'b'];

/** Starts assisted-service, a registry, Cluster API and Metal3 for a hub, which gets their kinds (agent §8). */
export async function startMetal(options: MetalOptions): Promise<Metal> {
  const { hub, workloads, clock, log, directory, pace = 1 } = options;
  await using parts = new AsyncDisposableStack();
  const admin = createClient({
    transport: hub(ADMIN.user, ADMIN.groups),
    fieldManager: 'slipway/lab',
    clock,
    log,
  });
  await installDefinitions(admin, clock);
  const registry = new LabRegistry({ clock });
  parts.use(workloads.useReleases(async (image) => registry.versionOfImage(image)?.version));
  const listen = { host: LOOPBACK, port: 0 };
  const registryServer = parts.use(await startRegistryServer({ registry, listen, log }));
  const faults = new AssistedFaults();
  const secret = clock.uuid();
  const front: { rest?: ReturnType<typeof assistedRest> } = {};
  const server = parts.use(
    await startRestServer({
      rest: (request) => {
        if (front.rest === undefined) throw new Error('assisted-service has not started yet');
        return front.rest(request);
      },
      listen,
      log,
    }),
  );
  const address = { baseUrl: server.url, secret };
  front.rest = assistedRest({ client: admin, address, faults });
  const identify = scriptedIdentity({
    directory: join(directory, 'scripts'),
    hold: (reason) => clock.hold(reason),
  });
  const hosts = parts.use(new Hosts({ http: machineHttp, clock, clusters: workloads, identify, pace, log }));
  const standIns = standInsOf(options, { hosts, address, faults, registry });
  parts.use(await startWorkloads({ standIns, admin, transportAs: hub, clock, log }));
  const all = parts.move();
  return {
    releaseRepository: `${registryServer.host}/${REPOSITORY}`,
    assistedUrl: server.url,
    get powered() {
      return hosts.powered;
    },
    get record() {
      return hosts.record;
    },
    faults,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

interface StandInParts {
  readonly hosts: Hosts;
  readonly address: { readonly baseUrl: string; readonly secret: string };
  readonly faults: AssistedFaults;
  readonly registry: LabRegistry;
}

/** Each acts as the account that the real one is installed with, and has the rights that its controllers say they need. */
function standInsOf(
  options: MetalOptions,
  { hosts, address, faults, registry }: StandInParts,
): readonly StandIn[] {
  const { workloads, cloud, tags, clock, pace = 1 } = options;
  const connectWorkload = (kubeconfig: string) => workloads.connect(kubeconfig);
  const versionOfImage = async (image: string) => registry.versionOfImage(image);
  const instances = cloud === undefined ? undefined : instancesOf(cloud, tags);
  const power: HostPower =
    instances === undefined ? hosts : new CloudHosts({ hosts, cloud: instances, clock, zones: ZONES });
  const account = (namespace: string, name: string, controllers: StandIn['controllers']): StandIn => ({
    name,
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    controllers,
  });
  const paced = Object.fromEntries(Object.entries(USUAL_PACE).map(([state, ms]) => [state, ms * pace]));
  return [
    account('capi-system', 'capi-manager', () => coreControllers({ connectWorkload })),
    account('capm3-system', 'capm3-manager', () =>
      metal3Controllers({ hosts: power, connectWorkload, pace: paced }),
    ),
    account('assisted-installer', 'assisted-service', () =>
      assistedControllers({ address, clusters: workloads, hosts, versionOfImage, pace, faults }),
    ),
    ...(instances === undefined
      ? []
      : [account('lab-system', 'lab-infrastructure', () => cloudMachineControllers({ cloud: instances, hosts }))]),
  ];
}

function instancesOf(cloud: LabCloud, tags: MetalOptions['tags']): HttpInstanceCloud {
  const [user] = cloud.credentials();
  if (user === undefined) throw new Error('nobody may use the cloud of the lab');
  return new HttpInstanceCloud({
    url: cloud.url,
    token: () => cloud.issueToken(user.clientId).token,
    zone: ZONES[0] ?? '',
    ...(tags !== undefined && { tags }),
  });
}

/** Whoever installs them again changes nothing. */
async function installDefinitions(admin: KubeClient, clock: LabClock): Promise<void> {
  const definitions: readonly KubeObject[] = [
    ...clusterApiDefinitions(),
    ...assistedDefinitions(),
    ...hiveDefinitions(),
    ...metal3Definitions(),
    ...labInfrastructureDefinitions(),
  ];
  // What a definition says of its versions is checked by the server.
  await Promise.all(
    definitions.map((one) => admin.apply(CustomResourceDefinition, one as never, { force: true })),
  );
  const wait = { clock, timeoutMs: ESTABLISHED_MS };
  for (const { metadata } of definitions)
    await until(
      { client: admin, kind: CustomResourceDefinition, key: metadata },
      (crd) => isTrue(crd, 'Established'),
      wait,
    );
}
