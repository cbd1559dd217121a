// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './apps-v1-types.ts';

export type * from './apps-v1-types.ts';

export type ControllerRevision = types.ControllerRevision;
export const ControllerRevision: Kind<ControllerRevision, CreateOf<ControllerRevision>> = {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
};

export type DaemonSet = types.DaemonSet;
export const DaemonSet: Kind<DaemonSet, CreateOf<DaemonSet, 'spec'>> = {
  group: 'apps',
  version: 'v1',
  kind: 'DaemonSet',
  plural: 'daemonsets',
  scope: 'Namespaced',
};

export type Deployment = types.Deployment;
export const Deployment: Kind<Deployment, CreateOf<Deployment, 'spec'>> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
};

export type ReplicaSet = types.ReplicaSet;
export const ReplicaSet: Kind<ReplicaSet, CreateOf<ReplicaSet, 'spec'>> = {
  group: 'apps',
  version: 'v1',
  kind: 'ReplicaSet',
  plural: 'replicasets',
  scope: 'Namespaced',
};

export type StatefulSet = types.StatefulSet;
export const StatefulSet: Kind<StatefulSet, CreateOf<StatefulSet, 'spec'>> = {
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  plural: 'statefulsets',
  scope: 'Namespaced',
};
