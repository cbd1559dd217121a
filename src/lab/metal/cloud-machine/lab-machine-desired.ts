import type { Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import type { LabMachine } from '../../../api/lab-infrastructure/infrastructure-v1beta2.ts';
import { childName } from '../../../object/name-hash.ts';
import { hardwareId } from '../../machine/hardware-id.ts';
import { condition, paused, toldStatus, v1beta1 } from '../core/told-conditions.ts';
import type { BootedHost } from '../host/host-power.ts';
import type { CloudInstance, InstanceWish } from './instance-cloud.ts';

/** What the instance of a machine is found by: another machine of the same name has another instance. */
export const instanceKey = ({ metadata: { uid = '' } }: LabMachine): string => uid;

export function instanceWish(machine: LabMachine, owner: Machine, userData: string): InstanceWish {
  const { instanceType, imageId, zone: given } = machine.spec ?? {};
  const zone = owner.spec.failureDomain ?? given;
  return {
    name: childName(machine.metadata.name, ''),
    userData,
    ...(zone !== undefined && { zone }),
    ...(instanceType !== undefined && { type: instanceType }),
    ...(imageId !== undefined && { imageId }),
  };
}

/** The instance as a host that boots from its disk. What a cloud tells its instances is what others have on a drive. */
export function bootedInstance(machine: LabMachine, instance: CloudInstance, userData: string): BootedHost {
  const { namespace = '', name } = machine.metadata;
  const { id, hostname, providerId, zone, macAddresses } = instance;
  return {
    id: hardwareId(id),
    namespace,
    name,
    macAddresses,
    architecture: 'amd64',
    boot: { from: 'disk', userData },
    metadata: {
      uuid: id,
      name: hostname,
      'instance-id': id,
      'local-hostname': hostname,
      local_hostname: hostname,
      'availability-zone': zone,
      'provider-id': providerId,
    },
  };
}

/** Why a machine cannot have an instance yet. */
export function waitOf(machine: Machine, cluster: Cluster): string | undefined {
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return 'Waiting for the infrastructure of the Cluster';
  return machine.spec.bootstrap.dataSecretName === undefined
    ? 'Waiting for the bootstrap data of the Machine'
    : undefined;
}

/** What is said of a machine: what it waits for, or what its instance is like. Pure. */
export function labMachineStatus(
  machine: LabMachine,
  found: CloudInstance | string,
  now: Date,
): NonNullable<LabMachine['status']> {
  const instance = typeof found === 'string' ? undefined : found;
  const isRunning = instance?.state === 'running';
  const message = typeof found === 'string' ? found : `instance ${found.id} is ${found.state}`;
  const ready = isRunning
    ? condition('Ready', { status: 'True', reason: 'Ready' })
    : condition('Ready', { status: 'False', reason: 'NotReady', message });
  const { status = {} } = machine;
  return {
    ...status,
    ...toldStatus(
      machine,
      { conditions: [ready, paused(false)], v1beta1: [v1beta1('Ready', isRunning, 'NotReady', message)] },
      now,
    ),
    ...(instance !== undefined && {
      instanceId: instance.id,
      instanceState: instance.state,
      failureDomain: instance.zone,
      ...(instance.addresses.length > 0 && { addresses: instance.addresses }),
    }),
    // A machine that was there once stays known as such, whatever becomes of it.
    ...(isRunning && { initialization: { provisioned: true } }),
  };
}
