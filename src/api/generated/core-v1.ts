// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './core-v1-types.ts';

export type * from './core-v1-types.ts';

export type Binding = types.Binding;
export const Binding: Kind<Binding, CreateOf<Binding>> = {
  group: '',
  version: 'v1',
  kind: 'Binding',
  plural: 'bindings',
  scope: 'Namespaced',
};

export type ComponentStatus = types.ComponentStatus;
export const ComponentStatus: Kind<ComponentStatus, CreateOf<ComponentStatus, 'metadata'>> = {
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  scope: 'Cluster',
};

export type ConfigMap = types.ConfigMap;
export const ConfigMap: Kind<ConfigMap, CreateOf<ConfigMap>> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
};

export type Endpoints = types.Endpoints;
export const Endpoints: Kind<Endpoints, CreateOf<Endpoints>> = {
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  scope: 'Namespaced',
};

export type Event = types.Event;
export const Event: Kind<Event, CreateOf<Event>> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
};

export type LimitRange = types.LimitRange;
export const LimitRange: Kind<LimitRange, CreateOf<LimitRange, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  plural: 'limitranges',
  scope: 'Namespaced',
};

export type Namespace = types.Namespace;
export const Namespace: Kind<Namespace, CreateOf<Namespace, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
};

export type Node = types.Node;
export const Node: Kind<Node, CreateOf<Node, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  scope: 'Cluster',
};

export type PersistentVolumeClaim = types.PersistentVolumeClaim;
export const PersistentVolumeClaim: Kind<PersistentVolumeClaim, CreateOf<PersistentVolumeClaim, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  scope: 'Namespaced',
};

export type PersistentVolume = types.PersistentVolume;
export const PersistentVolume: Kind<PersistentVolume, CreateOf<PersistentVolume, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  scope: 'Cluster',
};

export type Pod = types.Pod;
export const Pod: Kind<Pod, CreateOf<Pod, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  scope: 'Namespaced',
};

export type PodTemplate = types.PodTemplate;
export const PodTemplate: Kind<PodTemplate, CreateOf<PodTemplate>> = {
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  scope: 'Namespaced',
};

export type ReplicationController = types.ReplicationController;
export const ReplicationController: Kind<ReplicationController, CreateOf<ReplicationController, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'ReplicationController',
  plural: 'replicationcontrollers',
  scope: 'Namespaced',
};

export type ResourceQuota = types.ResourceQuota;
export const ResourceQuota: Kind<ResourceQuota, CreateOf<ResourceQuota, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  scope: 'Namespaced',
};

export type Secret = types.Secret;
export const Secret: Kind<Secret, CreateOf<Secret>> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
};

export type ServiceAccount = types.ServiceAccount;
export const ServiceAccount: Kind<ServiceAccount, CreateOf<ServiceAccount>> = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
};

export type Service = types.Service;
export const Service: Kind<Service, CreateOf<Service, 'spec'>> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  scope: 'Namespaced',
};
