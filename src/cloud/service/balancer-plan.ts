import { createHash } from 'node:crypto';
import type { Service, ServicePort } from '../../api/generated/core-v1.ts';
import { userError } from '../../base/errors.ts';
import type { Tags } from '../../sdk/capabilities/call.ts';
import type {
  Backend,
  BalancerPlan,
  BalancerPort,
  BalancerRef,
  BalancerScope,
} from '../../sdk/capabilities/load-balancers.ts';
import type { TagRules } from '../../sdk/provider/provider-definition.ts';
import { sourceRanges } from './source-ranges.ts';

/** `internal`: only the network of the cluster reaches the balancer. `public`, or nothing: everybody does. */
export const SCOPE_ANNOTATION = 'slipway.dev/load-balancer-scope';
/** On the balancer, so that people see in the cloud whose it is. */
const SERVICE_TAG = 'kubernetes.io/service-name';

// What an API server fills in; a Service from an older one may be without it.
const AFFINITY_SECONDS = 10_800;
const LONGEST_NAME = 32;
const HEALTH_PATH = '/healthz';

/** Whose balancers they are. */
export interface BalancerOwner {
  readonly cluster: string;
  readonly clusterTags: Tags;
  readonly tagRules: TagRules;
}

/** Stable for the life of a Service, and what upstream clouds use (I5). */
export const balancerName = (uid: string): string => `a${uid.replaceAll('-', '')}`.slice(0, LONGEST_NAME);

/** Which balancer is that of the Service: all that is needed to find or remove it, whatever its spec says now. */
export function balancerRef(
  { metadata }: Service,
  { cluster, clusterTags, tagRules }: BalancerOwner,
): BalancerRef {
  const { namespace = '', name, uid = '', annotations = {} } = metadata;
  return {
    name: balancerName(uid),
    cluster,
    service: { namespace, name, uid },
    tags: { ...tagThatFits(SERVICE_TAG, `${namespace}/${name}`, tagRules), ...clusterTags },
    annotations,
  };
}

/**
 * What the balancer of a Service must be. Throws a userError when the Service does not say it in a way that can be
 * understood. The token is the same for the same plan: a repetition after a crash asks for nothing new.
 */
export function balancerPlan(service: Service, backends: readonly Backend[], owner: BalancerOwner): BalancerPlan {
  const { spec } = service;
  const { externalTrafficPolicy = 'Cluster', loadBalancerIP = '', ports = [] } = spec;
  const ref = balancerRef(service, owner);
  const healthCheck = healthCheckOf(service);
  const affinitySeconds = affinityOf(service);
  const plan = {
    ...ref,
    logicalName: ref.name,
    ports: ports.map(planPort),
    sourceRanges: sourceRanges(service),
    scope: scopeOf(service),
    ...(affinitySeconds !== undefined && { affinitySeconds }),
    externalTrafficPolicy,
    ...(healthCheck !== undefined && { healthCheck }),
    ipFamilies: familiesOf(service),
    ...(loadBalancerIP !== '' && { requestedAddress: loadBalancerIP }),
    backends,
  };
  return { ...plan, idempotencyToken: `${ref.service.uid}-${digest(plan)}` };
}

/** Where nodes say whether they have endpoints of the Service: only asked where others must get nothing (S30). */
function healthCheckOf({ spec }: Service): BalancerPlan['healthCheck'] {
  const { type, externalTrafficPolicy, healthCheckNodePort = 0 } = spec;
  const isNeeded = type === 'LoadBalancer' && externalTrafficPolicy === 'Local' && healthCheckNodePort !== 0;
  return isNeeded ? { path: HEALTH_PATH, port: healthCheckNodePort } : undefined;
}

function scopeOf({ metadata }: Service): BalancerScope {
  const scope = metadata.annotations?.[SCOPE_ANNOTATION] ?? 'public';
  if (scope === 'public' || scope === 'internal') return scope;
  const field = `metadata.annotations[${SCOPE_ANNOTATION}]`;
  throw userError('InvalidScope', `${field} must be public or internal, not ${JSON.stringify(scope)}`);
}

const affinityOf = ({ spec }: Service): number | undefined =>
  spec.sessionAffinity === 'ClientIP'
    ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_SECONDS)
    : undefined;

function familiesOf({ spec }: Service): BalancerPlan['ipFamilies'] {
  const families = (spec.ipFamilies ?? []).filter((family) => family !== '');
  return families.length === 0 ? ['IPv4'] : families;
}

const planPort = ({
  name = '',
  protocol = 'TCP',
  port,
  nodePort = 0,
  appProtocol,
}: ServicePort): BalancerPort => ({
  ...(name !== '' && { name }),
  protocol,
  port,
  nodePort,
  ...(appProtocol !== undefined && { appProtocol }),
});

/** A tag for people is left out where the cloud does not take it; nothing is found by it. */
function tagThatFits(key: string, value: string, { maxKey, maxValue, allowed }: TagRules): Tags {
  const isShort = key.length <= (maxKey ?? Infinity) && value.length <= (maxValue ?? Infinity);
  const isAllowed = allowed === undefined || [key, value].every((text) => text.search(allowed) >= 0);
  return isShort && isAllowed ? { [key]: value } : {};
}

/** Short enough for the tokens of clouds together with a uid, and no two plans of one Service have the same. */
const digest = (plan: object): string =>
  createHash('sha256').update(JSON.stringify(plan, sortedKeys)).digest('hex').slice(0, 16);

/** Annotations come in any order. */
const sortedKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
