import { ConfigMap } from '../../api/generated/core-v1.ts';
import { keyText, type ObjectKey } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';

export type TextMap = Readonly<Record<string, string>>;

/** What a ConfigMap holds. */
export interface ConfigMapContent {
  readonly data?: TextMap;
  /** In base64. */
  readonly binaryData?: TextMap;
  readonly immutable?: boolean;
}

export interface WantedConfigMap {
  readonly key: ObjectKey;
  readonly content: ConfigMapContent;
  /** All that it may have, and no labels either (R81); those of others stay unless told. */
  readonly annotations?: TextMap;
  /**
   * Nobody else makes it, so that one which cannot be changed is deleted and made anew. Pods that have it mounted keep
   * what they have meanwhile.
   */
  readonly isOurs: boolean;
}

/** Makes a ConfigMap what it is to be. Nothing is sent where it is that already (R68), whoever made it so. */
export async function ensureConfigMap(client: KubeClient, wanted: WantedConfigMap): Promise<void> {
  const { key, content, annotations } = wanted;
  const found = await client.find(ConfigMap, key);
  if (found === undefined) return await create(client, wanted);
  const hasContent = sameContent(found, content);
  if (hasContent && (annotations === undefined || hasOnly(found, annotations))) return;
  if (!hasContent && found.immutable === true) return await replaceImmutable(client, wanted, found);
  const { data: _data, binaryData: _binaryData, immutable: _immutable, metadata, ...rest } = found;
  const { annotations: _annotations, labels: _labels, ...plain } = metadata;
  await client.update(ConfigMap, {
    ...rest,
    metadata: annotations === undefined ? metadata : { ...plain, annotations },
    ...content,
  });
}

/** A ConfigMap that is immutable lets go of that only with its life. A kill in between leaves none, which is made anew. */
async function replaceImmutable(client: KubeClient, wanted: WantedConfigMap, found: ConfigMap): Promise<void> {
  const { key, isOurs } = wanted;
  if (!isOurs) {
    const what = `ConfigMap ${keyText(key)} is immutable and does not hold the present cloud config`;
    throw userError(
      'ImmutableConfigMap',
      `${what}; delete it (oc delete configmap -n ${key.namespace} ${key.name}), and it is made anew`,
    );
  }
  const { uid, resourceVersion } = found.metadata;
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  await client.delete(ConfigMap, key, { preconditions });
  await create(client, wanted);
}

async function create(client: KubeClient, { key, content, annotations }: WantedConfigMap): Promise<void> {
  await client.create(ConfigMap, {
    metadata: { ...key, ...(annotations !== undefined && { annotations }) },
    ...content,
  });
}

/** By value: that both say nothing of `immutable`, or one says false, is the same (section 18, 17). */
export const sameContent = (a: ConfigMapContent, b: ConfigMapContent): boolean =>
  sameTexts(a.data, b.data) &&
  sameTexts(a.binaryData, b.binaryData) &&
  (a.immutable ?? false) === (b.immutable ?? false);

const hasOnly = ({ metadata: { labels, annotations } }: ConfigMap, wanted: TextMap): boolean =>
  sameTexts(labels, {}) && sameTexts(annotations, wanted);

function sameTexts(a: TextMap = {}, b: TextMap = {}): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}
