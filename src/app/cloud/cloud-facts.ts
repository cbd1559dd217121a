import { Lease } from '../../api/generated/coordination-v1.ts';
import { Node, Pod, Service } from '../../api/generated/core-v1.ts';
import { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { installNames } from '../../cloud/index.ts';
import { operatorNames } from '../../cloud-operator/index.ts';
import type { Lab } from '../../lab/index.ts';
import { HELLO_SERVICE } from '../lab/hello.ts';
import type { LoadedProvider } from '../provider/load-provider.ts';

/** The key of the taint of nodes that wait for a cloud controller manager. */
export const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const PORT = 80;
/** Of the program, and of its lease. */
const LEASE = 'cloud-controller-manager';

/** Whose installation is meant. */
export type Installed = Pick<LoadedProvider, 'definition'>;

/** What the operator calls what it deploys. */
export const installedNames = (definition: Installed['definition']) =>
  installNames(definition, { namespace: operatorNames('sidecar', definition.name).managedNamespace });

/** What the pods of the operator are found by. */
export const operatorLabels = { 'k8s-app': 'cloud-manager-operator' } as const;

/** What the operator itself is called. */
export const operatorOf = ({ name }: Installed['definition']) => {
  const { operatorNamespace: namespace, clusterOperator } = operatorNames('sidecar', name);
  return { clusterOperator, deployment: { namespace, name: `${clusterOperator}-operator` } };
};

/** The pods of the operator that are to stay. */
export async function operatorPods(lab: Lab, { definition }: Installed): Promise<readonly Pod[]> {
  const { namespace } = operatorOf(definition).deployment;
  const { items } = await lab.cluster().client.list(Pod, { namespace, labels: operatorLabels });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** What the operator says of itself: the status and message of a condition; undefined while it says nothing. */
export async function operatorCondition(lab: Lab, { definition }: Installed, type: string) {
  const name = operatorOf(definition).clusterOperator;
  const found = await lab
    .cluster()
    .client.find(ClusterOperator, { name })
    // Before the kinds of OpenShift are there, nobody knows such an object.
    .catch(() => undefined);
  return found?.status?.conditions?.find((condition) => condition.type === type);
}

/** The nodes of machines, as far as there are any. */
export async function machineNodes(
  lab: Lab,
  machines: readonly { readonly name: string }[],
): Promise<readonly Node[]> {
  const { items } = await lab.cluster().client.list(Node);
  return items.filter(({ metadata }) => machines.some(({ name }) => name === metadata.name));
}

export const isInitialised = ({ spec }: Node): boolean =>
  (spec?.providerID ?? '') !== '' && !(spec?.taints ?? []).some(({ key }) => key === UNINITIALIZED);

/** The pods of the cloud controller manager that are to stay. */
export async function managerPods(lab: Lab, { definition }: Installed): Promise<readonly Pod[]> {
  const { namespace, labels } = installedNames(definition);
  const { items } = await lab.cluster().client.list(Pod, { namespace, labels });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** It ended more than once, and waits before it is started again. */
export const isCrashing = ({ status }: Pod): boolean =>
  status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff') === true;

const managerLease = (lab: Lab, { definition }: Installed): Promise<Lease | undefined> =>
  lab.cluster().client.find(Lease, { namespace: installedNames(definition).namespace, name: LEASE });

/** The pod whose process holds the lease; undefined while none does that is running now. */
export async function leadingPod(lab: Lab, provider: Installed): Promise<Pod | undefined> {
  const { holderIdentity = '', acquireTime = '' } = (await managerLease(lab, provider))?.spec ?? {};
  const pods = await managerPods(lab, provider);
  return pods.find(({ spec, status }) => {
    const [container] = status?.containerStatuses ?? [];
    const startedAt = container?.state?.running?.startedAt;
    // In the network of its host a pod has the name of its node.
    const isHolder = holderIdentity.startsWith(`${spec.nodeName ?? ''}_`);
    return isHolder && startedAt !== undefined && Date.parse(startedAt) <= Date.parse(acquireTime);
  });
}

/** Where the Service of the journey is reached on this machine; undefined while it has no address. */
export async function balancerUrl(lab: Lab): Promise<string | undefined> {
  const service = await lab.cluster().client.find(Service, HELLO_SERVICE);
  const ip = service?.status?.loadBalancer?.ingress?.[0]?.ip;
  return ip === undefined ? undefined : new URL(lab.urlOf(ip, PORT)).href;
}
