// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './authentication-v1-types.ts';

export type * from './authentication-v1-types.ts';

export type SelfSubjectReview = types.SelfSubjectReview;
export const SelfSubjectReview: Kind<SelfSubjectReview, CreateOf<SelfSubjectReview, 'metadata'>> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
};

export type TokenReview = types.TokenReview;
export const TokenReview: Kind<TokenReview, CreateOf<TokenReview, 'metadata'>> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  scope: 'Cluster',
};
