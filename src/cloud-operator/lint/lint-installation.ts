import type { PolicyRule } from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProviderDefinition } from '../definition.ts';
import type { ManifestFile } from '../manifests/installation.ts';
import type { ScopedRules } from '../registry/operator-rules.ts';
import { type ImageStream, payloadTags } from '../registry/payload.ts';
import { type FileFinding, shownObject } from './lint-manifests.ts';
import { isRole } from './object-rules.ts';
import { PROVIDER_RULES } from './provider-rules.ts';
import type { RuleText } from './rule.ts';

const REQUIRED = [
  'capability.openshift.io/name',
  'include.release.openshift.io/self-managed-high-availability',
  'include.release.openshift.io/single-node-developer',
] as const;

/** About the files that install the operator (M01–M03). */
export function lintInstallation(
  files: readonly ManifestFile[],
  namespaces: readonly string[],
): readonly FileFinding[] {
  const placed = files.flatMap(({ name, objects }) => objects.map((object) => ({ file: name, object })));
  const last = placed
    .filter(({ object }) => object.kind === 'CredentialsRequest')
    .map(({ file }) => file)
    .toSorted()
    .at(-1);
  const late = placed.filter(
    ({ file, object }) =>
      (object.kind === 'Deployment' || object.kind === 'ClusterOperator') && last !== undefined && file < last,
  );
  const denied = placed
    .filter(({ object }) => object.kind === 'NetworkPolicy' && object.metadata.name === 'default-deny')
    .map(({ object }) => object.metadata.namespace);
  return [
    ...late.map(({ file, object }) =>
      finding(PROVIDER_RULES.requestOrder, file, `${shownObject(object)} sorts before a CredentialsRequest`),
    ),
    ...placed.flatMap(({ file, object }) => {
      const missing = REQUIRED.filter((name) => object.metadata.annotations?.[name] === undefined);
      return missing.length === 0
        ? []
        : [finding(PROVIDER_RULES.annotations, file, `${shownObject(object)} lacks ${missing.join(', ')}`)];
    }),
    ...namespaces
      .filter((name) => !denied.includes(name))
      .map((name) => finding(PROVIDER_RULES.networkPolicy, '', `namespace ${name} has no default-deny`)),
  ];
}

const finding = ({ id, severity }: RuleText, file: string, message: string): FileFinding => ({
  rule: id,
  severity,
  file,
  message,
});

/** Tags of image-references without an image key, and keys without a tag (I02). */
export function lintImageReferences(
  definitions: readonly CloudProviderDefinition[],
  { spec }: ImageStream,
): readonly FileFinding[] {
  const keysByTag = new Map([...payloadTags(definitions)].map(([key, tag]) => [tag, key]));
  const tags = new Set(spec.tags.map(({ name }) => name));
  const missing = [...keysByTag].filter(([tag]) => !tags.has(tag));
  const idle = [...tags].filter((tag) => !keysByTag.has(tag));
  const told = [
    ...missing.map(([tag, key]) => `image key ${key} has no payload tag ${tag} in image-references`),
    ...idle.map((tag) => `payload tag ${tag} of image-references has no image key`),
  ];
  return told.map((message) => finding(PROVIDER_RULES.payloadTags, 'image-references', message));
}

/** Rules of roles that the operator grants and does not hold (R01): the API server would refuse them. */
export function lintHeldRights(
  operands: readonly KubeObject[],
  held: readonly ScopedRules[],
): readonly FileFinding[] {
  return operands.filter(isRole).flatMap((role) => {
    const { namespace } = role.metadata;
    const inForce = held.filter(
      (one) => one.namespace === undefined || (role.kind === 'Role' && one.namespace === namespace),
    );
    const rules = inForce.flatMap((one) => one.rules);
    return (role.rules ?? [])
      .filter((rule) => !isHeld(rule, rules))
      .map((rule) => {
        const on = [...(rule.resources ?? []), ...(rule.nonResourceURLs ?? [])].join(',');
        const text = `${shownObject(role)}: ${rule.verbs.join(',')} on ${on} is not held by the operator`;
        return finding(PROVIDER_RULES.heldRights, '', text);
      });
  });
}

/** Every single right of it is part of some rule that is held. */
function isHeld(rule: PolicyRule, held: readonly PolicyRule[]): boolean {
  const { verbs, apiGroups = [], resources = [], nonResourceURLs = [] } = rule;
  const areUrlsHeld = nonResourceURLs.every((url) =>
    verbs.every((verb) => held.some((one) => has(one.nonResourceURLs, url) && has(one.verbs, verb))),
  );
  const isIn = (one: PolicyRule, group: string, resource: string, verb: string) =>
    has(one.apiGroups, group) && has(one.resources, resource) && has(one.verbs, verb) && hasNames(one, rule);
  return (
    areUrlsHeld &&
    apiGroups.every((group) =>
      resources.every((resource) => verbs.every((verb) => held.some((one) => isIn(one, group, resource, verb)))),
    )
  );
}

const has = (words: readonly string[] | undefined, word: string): boolean =>
  words?.some((one) => one === word || one === '*') === true;

/** Whether the names that are held are those of the rule, and more. */
const hasNames = ({ resourceNames: held = [] }: PolicyRule, { resourceNames: wanted = [] }: PolicyRule): boolean =>
  held.length === 0 || (wanted.length > 0 && wanted.every((name) => held.includes(name)));
