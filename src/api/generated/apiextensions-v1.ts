// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './apiextensions-v1-types.ts';

export type * from './apiextensions-v1-types.ts';

export type CustomResourceDefinition = types.CustomResourceDefinition;
export const CustomResourceDefinition: Kind<CustomResourceDefinition, CreateOf<CustomResourceDefinition>> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  scope: 'Cluster',
};
