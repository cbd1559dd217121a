import type { LabelSelector as SelectorObject } from '../../../api/generated/meta-v1-types.ts';
import { type Kind, type KubeObject, keyOf } from '../../../api/object.ts';
import { isInvalid, isNotFound } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { JsonObject } from '../../../object/json.ts';
import { type LabelSelector, labelSelectorOf, matchesLabels } from '../../../object/label-selector.ts';
import { controllerReferenceOf, ownedBy } from '../../../object/owner-references.ts';

/** Who wants to own what. */
export interface Claim<T extends KubeObject, I, O extends KubeObject, OI> {
  readonly kind: Kind<T, I>;
  readonly owner: O;
  readonly ownerKind: Kind<O, OI>;
  readonly selector: LabelSelector;
}

/** What is to be done with an object. `foreign` is left alone. */
export type ClaimStep = 'owned' | 'adopt' | 'release' | 'foreign';

// Plain JSON that came from the server.
export const selectorOf = (selector: SelectorObject): LabelSelector =>
  labelSelectorOf(selector as unknown as JsonObject);

/**
 * Pure: whoever has a controller belongs to it; orphans belong to whom they match; who is owned and does not match any
 * more is released. An owner that is being deleted takes and releases nothing (W1, W15).
 */
export function claimStep(object: KubeObject, owner: KubeObject, selector: LabelSelector): ClaimStep {
  const controller = controllerReferenceOf(object);
  const isMatch = matchesLabels(selector, { ...object.metadata.labels });
  const isOwnerLeaving = owner.metadata.deletionTimestamp !== undefined;
  if (controller !== undefined) {
    if (controller.uid !== owner.metadata.uid) return 'foreign';
    if (isMatch) return 'owned';
    return isOwnerLeaving ? 'foreign' : 'release';
  }
  const isLeaving = object.metadata.deletionTimestamp !== undefined;
  return isMatch && !isOwnerLeaving && !isLeaving ? 'adopt' : 'foreign';
}

/** Adopts and releases what has to be; resolves to what the owner then owns. */
export async function claimObjects<T extends KubeObject, I, O extends KubeObject, OI>(
  objects: readonly T[],
  claim: Claim<T, I, O, OI>,
  tools: { readonly client: KubeClient; readonly signal: AbortSignal },
): Promise<readonly T[]> {
  const { owner, selector } = claim;
  const owned: T[] = [];
  // Asked once, and only when it matters.
  let isThere: boolean | undefined;
  for (const object of objects) {
    const step = claimStep(object, owner, selector);
    if (step === 'owned') owned.push(object);
    if (step === 'release') await release(object, claim, tools);
    if (step !== 'adopt') continue;
    isThere ??= await isStillThere(claim, tools);
    const adopted = isThere ? await adopt(object, claim, tools) : undefined;
    if (adopted !== undefined) owned.push(adopted);
  }
  return owned;
}

type Tools = Parameters<typeof claimObjects>[2];

/** A cache may not know yet that the owner is gone, or another one: what is adopted now would be collected. */
async function isStillThere<T extends KubeObject, I, O extends KubeObject, OI>(
  { owner, ownerKind }: Claim<T, I, O, OI>,
  { client, signal }: Tools,
): Promise<boolean> {
  const found = await client.live.find(ownerKind, keyOf(owner), { signal });
  return found?.metadata.uid === owner.metadata.uid && found?.metadata.deletionTimestamp === undefined;
}

async function adopt<T extends KubeObject, I, O extends KubeObject, OI>(
  object: T,
  { kind, owner, ownerKind }: Claim<T, I, O, OI>,
  { client, signal }: Tools,
): Promise<T | undefined> {
  const { uid = '' } = object.metadata;
  const ownerReferences = ownedBy(owner, ownerKind).ownerReferences.map((reference) => ({ ...reference }));
  const body = { metadata: { uid, ownerReferences } };
  try {
    return await client.patch(kind, keyOf(object), { type: 'strategic', body }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function release<T extends KubeObject, I, O extends KubeObject, OI>(
  object: T,
  { kind, owner }: Claim<T, I, O, OI>,
  { client, signal }: Tools,
): Promise<void> {
  const { uid = '' } = object.metadata;
  const { uid: ownerUid = '' } = owner.metadata;
  const body = { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: ownerUid }] } };
  try {
    await client.patch(kind, keyOf(object), { type: 'strategic', body }, { signal });
  } catch (error) {
    // Somebody was quicker: it is gone, or another one, or has no such owner any more.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
