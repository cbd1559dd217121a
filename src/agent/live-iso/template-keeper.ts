import type { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import type { Metal3MachineTemplate } from '../../api/metal3/infrastructure-v1beta2.ts';
import { type Kind, keyOf, keyText, type ObjectKey } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { isEmptyPatch, mergeFrom } from '../../kube/client/patches.ts';
import { derivedTemplate, type IsoIdentity, isDerivedFor } from './derived-template.ts';

/** So long what was in step is taken to be: all machines of a template ask for the same. */
const FRESH_MS = 60_000;
/** Templates that are remembered; the oldest makes room, and at worst is read once more. */
const MOST_KEPT = 1024;

export interface KeptTemplate {
  readonly kind: Kind<Metal3MachineTemplate>;
  readonly identity: IsoIdentity;
  readonly cluster: Cluster;
  readonly url: string;
}

/** Keeps the templates that are derived from those of users in step with them and with the ISO. */
export class TemplateKeeper {
  readonly #clock: Clock;
  readonly #kept = new Map<string, { readonly url: string; readonly atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** False when another template has the name; that one is left alone. */
  async keep(client: KubeClient, wanted: KeptTemplate): Promise<boolean> {
    const { kind, identity, cluster, url } = wanted;
    const { namespace = '' } = cluster.metadata;
    const name = JSON.stringify([namespace, identity.cluster, identity.template, identity.architecture]);
    if (this.#isFresh(name, url)) return true;
    const origin = await client.live.find(kind, { namespace, name: identity.template });
    // Who deleted the template wants no other one of it.
    if (origin === undefined) return true;
    const isKept = await ensure(client, wanted, derivedTemplate({ kind, origin, identity, cluster, url }));
    if (isKept) this.#remember(name, url);
    return isKept;
  }

  #isFresh(name: string, url: string): boolean {
    const kept = this.#kept.get(name);
    return kept?.url === url && this.#clock.monotonicMs() - kept.atMs < FRESH_MS;
  }

  #remember(name: string, url: string): void {
    this.#kept.delete(name);
    this.#kept.set(name, { url, atMs: this.#clock.monotonicMs() });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break;
      this.#kept.delete(oldest);
    }
  }
}

async function ensure(
  client: KubeClient,
  { kind, identity }: KeptTemplate,
  template: Metal3MachineTemplate,
): Promise<boolean> {
  const key: ObjectKey = keyOf(template);
  const found = (await client.live.find(kind, key)) ?? (await created(client, kind, template));
  if (!isDerivedFor(found, identity)) return false;
  const labels = { ...found.metadata.labels, ...template.metadata.labels };
  const after = { ...found, metadata: { ...found.metadata, labels }, spec: template.spec };
  const patch = mergeFrom<Metal3MachineTemplate>(found, after);
  if (!isEmptyPatch(patch)) await client.patch(kind, key, patch);
  return true;
}

async function created(
  client: KubeClient,
  kind: Kind<Metal3MachineTemplate>,
  template: Metal3MachineTemplate,
): Promise<Metal3MachineTemplate> {
  try {
    return await client.create(kind, template);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return client.live.get(kind, keyOf(template));
  }
}

/** For people. */
export const takenTemplate = (key: ObjectKey): string =>
  `template ${keyText(key)} has the name of the one with the ISO, but was not made from this template for this cluster`;
