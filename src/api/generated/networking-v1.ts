// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './networking-v1-types.ts';

export type * from './networking-v1-types.ts';

export type IngressClass = types.IngressClass;
export const IngressClass: Kind<IngressClass, CreateOf<IngressClass, 'spec'>> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  scope: 'Cluster',
};

export type Ingress = types.Ingress;
export const Ingress: Kind<Ingress, CreateOf<Ingress, 'spec'>> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  scope: 'Namespaced',
};

export type IPAddress = types.IPAddress;
export const IPAddress: Kind<IPAddress, CreateOf<IPAddress>> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  scope: 'Cluster',
};

export type NetworkPolicy = types.NetworkPolicy;
export const NetworkPolicy: Kind<NetworkPolicy, CreateOf<NetworkPolicy, 'spec'>> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  scope: 'Namespaced',
};

export type ServiceCIDR = types.ServiceCIDR;
export const ServiceCIDR: Kind<ServiceCIDR, CreateOf<ServiceCIDR, 'spec'>> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  scope: 'Cluster',
};
