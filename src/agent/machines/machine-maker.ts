import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import { messageOf, retryError, SlipwayError } from '../../base/errors.ts';
import { isAlreadyExists, isLeadershipLost } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { isOfControlPlane, namespaceOf } from '../control-plane/ownership.ts';
import type { InfrastructureKinds } from './contract-kind.ts';
import type { HalfMadeSet } from './half-made.ts';
import {
  desiredConfig,
  desiredInfrastructureMachine,
  desiredMachine,
  infrastructureReference,
  type MachineIdentity,
} from './machine-objects.ts';

/** What `MachinesCreated` says when a part cannot be made, with the cause (C15). */
class CloningFailure extends SlipwayError {
  constructor(reason: string, what: string, cause: unknown) {
    const { disposition = 'retry', retryAfterMs } = cause instanceof SlipwayError ? cause : {};
    super(disposition, reason, `${what}: ${messageOf(cause)}`, {
      cause,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
}

async function step<T>(reason: string, what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isLeadershipLost(error) ? error : new CloningFailure(reason, what, error);
  }
}

/**
 * Makes the three objects of a Machine, the Machine last: with it core begins. What is there already is kept, so that
 * whoever was killed in between is continued and leaves nothing.
 */
export async function makeMachine(
  client: KubeClient,
  kinds: InfrastructureKinds,
  identity: MachineIdentity,
  failureDomain: string | undefined,
): Promise<Machine> {
  await step('InfrastructureTemplateCloningFailed', 'error fetching or cloning the infrastructure template', () =>
    makeInfrastructure(client, kinds, identity),
  );
  await step('BootstrapTemplateCloningFailed', 'error creating bootstrap config', () =>
    createOwn(client, OpenshiftAssistedConfig, desiredConfig(identity), identity),
  );
  return step('MachineGenerationFailed', 'error creating machine', () =>
    // Applied, so that labels which leave the template later leave the Machine, too.
    client.apply(Machine, desiredMachine(identity, failureDomain), { force: true }),
  );
}

async function makeInfrastructure(
  client: KubeClient,
  { template, machine }: InfrastructureKinds,
  identity: MachineIdentity,
): Promise<void> {
  const { object } = identity;
  const { name } = infrastructureReference(object);
  const found = await client.live.get(template, { namespace: namespaceOf(object), name });
  await createOwn(client, machine, desiredInfrastructureMachine(identity, found, machine), identity);
}

async function createOwn<T extends KubeObject, I>(
  client: KubeClient,
  kind: Kind<T, I>,
  wanted: I,
  { object, name }: MachineIdentity,
): Promise<void> {
  try {
    await client.create(kind, wanted);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.live.get(kind, { namespace: namespaceOf(object), name });
    if (isOfControlPlane(found, object)) return;
    throw retryError('NameTaken', `${kind.kind} ${name} exists and belongs to somebody else`);
  }
}

/** Removes the parts of a set whose Machine is not wanted any more; not when the Machine is there after all. */
export async function discardSet(
  client: KubeClient,
  { config, infrastructure }: HalfMadeSet,
  kinds: InfrastructureKinds | undefined,
): Promise<void> {
  const parts = [
    ...(config === undefined ? [] : [{ kind: OpenshiftAssistedConfig, part: config }]),
    ...(infrastructure === undefined || kinds === undefined
      ? []
      : [{ kind: kinds.machine, part: infrastructure }]),
  ];
  for (const { kind, part } of parts) {
    const { name, uid } = part.metadata;
    const key = { namespace: namespaceOf(part), name };
    // The cache of Machines may be behind that of their parts.
    if ((await client.live.find(Machine, key)) !== undefined) return;
    await client.delete(kind, key, { ...(uid !== undefined && { preconditions: { uid } }) });
  }
}
