import assert from 'node:assert/strict';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { adminClient } from './admin-client.ts';
import {
  type AuditedRequest,
  type Permission,
  permissionsByUser,
  refusedOf,
  ServerAudit,
  unusedOf,
} from './ccm-oracle-audit.ts';
import { startKubernetes } from './kubernetes.ts';
import { scratchDirectory } from './scratch.ts';

/** A real Kubernetes that writes down who asked for what. */
export interface AuditedKubernetes {
  readonly audit: ServerAudit;
  readonly cluster: ControlPlane;
  /** Of the administrator. */
  readonly client: KubeClient;
  /** Goes with the rest. */
  readonly directory: string;
}

export async function startAudited(
  parts: AsyncDisposableStack,
  options: { readonly controllerManager?: boolean } = {},
): Promise<AuditedKubernetes> {
  const { path: directory } = parts.use(await scratchDirectory());
  const audit = await ServerAudit.prepare(directory);
  const extraArguments = { kubeApiserver: audit.serverArguments };
  const cluster = parts.use(await startKubernetes({ ...options, extraArguments }));
  return { audit, cluster, client: await adminClient(parts, cluster.admin), directory };
}

interface RoleUse {
  readonly user: string;
  readonly requests: readonly AuditedRequest[];
  /** What was rendered, with the roles. */
  readonly objects: readonly KubeObject[];
  /** Permissions that are needed without a request of their own. */
  readonly isSilent: (permission: Permission) => boolean;
  readonly tell: (text: string) => void;
}

/** Fails when something was refused to a user. Returns what he may do and never did. */
export function unusedRights({ user, requests, objects, isSilent, tell }: RoleUse): readonly string[] {
  assert.deepEqual(refusedOf(requests), []);
  const given = permissionsByUser(objects).get(user) ?? [];
  const counted = given.filter((one) => !isSilent(one) && !isReadOfWatched(one, given));
  tell(`${requests.length} requests; ${given.length} permissions, ${counted.length} of them counted`);
  return unusedOf(counted, requests);
}

/** Whoever watches a kind may read one of it, too: that is how a write is looked up whose answer was lost. */
const isReadOfWatched = (
  { verb, group, resource, namespace }: Permission,
  given: readonly Permission[],
): boolean =>
  verb === 'get' &&
  given.some(
    (one) =>
      one.verb === 'watch' && one.group === group && one.resource === resource && one.namespace === namespace,
  );
