import { isDeepStrictEqual } from 'node:util';
import type { Service, ServicePort } from '../../api/generated/core-v1.ts';

/** Holds a Service back until its load balancer is gone. Everybody who balances for the default class uses this one. */
export const BALANCER_FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

/** The Service asks for a load balancer of the cloud: a class means that somebody else makes it (S1). */
export const wantsBalancer = ({ spec }: Service): boolean =>
  spec.type === 'LoadBalancer' && spec.loadBalancerClass === undefined;

export const hasBalancerFinalizer = ({ metadata }: Service): boolean =>
  metadata.finalizers?.includes(BALANCER_FINALIZER) === true;

export const isBeingDeleted = ({ metadata }: Service): boolean => metadata.deletionTimestamp !== undefined;

/** There may be a load balancer that nobody wants any more (S1). */
export const needsCleanup = (service: Service): boolean =>
  hasBalancerFinalizer(service) && (isBeingDeleted(service) || service.spec.type !== 'LoadBalancer');

/**
 * Nobody wrote down that an ensure ended: a process that is gone may have left parts of a balancer that are not found as
 * one (I2). With a class they would be somebody else's.
 */
export const mayBeUnfinished = (service: Service): boolean =>
  hasBalancerFinalizer(service) &&
  service.spec.loadBalancerClass === undefined &&
  (service.status?.loadBalancer?.ingress ?? []).length === 0;

/** A Service that was not known before is work (S2). */
export const isWorkWhenAdded = (service: Service): boolean => wantsBalancer(service) || needsCleanup(service);

/** A new state of a Service is work (S2). One that is only told again is not, unless it has to be cleaned up (S4). */
export const isWorkWhenUpdated = (old: Service, now: Service): boolean =>
  needsUpdate(old, now) || needsCleanup(now);

/** What a load balancer is made from differs (S3). Labels, the selector and the status are nothing of that. */
export function needsUpdate(old: Service, now: Service): boolean {
  const [did, does] = [wantsBalancer(old), wantsBalancer(now)];
  if (!did && !does) return false;
  return did !== does || !isDeepStrictEqual(decisive(old), decisive(now));
}

function decisive({ metadata, spec }: Service): readonly unknown[] {
  return [
    metadata.uid,
    metadata.annotations ?? {},
    spec.loadBalancerSourceRanges ?? [],
    (spec.ports ?? []).map(decisiveOfPort),
    spec.sessionAffinity,
    spec.sessionAffinityConfig,
    spec.loadBalancerIP ?? '',
    spec.externalIPs ?? [],
    spec.externalTrafficPolicy,
    spec.healthCheckNodePort ?? 0,
    // The families of a Service may only be added to or taken from its end.
    spec.ipFamilies?.length ?? 0,
  ];
}

const decisiveOfPort = (port: ServicePort): readonly unknown[] => [
  port.name ?? '',
  port.protocol,
  port.port,
  port.nodePort ?? 0,
  port.targetPort,
  port.appProtocol,
];
