import { X509Certificate } from 'node:crypto';
import {
  CertificateSigningRequest,
  type CertificateSigningRequestStatus,
} from '../../../api/generated/certificates-v1.ts';
import { time } from '../../../api/time.ts';
import { SlipwayError, terminalError } from '../../../base/errors.ts';
import { DONE, type ReconcileContext, type Reconciler, type Result } from '../../../kube/controller/reconcile.ts';
import type { CertificateAuthority } from '../../../pki/certificate-authority.ts';
import { type ParsedRequest, parseSigningRequest } from '../../../pki/parsed-request.ts';
import { writeStatus } from '../pods/status-write.ts';
import { type CertificateDates, certificateLifetime } from './certificate-lifetime.ts';
import { isKnownSigner, signerProblem } from './signer-rules.ts';

export interface CsrSignerOptions {
  /** Of the cluster. */
  readonly authority: Pick<CertificateAuthority, 'certify' | 'certificatePem'>;
  /** See `CertificateDates`; from lab time on unless told otherwise. */
  readonly certificates?: CertificateDates;
}

/** Signs requests that somebody approved, or says why it does not (W40). */
export class CsrSignerReconciler implements Reconciler<CertificateSigningRequest> {
  readonly #options: CsrSignerOptions;

  constructor(options: CsrSignerOptions) {
    this.#options = options;
  }

  async reconcile(request: CertificateSigningRequest, context: ReconcileContext): Promise<Result> {
    if (!isToBeSigned(request)) return DONE;
    const status = this.#status(request, context.now());
    await writeStatus(context, CertificateSigningRequest, request, { status });
    return DONE;
  }

  #status(request: CertificateSigningRequest, now: Date): CertificateSigningRequestStatus {
    const checked = checkedRequest(request);
    if (typeof checked === 'string') return failed(request, checked, now);
    const certificate = Buffer.from(this.#certificate(request, checked, now)).toString('base64');
    return { ...request.status, certificate };
  }

  #certificate({ spec }: CertificateSigningRequest, asked: ParsedRequest, now: Date): string {
    const { authority, certificates: dates } = this.#options;
    const { usages = [], expirationSeconds } = spec;
    const authorityEnds = new X509Certificate(authority.certificatePem).validToDate;
    const lifetime = certificateLifetime({ now, expirationSeconds, authorityEnds, dates });
    if (lifetime.validityMs <= 0) {
      const ended = `the authority of the cluster ended at ${time(authorityEnds)}`;
      throw terminalError('AuthorityExpired', `${ended}, so that it cannot sign; start the cluster anew`);
    }
    const { publicKey, subject, names } = asked;
    return authority.certify({
      publicKey,
      subject,
      ...(names !== undefined && { names }),
      purposes: [
        ...(usages.includes('client auth') ? (['clientAuth'] as const) : []),
        ...(usages.includes('server auth') ? (['serverAuth'] as const) : []),
      ],
      mayEncipherKeys: usages.includes('key encipherment'),
      ...lifetime,
    });
  }
}

function isToBeSigned({ spec, status }: CertificateSigningRequest): boolean {
  const has = (type: string) =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  const isSigned = (status?.certificate ?? '') !== '';
  return isKnownSigner(spec.signerName) && has('Approved') && !has('Denied') && !has('Failed') && !isSigned;
}

/** What is asked for, or why it is refused. */
function checkedRequest({ spec }: CertificateSigningRequest): ParsedRequest | string {
  const { signerName, usages = [] } = spec;
  try {
    const request = parseSigningRequest(Buffer.from(spec.request, 'base64').toString('utf8'));
    return signerProblem(signerName, request, usages) ?? request;
  } catch (error) {
    // Nothing makes a broken request whole: whoever waits for the certificate should know.
    if (error instanceof SlipwayError && error.disposition === 'user') return error.message;
    throw error;
  }
}

function failed(
  { spec, status }: CertificateSigningRequest,
  problem: string,
  now: Date,
): CertificateSigningRequestStatus {
  const message = `${spec.signerName} does not sign this: ${problem}`;
  const said = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message } as const;
  const when = time(now);
  return {
    ...status,
    conditions: [...(status?.conditions ?? []), { ...said, lastUpdateTime: when, lastTransitionTime: when }],
  };
}
