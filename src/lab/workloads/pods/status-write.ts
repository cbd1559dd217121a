import { type Kind, type KubeObject, keyOf } from '../../../api/object.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';

/** What a controller says about its object. */
export interface StatusWrite<T extends { readonly status?: unknown }> {
  readonly status: NonNullable<T['status']>;
  /** Besides those that the object has. A status may bring annotations with it: the revision of a Deployment (W6). */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Replaces the status of an object in the very version that is given; a conflict when there is a newer one. The roles of
 * Kubernetes give its controllers no verb but `update` for a status. An update takes all annotations with it, and a cache
 * leaves some out (I11), so the object is read first. Resolves to the object as it was given when it is gone.
 */
export async function writeStatus<T extends KubeObject & { readonly status?: unknown }, I>(
  { client, signal }: { readonly client: KubeClient; readonly signal: AbortSignal },
  kind: Kind<T, I>,
  object: T,
  { status, annotations = {} }: StatusWrite<T>,
): Promise<T> {
  const whole = await client.live.find(kind, keyOf(object), { signal });
  const { uid, resourceVersion } = object.metadata;
  if (whole === undefined || whole.metadata.uid !== uid) return object;
  const all = { ...whole.metadata.annotations, ...annotations };
  const metadata = {
    ...whole.metadata,
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(Object.keys(all).length > 0 && { annotations: all }),
  };
  return client.updateStatus(kind, { ...whole, metadata, status }, { signal });
}
