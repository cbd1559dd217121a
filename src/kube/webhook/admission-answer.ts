import type { JsonObject } from '../../api/json.ts';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { redactedText } from '../../base/redaction.ts';
import { ApiError } from '../client/api-error.ts';
import { type AdmissionRequest, admissionRequest, readReview, textAt } from './admission-request.ts';
import { refusal, responseOf } from './admission-result.ts';
import type { AdmissionContext, AdmissionHandler } from './typed-webhooks.ts';

const ADMISSION_VERSIONS: readonly string[] = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'];
const [NEWEST = ''] = ADMISSION_VERSIONS;

/** Warnings as the API server passes them on: shorter ones whole, and not without end. */
const MOST_WARNINGS = 20;

export interface AnswerServices {
  readonly log: Log;
  readonly signal: AbortSignal;
  /** A handler threw something that it did not mean as an answer (W3). */
  panicked(): void;
}

/** The AdmissionReview that answers a body. Never rejects: whatever happens is an answer with HTTP status 200 (W3). */
export async function admissionAnswer(
  body: Uint8Array,
  handler: AdmissionHandler,
  services: AnswerServices,
): Promise<JsonObject> {
  let apiVersion = NEWEST;
  let uid = '';
  try {
    const review = readReview(body, 'AdmissionReview', ADMISSION_VERSIONS);
    apiVersion = review.apiVersion;
    uid = textAt(review.request, 'uid');
    return reviewAnswer(apiVersion, uid, await judged(admissionRequest(review.request), handler, services));
  } catch (error) {
    return refusedReview(messageOf(error), { apiVersion, uid });
  }
}

/** The answer to what cannot be asked. */
export function refusedReview(
  message: string,
  { apiVersion = NEWEST, uid = '', code = 400, reason = 'BadRequest' } = {},
): JsonObject {
  return reviewAnswer(apiVersion, uid, refusal({ message, reason, code }));
}

const reviewAnswer = (apiVersion: string, uid: string, response: JsonObject): JsonObject => ({
  kind: 'AdmissionReview',
  apiVersion,
  response: { uid, ...response },
});

async function judged(
  request: AdmissionRequest,
  handler: AdmissionHandler,
  services: AnswerServices,
): Promise<JsonObject> {
  const warnings: string[] = [];
  const context: AdmissionContext = {
    request,
    log: services.log,
    signal: services.signal,
    warn: (text) => void (warnings.length < MOST_WARNINGS && warnings.push(text)),
  };
  const response = await decided(request, handler, context, services);
  return { ...response, ...(warnings.length > 0 && { warnings }) };
}

async function decided(
  request: AdmissionRequest,
  handler: AdmissionHandler,
  context: AdmissionContext,
  services: AnswerServices,
): Promise<JsonObject> {
  try {
    return responseOf(await inTime(handler(request, context), services.signal), request);
  } catch (error) {
    if (error instanceof ApiError) return refusal(apiStatus(error));
    if (error instanceof TookTooLong) return refusal({ message: error.message, reason: 'Timeout', code: 504 });
    services.panicked();
    const { operation, kind, namespace, name } = request;
    services.log.error({ err: error, operation, kind: kind.kind, namespace, name }, 'admission handler failed');
    const message = `the webhook failed: ${redactedText(messageOf(error))}`;
    return refusal({ message, reason: 'InternalError', code: 500 });
  }
}

const apiStatus = ({ code, reason, message, details }: ApiError): JsonObject => {
  const { causes = [] } = details;
  return {
    message,
    reason,
    code,
    ...(causes.length > 0 && { details: { causes: causes.map((cause) => ({ ...cause })) } }),
  };
};

class TookTooLong extends SlipwayError {
  constructor() {
    super('retry', 'Timeout', 'the webhook had no answer in the time that the API server gave it');
  }
}

/** The API server does not wait longer; a handler that does not heed its signal is left alone. */
export async function inTime<T>(answer: Promise<T> | T, signal: AbortSignal): Promise<T> {
  if (!(answer instanceof Promise)) return answer;
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new TookTooLong());
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
