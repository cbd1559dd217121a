import type { JsonObject } from '../../../api/json.ts';
import { type Kind, type KubeObject, keyOf } from '../../../api/object.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { jsonEqual } from '../../../object/json.ts';
import { diffMergePatch } from '../../../object/merge-patch-diff.ts';

/** Sends what is different in the status, and nothing when nothing is. Nobody else writes these. */
export async function patchStatus<T extends KubeObject & { readonly status?: unknown }, I>(
  { client, signal }: ReconcileContext,
  kind: Kind<T, I>,
  object: T,
  status: NonNullable<T['status']>,
): Promise<void> {
  // Plain JSON that came from the server, or goes there.
  const [before, wanted] = [object.status ?? {}, status] as unknown as readonly [JsonObject, JsonObject];
  if (jsonEqual(before, wanted)) return;
  const body = { metadata: identity(object), status: diffMergePatch(before, wanted) };
  await client.patch(kind, keyOf(object), { type: 'merge', body }, { subresource: 'status', signal });
}

/** With its uid: what is said about one object is not true of another one of the same name. */
export const identity = ({ metadata: { uid } }: KubeObject): JsonObject => (uid === undefined ? {} : { uid });
