import type { Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import { HOST_UUID_LABEL, Metal3Cluster, type Metal3Machine } from '../../../api/metal3/infrastructure-v1beta2.ts';
import type { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { type ConnectWorkload, type NodeAnswer, WorkloadNodes } from '../core/workload-nodes.ts';
import { providerPath } from './data-template.ts';

interface Scope {
  readonly metal3Machine: Metal3Machine;
  readonly machine: Machine;
  readonly cluster: Cluster;
}

/** Which Node is the machine's; it has the provider ID then. */
export type Identity =
  | { readonly isDone: true; readonly providerId: string }
  | { readonly isDone: false; readonly why: string };

const not = (why: string): Identity => ({ isDone: false, why });

/**
 * Finds the Node of a host (S14) as Metal3 does: by the label with the uid of the host, and gives it its provider ID. With
 * a cloud provider it has one by itself. Only a Machine without a bootstrap configuration is found by its hostname: one
 * that has a configuration is expected to set the label.
 */
export class NodeIdentity {
  readonly #nodes: WorkloadNodes;

  constructor(connectWorkload: ConnectWorkload) {
    this.#nodes = new WorkloadNodes(connectWorkload);
  }

  async establish(scope: Scope, host: BareMetalHost, context: ReconcileContext): Promise<Identity> {
    const providerId = `metal3://${providerPath(host, scope.metal3Machine)}`;
    // Known already: whether the Node is still there is the Machine's matter.
    if (scope.metal3Machine.status?.initialization?.provisioned === true) return { isDone: true, providerId };
    const answer = await this.#nodes.of(scope.cluster, context);
    if (!answer.isKnown) return not(answer.why);
    if (answer.nodes.some(({ spec }) => spec?.providerID === providerId)) return { isDone: true, providerId };
    if (await hasCloudProvider(scope, context)) return not(`no Node has spec.providerID ${providerId} yet`);
    const found = nodeOf(answer, scope, host);
    if (typeof found === 'string') return not(found);
    return identified(found, providerId, answer.client);
  }
}

/** The Node, or why there is none. */
function nodeOf(
  { nodes }: Extract<NodeAnswer, { readonly isKnown: true }>,
  { machine }: Scope,
  host: BareMetalHost,
): Node | string {
  const { uid = '', name } = host.metadata;
  const text = `${HOST_UUID_LABEL}=${uid}`;
  const labelled = nodes.filter(({ metadata }) => metadata.labels?.[HOST_UUID_LABEL] === uid);
  if (labelled.length > 1) return `${labelled.length} Nodes have the label ${text}; take it from the wrong ones`;
  const [node] = labelled;
  if (node !== undefined) return node;
  if (machine.spec.bootstrap.configRef !== undefined) return `no Node has the label ${text} yet`;
  const named = nodes.filter(({ metadata }) => metadata.labels?.['kubernetes.io/hostname'] === name);
  return named.length === 1 && named[0] !== undefined
    ? named[0]
    : `no Node has the label ${text} or the name ${name}`;
}

async function identified(node: Node, providerId: string, client: KubeClient): Promise<Identity> {
  const { name } = node.metadata;
  const { providerID: given = '' } = node.spec ?? {};
  if (given !== '' && given !== providerId)
    return not(
      `spec.providerID of Node ${name} is ${given}, not ${providerId}; whoever set it must not, or set this one`,
    );
  if (given === '')
    await client.patch(Node, { name }, { type: 'strategic', body: { spec: { providerID: providerId } } });
  return { isDone: true, providerId };
}

async function hasCloudProvider({ cluster }: Scope, { client }: ReconcileContext): Promise<boolean> {
  const { kind, name = '' } = cluster.spec?.infrastructureRef ?? {};
  if (kind !== Metal3Cluster.kind) return false;
  const found = await client.find(Metal3Cluster, { namespace: cluster.metadata.namespace ?? '', name });
  const { cloudProviderEnabled, noCloudProvider } = found?.spec ?? {};
  return cloudProviderEnabled ?? noCloudProvider === false;
}
