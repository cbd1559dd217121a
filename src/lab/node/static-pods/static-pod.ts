import { createHash } from 'node:crypto';
import type { Pod, Toleration } from '../../../api/generated/core-v1-types.ts';
import { objectAt, textAt } from '../../../apiserver/builtin/fields.ts';
import { podDefaults, podSpecDefaults } from '../../../apiserver/builtin/pod-defaults.ts';
import { checkPodSpec } from '../../../apiserver/builtin/pod-validation.ts';
import { builtinSchema } from '../../../apiserver/builtin-data/builtin-schema.ts';
import { userError } from '../../../base/errors.ts';
import { fieldErrorText } from '../../../object/field-error.ts';
import { cloneJson, isJsonObject, type JsonObject } from '../../../object/json.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../../object/names.ts';
import { goJson } from '../../../object/validation/go-text.ts';
import { checkTypes } from '../../../object/validation/type-check.ts';
import { parseYaml } from '../../../object/yaml.ts';
import { apiReference } from './api-references.ts';

/** Where a manifest comes from. */
export interface ManifestOrigin {
  /** As the node sees it: `/etc/kubernetes/manifests/etcd.yaml`. */
  readonly file: string;
  readonly node: string;
  readonly seenAt: Date;
}

const CONFIG_SOURCE = 'kubernetes.io/config.source';
export const CONFIG_HASH = 'kubernetes.io/config.hash';
const CONFIG_SEEN = 'kubernetes.io/config.seen';
export const CONFIG_MIRROR = 'kubernetes.io/config.mirror';

/** The node decides when it stops a static pod; no taint does. */
const TOLERATION: Toleration = { operator: 'Exists', effect: 'NoExecute' };

/**
 * Pure: the pod in a manifest, as the node runs it (N37): with the name of the node in its own, and a uid that stands for
 * content, node and file. Throws an error that says what is wrong with the manifest.
 */
export function staticPod(text: string, origin: ManifestOrigin): Pod {
  const object = parseYaml(text);
  if (!isJsonObject(object)) throw wrong('it holds no object; write a Pod');
  const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  if (kind !== 'Pod' || apiVersion !== 'v1') {
    throw wrong(`it holds kind "${kind}" of version "${apiVersion}"; only Pod of v1 is allowed`);
  }
  const uid = hashOf(object, origin);
  const { problem } = checkTypes(object, builtinSchema('core.v1.Pod'));
  if (problem !== undefined) throw wrong(problem);
  const pod = completed(object, origin, uid);
  const reference = apiReference(pod);
  if (reference === undefined) return pod;
  throw wrong(`static pods may not reference ${reference}: they run without an API server`);
}

const wrong = (message: string) => userError('InvalidManifest', message);

/** 32 digits, as upstream's; comments and the order of keys do not matter. */
const hashOf = (object: JsonObject, { file, node }: ManifestOrigin): string =>
  createHash('sha256')
    .update(`${goJson(object)}host:${node}file:${file}`)
    .digest('hex')
    .slice(0, 32);

function completed(object: JsonObject, { node, seenAt }: ManifestOrigin, uid: string): Pod {
  const metadata = objectAt(object, 'metadata');
  const spec = cloneJson(objectAt(object, 'spec'));
  const name = `${textAt(metadata, 'name')}-${node.toLowerCase()}`;
  const namespace = textAt(metadata, 'namespace') || 'default';
  podSpecDefaults(spec);
  podDefaults(spec);
  const problems = [
    ...(textAt(metadata, 'name') === '' ? ['metadata.name: Required value'] : []),
    ...dnsSubdomainProblems(name).map((problem) => `metadata.name: ${problem}`),
    ...dnsLabelProblems(namespace).map((problem) => `metadata.namespace: ${problem}`),
    ...checkPodSpec(spec, 'spec').map(fieldErrorText),
  ];
  if (problems.length > 0) throw wrong(problems.join('; '));
  // What was checked against the schema of a pod is one.
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec } as unknown as Pod;
  return {
    ...pod,
    metadata: {
      name,
      namespace,
      uid,
      ...(pod.metadata.labels !== undefined && { labels: pod.metadata.labels }),
      annotations: {
        ...pod.metadata.annotations,
        [CONFIG_HASH]: uid,
        [CONFIG_SEEN]: seenAt.toISOString(),
        [CONFIG_SOURCE]: 'file',
      },
      creationTimestamp: null,
    },
    spec: { ...pod.spec, nodeName: node, tolerations: withToleration(pod.spec.tolerations ?? []) },
    status: { phase: 'Pending' },
  };
}

function withToleration(tolerations: readonly Toleration[]): readonly Toleration[] {
  const isThere = tolerations.some(
    ({ key, operator, effect }) => key === undefined && operator === 'Exists' && effect === TOLERATION.effect,
  );
  return isThere ? tolerations : [...tolerations, TOLERATION];
}
