// Written by scripts/generate-kinds.ts; `npm run generate` writes it anew.

import type { CreateOf, Kind } from '../object.ts';
import type * as types from './certificates-v1-types.ts';

export type * from './certificates-v1-types.ts';

export type CertificateSigningRequest = types.CertificateSigningRequest;
export const CertificateSigningRequest: Kind<CertificateSigningRequest, CreateOf<CertificateSigningRequest>> = {
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  scope: 'Cluster',
};
