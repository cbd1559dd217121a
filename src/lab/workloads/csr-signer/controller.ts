import { CertificateSigningRequest } from '../../../api/generated/certificates-v1.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { type CsrSignerOptions, CsrSignerReconciler } from './reconcile.ts';

/** Stands in for the controller of Kubernetes that signs what somebody approved (W40). It approves nothing. */
export const csrSignerController = (options: CsrSignerOptions): Controller =>
  controllerFor(CertificateSigningRequest, { name: 'csr-signer' })
    .needs(needs(CertificateSigningRequest, ['update'], { subresource: 'status' }))
    .reconcile(new CsrSignerReconciler(options));
