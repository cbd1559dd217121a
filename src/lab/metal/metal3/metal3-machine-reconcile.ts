import { Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import {
  HOST_ANNOTATION,
  METAL3_MACHINE_FINALIZER,
  Metal3Machine,
} from '../../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import { keyOf } from '../../../api/object.ts';
import { SlipwayError } from '../../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { isPaused, tellPaused } from '../core/cluster-scope.ts';
import type { ConnectWorkload } from '../core/workload-nodes.ts';
import { writeChanges } from '../core/write-changes.ts';
import { stateOf } from './host-states.ts';
import { MachineMetaData } from './machine-meta-data.ts';
import { type MachineStep, machineStatus } from './metal3-machine-conditions.ts';
import {
  addressesOf,
  chosenHost,
  claimedHost,
  emptiedHost,
  isConsumedBy,
  isEmptied,
  provisionedHost,
  releasedHost,
} from './metal3-machine-desired.ts';
import { NodeIdentity } from './node-identity.ts';
import { provisionedFlags } from './provisioned-flags.ts';

/** How often Metal3 looks for a Node, or for a host, that nobody tells of. */
const AGAIN_MS = 30_000;
const SOON_MS = 10_000;

interface Scope {
  readonly metal3Machine: Metal3Machine;
  readonly machine: Machine;
  readonly cluster: Cluster;
}

/** Finds a host for a machine, has it provisioned, and tells its Node who it is (S12, S14, S15). */
export class Metal3MachineReconciler implements Reconciler<Metal3Machine> {
  readonly #identity: NodeIdentity;
  readonly #metaData = new MachineMetaData();

  constructor(connectWorkload: ConnectWorkload) {
    this.#identity = new NodeIdentity(connectWorkload);
  }

  async reconcile(stored: Metal3Machine, context: ReconcileContext): Promise<Result> {
    const owners = await ownersOf(stored, context);
    if (owners !== undefined && isPaused(owners.cluster, stored))
      return tellPaused(Metal3Machine, stored, context);
    if (stored.metadata.deletionTimestamp !== undefined) return this.#delete(stored, context);
    const metal3Machine = await context.client.addFinalizer(Metal3Machine, stored, METAL3_MACHINE_FINALIZER);
    const waiting = owners === undefined ? NO_OWNER : waitOf(owners);
    if (waiting !== undefined) return tell(metal3Machine, waiting, context);
    // What `waitOf` waits for is there, so its owners are.
    return owners === undefined ? DONE : this.#provision({ metal3Machine, ...owners }, context);
  }

  async #provision(given: Scope, context: ReconcileContext): Promise<Result> {
    const host = await associate(given, context);
    if (host === undefined) {
      const { namespace = '' } = given.metal3Machine.metadata;
      const message = `no BareMetalHost of namespace ${namespace} is available; add one, or free one`;
      const step = { step: 'waiting', reason: 'AssociateBareMetalHostFailed', message } as const;
      await tell(given.metal3Machine, step, context);
      return after(AGAIN_MS);
    }
    const scope = { ...given, metal3Machine: await annotate(given, host, context) };
    const prepared = await this.#metaData.ensure({ ...scope, host }, context);
    if (prepared === undefined) {
      const message = 'the Metal3DataTemplate that spec.dataTemplate names is not there; create it';
      await tell(scope.metal3Machine, { step: 'waiting', reason: 'WaitingForMetal3Data', message }, context);
      return after(SOON_MS);
    }
    return this.#install({ ...scope, metal3Machine: prepared }, host, context);
  }

  async #install(scope: Scope, claimed: BareMetalHost, context: ReconcileContext): Promise<Result> {
    const { metal3Machine } = scope;
    const name = claimed.metadata.name;
    const problem = await installOn(claimed, metal3Machine, context);
    if (problem !== undefined)
      return tell(metal3Machine, { step: 'waiting', reason: 'InvalidConfiguration', message: problem }, context);
    if (stateOf(claimed) !== 'provisioned') {
      const error = claimed.status?.errorMessage ?? '';
      const message = `BareMetalHost ${name} is ${stateOf(claimed)}${error === '' ? '' : `: ${error}`}`;
      return tell(metal3Machine, { step: 'provisioning', host: name, message }, context);
    }
    const found = await this.#identity.establish(scope, claimed, context);
    if (!found.isDone) {
      await tell(metal3Machine, { step: 'provisioning', host: name, message: found.why }, context);
      return after(AGAIN_MS);
    }
    await finish(metal3Machine, { host: claimed, providerId: found.providerId }, context);
    return DONE;
  }

  async #delete(metal3Machine: Metal3Machine, context: ReconcileContext): Promise<Result> {
    const { client } = context;
    if (metal3Machine.metadata.finalizers?.includes(METAL3_MACHINE_FINALIZER) !== true) return DONE;
    const host = await consumedHost(metal3Machine, context);
    if (host !== undefined) {
      const emptied = await write(host, emptiedHost(host), context);
      if (!isEmptied(emptied)) {
        const message = `BareMetalHost ${host.metadata.name} is being deprovisioned`;
        await tell(metal3Machine, { step: 'deleting', message }, context);
        return after(AGAIN_MS);
      }
      await write(emptied, releasedHost(emptied), context);
    }
    await client.removeFinalizer(Metal3Machine, metal3Machine, METAL3_MACHINE_FINALIZER);
    return DONE;
  }
}

const NO_OWNER: MachineStep = {
  step: 'waiting',
  reason: 'WaitingForMetal3MachineOwnerRef',
  message: 'Waiting for the Machine to own it',
};

async function ownersOf(
  { metadata: { namespace = '', ownerReferences = [] } }: Metal3Machine,
  { client }: ReconcileContext,
): Promise<Pick<Scope, 'machine' | 'cluster'> | undefined> {
  const owner = ownerReferences.find(
    ({ kind, apiVersion }) => kind === 'Machine' && apiVersion.startsWith(`${Machine.group}/`),
  );
  const machine = owner === undefined ? undefined : await client.find(Machine, { namespace, name: owner.name });
  if (machine === undefined) return undefined;
  const cluster = await client.find(Cluster, { namespace, name: machine.spec.clusterName });
  return cluster === undefined ? undefined : { machine, cluster };
}

/** Metal3 reads the conditions of the older spelling. */
function waitOf({ machine, cluster }: Pick<Scope, 'machine' | 'cluster'>): MachineStep | undefined {
  if (!isSaid(cluster, 'InfrastructureReady'))
    return {
      step: 'waiting',
      reason: 'WaitingForClusterInfrastructureReady',
      message: 'Waiting for the infrastructure of the Cluster',
    };
  if (isSaid(machine, 'BootstrapReady') && machine.spec.bootstrap.dataSecretName !== undefined) return undefined;
  return {
    step: 'waiting',
    reason: 'WaitingForBootstrapData',
    message: 'Waiting for the bootstrap data of the Machine',
  };
}

const isSaid = ({ status }: Cluster | Machine, type: string): boolean =>
  status?.deprecated?.v1beta1?.conditions?.some((one) => one.type === type && one.status === 'True') === true;

/** The host of the machine, which is one from then on. */
async function associate(
  { metal3Machine, machine }: Scope,
  context: ReconcileContext,
): Promise<BareMetalHost | undefined> {
  const { namespace = '' } = metal3Machine.metadata;
  const { items } = await context.client.list(BareMetalHost, { namespace });
  const host = chosenHost(items, metal3Machine);
  return host === undefined
    ? undefined
    : write(host, claimedHost(host, metal3Machine, machine.spec.clusterName), context);
}

async function annotate(
  { metal3Machine, machine }: Scope,
  host: BareMetalHost,
  { client }: ReconcileContext,
): Promise<Metal3Machine> {
  const { namespace = '', annotations = {} } = metal3Machine.metadata;
  const { dataSecretName = '' } = machine.spec.bootstrap;
  return writeChanges(client, Metal3Machine, metal3Machine, {
    metadata: {
      ...metal3Machine.metadata,
      annotations: { ...annotations, [HOST_ANNOTATION]: `${namespace}/${host.metadata.name}` },
    },
    status: {
      ...metal3Machine.status,
      userData: metal3Machine.spec?.userData ?? { name: dataSecretName, namespace },
    },
  });
}

/** Why it cannot be installed. */
async function installOn(
  host: BareMetalHost,
  metal3Machine: Metal3Machine,
  context: ReconcileContext,
): Promise<string | undefined> {
  try {
    await write(host, provisionedHost(host, metal3Machine), context);
    return undefined;
  } catch (error) {
    if (error instanceof SlipwayError && error.disposition === 'user') return error.message;
    throw error;
  }
}

async function consumedHost(
  metal3Machine: Metal3Machine,
  { client }: ReconcileContext,
): Promise<BareMetalHost | undefined> {
  const { items } = await client.list(BareMetalHost, { namespace: metal3Machine.metadata.namespace ?? '' });
  return items.find((host) => isConsumedBy(host, metal3Machine));
}

/** In the version that it was decided for: two machines may not take one host. */
async function write(
  host: BareMetalHost,
  wanted: BareMetalHost,
  { client }: ReconcileContext,
): Promise<BareMetalHost> {
  return writeChanges(client, BareMetalHost, host, wanted);
}

async function tell(
  metal3Machine: Metal3Machine,
  step: MachineStep,
  { client, now }: ReconcileContext,
): Promise<Result> {
  await writeChanges(client, Metal3Machine, metal3Machine, {
    status: { ...metal3Machine.status, ...machineStatus(metal3Machine, step, now()) },
  });
  return DONE;
}

async function finish(
  metal3Machine: Metal3Machine,
  { host, providerId }: { readonly host: BareMetalHost; readonly providerId: string },
  { client, now }: ReconcileContext,
): Promise<void> {
  const step = { step: 'done', host: keyOf(host).name } as const;
  // Before the status: whoever sees that it is provisioned also sees the provider ID.
  const identified =
    metal3Machine.spec?.providerID === providerId
      ? metal3Machine
      : await client.patch(Metal3Machine, keyOf(metal3Machine), {
          type: 'merge',
          body: { spec: { providerID: providerId } },
        });
  const addresses = addressesOf(host);
  await writeChanges(client, Metal3Machine, identified, {
    status: {
      ...identified.status,
      ...machineStatus(identified, step, now()),
      ...provisionedFlags(identified.status),
      ...(addresses.length > 0 && { addresses }),
    },
  });
}
