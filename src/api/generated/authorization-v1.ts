// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './authorization-v1-types.ts';

export type * from './authorization-v1-types.ts';

export type LocalSubjectAccessReview = types.LocalSubjectAccessReview;
export const LocalSubjectAccessReview: Kind<LocalSubjectAccessReview, CreateOf<LocalSubjectAccessReview>> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  scope: 'Namespaced',
};

export type SelfSubjectAccessReview = types.SelfSubjectAccessReview;
export const SelfSubjectAccessReview: Kind<SelfSubjectAccessReview, CreateOf<SelfSubjectAccessReview, 'metadata'>> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  scope: 'Cluster',
};

export type SelfSubjectRulesReview = types.SelfSubjectRulesReview;
export const SelfSubjectRulesReview: Kind<SelfSubjectRulesReview, CreateOf<SelfSubjectRulesReview, 'metadata'>> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
};

export type SubjectAccessReview = types.SubjectAccessReview;
export const SubjectAccessReview: Kind<SubjectAccessReview, CreateOf<SubjectAccessReview, 'metadata'>> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
};
