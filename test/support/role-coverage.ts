import { ClusterRole } from '../../src/api/generated/rbac-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Controller } from '../../src/kube/controller/controller.ts';

const READING = new Set(['get', 'list', 'watch']);

/** The writes of a controller that a role of every cluster does not allow: `patch nodes/status`. */
export async function uncoveredWrites(
  client: KubeClient,
  { needs }: Pick<Controller, 'needs'>,
  role: string,
): Promise<readonly string[]> {
  const { rules = [] } = await client.get(ClusterRole, { name: role });
  const isAllowed = (group: string, resource: string, verb: string): boolean =>
    rules.some(
      ({ apiGroups = [], resources = [], verbs }) =>
        apiGroups.includes(group) && resources.includes(resource) && verbs.includes(verb),
    );
  return needs.flatMap(({ group, resource, verbs }) =>
    verbs
      .filter((verb) => !READING.has(verb) && !isAllowed(group, resource, verb))
      .map((verb) => `${verb} ${resource}`),
  );
}
