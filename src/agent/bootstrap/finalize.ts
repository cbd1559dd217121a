import {
  CONFIG_FINALIZER,
  INFRA_ENV_CONFIG_LABEL,
  OpenshiftAssistedConfig,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import type { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { type Kind, type KubeObject, keyOf } from '../../api/object.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { machineNameOf } from '../agents/agent-machine.ts';
import { configOwnerOf, isControlPlane } from '../cluster-facts/config-owner.ts';
import { isShared, SHARED_INFRA_ENV_LABEL, sharedInfraEnvOf } from '../live-iso/shared-infra-env.ts';

/** Pure: why a config that was deleted stays; undefined when it may go (B16). */
export function whyItStays(config: OpenshiftAssistedConfig, machine: Machine | undefined): string | undefined {
  if (machine === undefined || !isControlPlane(config) || machine.metadata.deletionTimestamp !== undefined)
    return undefined;
  return `the config belongs to Machine ${machine.metadata.name} of the control plane, which is not being deleted; delete the Machine, and the config goes with it`;
}

/** Takes away what was made for a config; whether its Machine still exists does not matter (B16, X10). */
export async function cleanUp(
  client: KubeClient,
  config: OpenshiftAssistedConfig,
  machine: Machine | undefined,
): Promise<void> {
  for (const infraEnv of await ownInfraEnvs(client, config, machine)) await remove(client, InfraEnv, infraEnv);
  const shared = sharedInfraEnvOf(config);
  if (shared !== undefined) await leaveShared(client, config, shared);
  await client.removeFinalizer(OpenshiftAssistedConfig, config, CONFIG_FINALIZER);
}

/** By name while the Machine is known, and by label: the Machine may be gone before its config. */
async function ownInfraEnvs(
  client: KubeClient,
  config: OpenshiftAssistedConfig,
  machine: Machine | undefined,
): Promise<readonly InfraEnv[]> {
  const { name, namespace = '', uid } = config.metadata;
  const labelled = await client.live.list(InfraEnv, { namespace, labels: { [INFRA_ENV_CONFIG_LABEL]: name } });
  const owned = labelled.items.filter(({ metadata: { ownerReferences = [] } }) =>
    ownerReferences.some((owner) => owner.uid === uid),
  );
  const ownName = machine?.metadata.name ?? configOwnerOf(config)?.name;
  if (ownName === undefined || owned.some(({ metadata }) => metadata.name === ownName)) return owned;
  const found = await client.live.find(InfraEnv, { namespace, name: ownName });
  // Only while the Machine exists the name alone says that it is meant: another Machine may have it by now.
  const isMeant = found !== undefined && !isShared(found) && (machine !== undefined || isOwnedBy(found, config));
  return isMeant ? [...owned, found] : owned;
}

const isOwnedBy = ({ metadata: { ownerReferences = [] } }: KubeObject, { metadata }: KubeObject): boolean =>
  ownerReferences.some(({ uid }) => uid === metadata.uid);

/** The Agent of this host goes; the InfraEnv with the last config that uses it. */
async function leaveShared(client: KubeClient, config: OpenshiftAssistedConfig, name: string): Promise<void> {
  const { namespace = '', uid } = config.metadata;
  const labels = { [SHARED_INFRA_ENV_LABEL]: name };
  const { items } = await client.live.list(OpenshiftAssistedConfig, { namespace, labels });
  const isUsed = items.some(({ metadata }) => metadata.uid !== uid && metadata.deletionTimestamp === undefined);
  if (isUsed) return removeAgents(client, config, name);
  const infraEnv = await client.live.find(InfraEnv, { namespace, name });
  if (infraEnv !== undefined && isShared(infraEnv)) await remove(client, InfraEnv, infraEnv);
}

async function removeAgents(client: KubeClient, config: OpenshiftAssistedConfig, infraEnv: string): Promise<void> {
  const { namespace = '' } = config.metadata;
  const machine = configOwnerOf(config)?.name ?? '';
  if (machine === '') return;
  const { items } = await client.live.list(Agent, { namespace, labels: { [INFRA_ENV_LABEL]: infraEnv } });
  for (const agent of items.filter((each) => machineNameOf(each) === machine)) await remove(client, Agent, agent);
}

/** This very object, and not another one that has got its name meanwhile. */
async function remove<T extends KubeObject>(client: KubeClient, kind: Kind<T, unknown>, object: T): Promise<void> {
  const { uid, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined) return;
  await client.delete(kind, keyOf(object), { ...(uid !== undefined && { preconditions: { uid } }) });
}
