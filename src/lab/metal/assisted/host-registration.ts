import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { apiVersionOf } from '../../../api/object.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { setOwnerReference } from '../../../object/owner-references.ts';

/** What a host says of itself when it registers. */
export interface HostNews {
  readonly id: string;
  /** In the form of `status.inventory` of an Agent. */
  readonly inventory: JsonObject;
}

/** Pure: the Agent of a host that has just registered (spec section 7). Nobody has approved it. */
function newAgent(infraEnv: InfraEnv, id: string): Agent {
  const { namespace = '', name } = infraEnv.metadata;
  const { clusterRef } = infraEnv.spec ?? {};
  return setOwnerReference(
    infraEnv,
    {
      apiVersion: apiVersionOf(Agent),
      kind: Agent.kind,
      metadata: { namespace, name: id, labels: { [INFRA_ENV_LABEL]: name } },
      spec: {
        approved: false,
        role: '',
        ...(clusterRef !== undefined && {
          clusterDeploymentName: { name: clusterRef.name, namespace: clusterRef.namespace },
        }),
      },
    },
    { kind: InfraEnv },
  );
}

/**
 * The host has an Agent that knows its hardware. A host that registers again, or whose registration was cut short, has
 * the same Agent.
 */
export async function registerHost(
  client: KubeClient,
  infraEnv: InfraEnv,
  { id, inventory }: HostNews,
): Promise<Agent> {
  const { namespace = '' } = infraEnv.metadata;
  const agent = await client.create(Agent, newAgent(infraEnv, id)).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
    return client.live.get(Agent, { namespace, name: id });
  });
  if (agent.status?.inventory !== undefined) return agent;
  const body = { status: { inventory } };
  return await client.patch(Agent, { namespace, name: id }, { type: 'merge', body }, { subresource: 'status' });
}
