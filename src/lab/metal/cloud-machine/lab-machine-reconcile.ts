import { Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import { LAB_MACHINE_FINALIZER, LabMachine } from '../../../api/lab-infrastructure/infrastructure-v1beta2.ts';
import { keyOf } from '../../../api/object.ts';
import { retryError } from '../../../base/errors.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { hardwareId } from '../../machine/hardware-id.ts';
import { isPaused, tellPaused } from '../core/cluster-scope.ts';
import { writeChanges } from '../core/write-changes.ts';
import type { HostPower } from '../host/host-power.ts';
import type { CloudInstance, InstanceCloud } from './instance-cloud.ts';
import { bootedInstance, instanceKey, instanceWish, labMachineStatus, waitOf } from './lab-machine-desired.ts';

/** Clouds do not call back. */
const POLL_MS = 5000;
const WATCH_MS = 60_000;

export interface LabMachineParts {
  readonly cloud: InstanceCloud;
  readonly hosts: HostPower;
}

/** An instance of the lab cloud for each machine, booted from its disk with the bootstrap data of the Machine. */
export class LabMachineReconciler implements Reconciler<LabMachine> {
  readonly #parts: LabMachineParts;

  constructor(parts: LabMachineParts) {
    this.#parts = parts;
  }

  async reconcile(stored: LabMachine, context: ReconcileContext): Promise<Result> {
    const owners = await ownersOf(stored, context);
    if (owners !== undefined && isPaused(owners.cluster, stored)) return tellPaused(LabMachine, stored, context);
    if (stored.metadata.deletionTimestamp !== undefined) return this.#delete(stored, context);
    // Before there is anything in the cloud that nobody would remember.
    const machine = await context.client.addFinalizer(LabMachine, stored, LAB_MACHINE_FINALIZER);
    const wait =
      owners === undefined ? 'Waiting for the Machine to own it' : waitOf(owners.machine, owners.cluster);
    if (owners === undefined || wait !== undefined) return tell(machine, wait ?? '', context);
    const userData = await userDataOf(owners.machine, context);
    const wish = instanceWish(machine, owners.machine, userData);
    const instance = await this.#parts.cloud.ensure(instanceKey(machine), wish, context.signal);
    if (instance.state === 'running') {
      await this.#parts.hosts.powerOn(bootedInstance(machine, instance, userData));
      await identify(machine, instance, context);
    }
    await tell(machine, instance, context);
    return after(instance.state === 'running' ? WATCH_MS : POLL_MS);
  }

  async #delete(machine: LabMachine, { client, signal }: ReconcileContext): Promise<Result> {
    if (machine.metadata.finalizers?.includes(LAB_MACHINE_FINALIZER) !== true) return DONE;
    const { instanceId } = machine.status ?? {};
    if (instanceId !== undefined) await this.#parts.hosts.wipe(hardwareId(instanceId));
    if (!(await this.#parts.cloud.remove(instanceKey(machine), signal))) return after(POLL_MS);
    await client.removeFinalizer(LabMachine, machine, LAB_MACHINE_FINALIZER);
    return DONE;
  }
}

async function ownersOf(
  { metadata: { namespace = '', ownerReferences = [] } }: LabMachine,
  { client }: ReconcileContext,
): Promise<{ readonly machine: Machine; readonly cluster: Cluster } | undefined> {
  const owner = ownerReferences.find(
    ({ kind, apiVersion }) => kind === Machine.kind && apiVersion.startsWith(`${Machine.group}/`),
  );
  const machine = owner === undefined ? undefined : await client.find(Machine, { namespace, name: owner.name });
  if (machine === undefined) return undefined;
  const cluster = await client.find(Cluster, { namespace, name: machine.spec.clusterName });
  return cluster === undefined ? undefined : { machine, cluster };
}

async function userDataOf(machine: Machine, { client }: ReconcileContext): Promise<string> {
  const { namespace = '' } = machine.metadata;
  const { dataSecretName: name = '' } = machine.spec.bootstrap;
  const secret = await client.live.find(Secret, { namespace, name });
  if (secret === undefined)
    throw retryError(
      'SecretNotFound',
      `spec.bootstrap.dataSecretName of Machine ${machine.metadata.name} is ${name}, which does not exist; create it`,
    );
  return Buffer.from(secret.data?.['value'] ?? '', 'base64').toString('utf8');
}

/** Before the status: whoever sees that it is provisioned also sees the provider ID. */
async function identify(
  machine: LabMachine,
  { providerId }: CloudInstance,
  { client }: ReconcileContext,
): Promise<void> {
  if (machine.spec?.providerID === providerId) return;
  await client.patch(LabMachine, keyOf(machine), { type: 'merge', body: { spec: { providerID: providerId } } });
}

async function tell(
  stored: LabMachine,
  found: CloudInstance | string,
  { client, now }: ReconcileContext,
): Promise<Result> {
  const machine = (await client.find(LabMachine, keyOf(stored))) ?? stored;
  await writeChanges(client, LabMachine, machine, { status: labMachineStatus(machine, found, now()) });
  return DONE;
}
