// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './flowcontrol-v1-types.ts';

export type * from './flowcontrol-v1-types.ts';

export type FlowSchema = types.FlowSchema;
export const FlowSchema: Kind<FlowSchema, CreateOf<FlowSchema, 'spec'>> = {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  scope: 'Cluster',
};

export type PriorityLevelConfiguration = types.PriorityLevelConfiguration;
export const PriorityLevelConfiguration: Kind<PriorityLevelConfiguration, CreateOf<PriorityLevelConfiguration, 'spec'>> = {
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  scope: 'Cluster',
};
