import type { KubeObject } from '../../api/object.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { semanticEqual } from '../../object/semantic-equality.ts';
import { ANY, type Defaults, isAsSaid } from './said-fields.ts';

/** How the content of a kind, which is everything but its metadata, is compared and written (R45). */
export interface ContentRule {
  isSame(required: JsonObject, existing: JsonObject): boolean;
  /** What is written in place of the members of these names; one that is undefined is taken away. */
  written(required: JsonObject, existing: JsonObject): Readonly<Record<string, Json | undefined>>;
  /** What differs and cannot be changed in place, in words. */
  unchangeable?(required: JsonObject, existing: JsonObject): string | undefined;
}

/** The same object as plain JSON, which it is. */
export const contentOf = (object: KubeObject): JsonObject => object as unknown as JsonObject;

/** `data` and `binaryData` to the key. `immutable` is left to whoever set it unless it is said: nobody can take it back. */
const CONFIG_MAP: ContentRule = {
  isSame: (required, existing) =>
    isEqual(withoutEmpty(required['data']), withoutEmpty(existing['data'])) &&
    isEqual(withoutEmpty(required['binaryData']), withoutEmpty(existing['binaryData'])) &&
    (required['immutable'] !== true || existing['immutable'] === true),
  written: ({ data, binaryData, immutable }) => ({
    data,
    binaryData,
    ...(immutable !== undefined && { immutable }),
  }),
};

const BUDGET: ContentRule = {
  isSame: (required, existing) => isEqual(required['spec'], existing['spec']),
  written: ({ spec }) => ({ spec }),
};

const ROLE: ContentRule = {
  isSame: (required, existing) => isEqual(required['rules'], existing['rules']),
  written: ({ rules }) => ({ rules }),
};

/** With an aggregation rule, another controller would overwrite the rules. */
const CLUSTER_ROLE: ContentRule = {
  isSame: (required, existing) => ROLE.isSame(required, existing) && isAbsent(existing['aggregationRule']),
  written: ({ rules }) => ({ rules, aggregationRule: undefined }),
};

const BINDING: ContentRule = {
  isSame: (required, existing) =>
    isEqual(subjectsOf(required), subjectsOf(existing)) && isEqual(roleRefOf(required), roleRefOf(existing)),
  written: (required) => ({ subjects: subjectsOf(required), roleRef: roleRefOf(required) }),
  unchangeable: (required, existing) =>
    isEqual(roleRefOf(required), roleRefOf(existing)) ? undefined : 'roleRef',
};

const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** As the server fills them in. */
function subjectsOf({ subjects }: JsonObject): Json[] {
  const list = Array.isArray(subjects) ? subjects.filter((one) => isJsonObject(one)) : [];
  return list.map(({ apiGroup, ...subject }) => {
    if (subject['kind'] === 'ServiceAccount') return subject;
    return { ...subject, apiGroup: isAbsent(apiGroup) ? RBAC_GROUP : (apiGroup ?? '') };
  });
}

const roleRefOf = ({ roleRef }: JsonObject): JsonObject => ({
  ...(isJsonObject(roleRef) && roleRef),
  apiGroup: RBAC_GROUP,
});

const matchDefaults = (path: string): Defaults => ({
  [`${path}.matchPolicy`]: 'Equivalent',
  [`${path}.resourceRules.*.scope`]: '*',
  [`${path}.excludeResourceRules.*.scope`]: '*',
});

const specRule = (defaults: Defaults): ContentRule => ({
  isSame: (required, existing) => isAsSaid(required['spec'], existing['spec'], defaults),
  written: ({ spec }) => ({ spec }),
});

const ADMISSION_POLICY = specRule({ failurePolicy: 'Fail', ...matchDefaults('matchConstraints') });
const ADMISSION_POLICY_BINDING = specRule({
  ...matchDefaults('matchResources'),
  'paramRef.parameterNotFoundAction': 'Deny',
});

/** What the server gives a Service that says nothing about it, and what it keeps for it. */
const SERVICE_DEFAULTS: Defaults = {
  type: 'ClusterIP',
  sessionAffinity: 'None',
  internalTrafficPolicy: 'Cluster',
  externalTrafficPolicy: 'Cluster',
  clusterIP: ANY,
  clusterIPs: ANY,
  ipFamilies: ANY,
  ipFamilyPolicy: ANY,
  healthCheckNodePort: ANY,
  allocateLoadBalancerNodePorts: ANY,
  'sessionAffinityConfig.clientIP.timeoutSeconds': 10_800,
  'ports.*.protocol': 'TCP',
  'ports.*.nodePort': ANY,
};
const KEPT_ADDRESSES = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];

const SERVICE: ContentRule = {
  isSame: (required, existing) =>
    isAsSaid(withTargetPorts(specOf(required)), withTargetPorts(specOf(existing)), SERVICE_DEFAULTS),
  written: (required, existing) => ({ spec: withAddresses(specOf(required), specOf(existing)) }),
};

/** None, or 0 as Go writes none: the port itself. */
function withTargetPorts(spec: JsonObject): JsonObject {
  const { ports } = spec;
  if (!Array.isArray(ports)) return spec;
  const complete = ({ targetPort, ...port }: JsonObject): JsonObject => ({
    ...port,
    targetPort: isAbsent(targetPort) || targetPort === 0 ? (port['port'] ?? 0) : (targetPort ?? 0),
  });
  return { ...spec, ports: ports.map((port) => (isJsonObject(port) ? complete(port) : port)) };
}

/** The addresses of a Service do not change as long as it has some and none are asked for. */
function withAddresses(required: JsonObject, existing: JsonObject): JsonObject {
  const hasNone = [required, existing].some((spec) => spec['type'] === 'ExternalName');
  if (hasNone || !isAbsent(required['clusterIP'])) return required;
  const kept = KEPT_ADDRESSES.flatMap((name) => {
    const value = existing[name];
    return value === undefined || !isAbsent(required[name]) ? [] : [[name, value] as const];
  });
  return { ...required, ...Object.fromEntries(kept) };
}

/** By kind; the names are those of `APPLIED_KINDS`, without the workloads. */
export const CONTENT_RULES: ReadonlyMap<string, ContentRule> = new Map([
  ['ConfigMap', CONFIG_MAP],
  ['PodDisruptionBudget', BUDGET],
  ['Role', ROLE],
  ['ClusterRole', CLUSTER_ROLE],
  ['RoleBinding', BINDING],
  ['ClusterRoleBinding', BINDING],
  ['ValidatingAdmissionPolicy', ADMISSION_POLICY],
  ['ValidatingAdmissionPolicyBinding', ADMISSION_POLICY_BINDING],
  ['Service', SERVICE],
]);

const isEqual = (one: Json | undefined, other: Json | undefined): boolean => semanticEqual(one, other);
const isAbsent = (value: Json | undefined): boolean => value === undefined || value === null || value === '';
const specOf = ({ spec }: JsonObject): JsonObject => (isJsonObject(spec) ? spec : {});
/** A server keeps no empty map. */
const withoutEmpty = (value: Json | undefined): Json | undefined =>
  isJsonObject(value) && Object.keys(value).length === 0 ? undefined : value;
