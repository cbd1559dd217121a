import { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { keyOf } from '../../api/object.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';

/** The InfraEnv of this name; made where there is none, and never changed (B10). */
export async function ensureInfraEnv(client: KubeClient, wanted: InfraEnv): Promise<InfraEnv> {
  const key = keyOf(wanted);
  const found = await client.find(InfraEnv, key);
  if (found !== undefined) return found;
  try {
    return await client.create(InfraEnv, wanted);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.live.get(InfraEnv, key);
  }
}
