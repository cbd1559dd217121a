import type { StatusDetails } from '../../api/status.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { JsonProblem, parseJsonBytes } from '../../object/json-text.ts';
import { goKind } from '../../object/validation/go-text.ts';
import { textOf } from '../rest/object-meta.ts';
import { StatusError } from '../status.ts';

/** A webhook could not be asked, or gave no usable answer; its failure policy decides what that means (V5). */
export class CallProblem extends Error {
  override readonly name = 'CallProblem';
}

export interface Verdict {
  readonly isAllowed: boolean;
  /** Operations of a JSON patch; empty when nothing is to be changed. */
  readonly patch: readonly Json[];
  readonly warnings: readonly string[];
  /** The Status of a denial. */
  readonly status: JsonObject;
}

export interface Expected {
  readonly uid: string;
  /** `v1` or `v1beta1`, what was sent. */
  readonly version: string;
  readonly isMutating: boolean;
}

const GROUP = 'admission.k8s.io/';

const TYPES: Readonly<Record<string, readonly [string, (value: Json) => boolean]>> = {
  uid: ['types.UID', (value) => typeof value === 'string'],
  allowed: ['bool', (value) => typeof value === 'boolean'],
  status: ['v1.Status', isJsonObject],
  patch: ['[]uint8', (value) => typeof value === 'string'],
  patchType: ['v1.PatchType', (value) => typeof value === 'string'],
  auditAnnotations: ['map[string]string', isJsonObject],
  warnings: ['[]string', Array.isArray],
};

/** What a webhook decided (V4). Throws CallProblem for an answer that is none. */
export function verdictOf(answer: Json, expected: Expected): Verdict {
  const response = responseOf(answer, expected);
  const patch = patchBytes(response['patch']);
  if (expected.version === 'v1') verify(answer, response, expected, patch);
  return {
    isAllowed: response['allowed'] === true,
    patch: expected.isMutating ? operations(patch, response['patchType']) : [],
    warnings: (Array.isArray(response['warnings']) ? response['warnings'] : []).map(textOf).filter(isPrintable),
    status: isJsonObject(response['status']) ? response['status'] : {},
  };
}

const invalid = (why: string): CallProblem => new CallProblem(`received invalid webhook response: ${why}`);
const undecodable = (why: string): CallProblem => new CallProblem(`failed to call webhook: ${why}`);

function responseOf(answer: Json, { version }: Expected): JsonObject {
  const review = isJsonObject(answer) ? answer : {};
  checkKind(textOf(review['apiVersion']), textOf(review['kind']), version);
  const { response = null } = review;
  if (response === null) throw invalid('webhook response was absent');
  if (!isJsonObject(response)) throw wrongType(response, 'AdmissionReview.response', 'v1.AdmissionResponse');
  for (const [field, [type, isRight]] of Object.entries(TYPES)) {
    const value = response[field] ?? null;
    if (value !== null && !isRight(value)) throw wrongType(value, `AdmissionResponse.response.${field}`, type);
  }
  return response;
}

/** An answer that does not say what it is, is taken for what is expected, at first. */
function checkKind(apiVersion: string, kind: string, version: string): void {
  if (kind === '') return;
  const found = apiVersion.startsWith(GROUP) ? apiVersion.slice(GROUP.length) : '';
  if (kind !== 'AdmissionReview' || !['v1', 'v1beta1'].includes(found)) {
    throw undecodable(
      `no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  if (found !== version) {
    throw undecodable(`converting (${found}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`);
  }
}

const wrongType = (value: Json, field: string, type: string): CallProblem =>
  undecodable(`json: cannot unmarshal ${goKind(value)} into Go struct field ${field} of type ${type}`);

function patchBytes(value: Json | undefined): Buffer {
  const text = textOf(value);
  const bad = text.search(/[^A-Za-z0-9+/=\r\n]/);
  if (bad !== -1) throw undecodable(`illegal base64 data at input byte ${bad}`);
  return Buffer.from(text, 'base64');
}

function verify(answer: Json, response: JsonObject, { uid, isMutating }: Expected, patch: Buffer): void {
  const found = textOf(response['uid']);
  if (found !== uid) throw invalid(`expected response.uid="${uid}", got "${found}"`);
  const wanted = 'admission.k8s.io/v1, Kind=AdmissionReview';
  const review = isJsonObject(answer) ? answer : {};
  const [apiVersion, kind] = [textOf(review['apiVersion']), textOf(review['kind'])];
  if (kind === '' || apiVersion === '') {
    throw invalid(`expected webhook response of ${wanted}, got ${apiVersion || '/'}, Kind=${kind}`);
  }
  const problem = (isMutating ? mutatingProblem : validatingProblem)(response['patchType'] ?? null, patch);
  if (problem !== undefined) throw invalid(problem);
}

function mutatingProblem(patchType: Json, patch: Buffer): string | undefined {
  if (patch.length > 0 && patchType === null) return 'webhook returned response.patch but not response.patchType';
  if (patch.length === 0 && patchType !== null)
    return 'webhook returned response.patchType but not response.patch';
  return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function validatingProblem(patchType: Json, patch: Buffer): string | undefined {
  if (patch.length > 0) return 'validating webhook may not return response.patch';
  return patchType === null ? undefined : 'validating webhook may not return response.patchType';
}

function operations(patch: Buffer, patchType: Json | undefined): readonly Json[] {
  if (patch.length === 0) return [];
  const parsed = parsedPatch(patch);
  const type = textOf(patchType) || 'JSONPatch';
  if (parsed.length > 0 && type !== 'JSONPatch') throw new CallProblem(`unsupported patch type "${type}"`);
  return parsed;
}

function parsedPatch(patch: Buffer): readonly Json[] {
  const undecodablePatch = (why: string): CallProblem =>
    new CallProblem(`received undecodable patch in webhook response: ${why}`);
  try {
    const { value } = parseJsonBytes(patch);
    if (value === null) return [];
    if (Array.isArray(value)) return value;
    throw undecodablePatch(`json: cannot unmarshal ${goKind(value)} into Go value of type jsonpatch.Patch`);
  } catch (error) {
    throw error instanceof JsonProblem ? undecodablePatch(error.message) : error;
  }
}

/** A header cannot carry control characters; upstream drops such warnings. */
function isPrintable(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 32 || code === 127) return false;
  }
  return text !== '';
}

const LOWEST_CODE = 400;
const HIGHEST_CODE = 999;

/** The answer to a client whose request a webhook denied (V4). */
export function denial(name: string, status: JsonObject): StatusError {
  const deniedBy = `admission webhook "${name}" denied the request`;
  const code = Number(status['code'] ?? 0);
  const reason = textOf(status['reason']);
  const why = textOf(status['message']) || reason;
  const metadata = isJsonObject(status['metadata']) ? status['metadata'] : {};
  const continueToken = textOf(metadata['continue']);
  return new StatusError({
    code: code < LOWEST_CODE || code > HIGHEST_CODE ? LOWEST_CODE : code,
    message: why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
    ...(reason !== '' && { reason }),
    ...(isJsonObject(status['details']) && { details: detailsOf(status['details']) }),
    ...(continueToken !== '' && { continueToken }),
  });
}

function detailsOf(details: JsonObject): StatusDetails {
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isJsonObject) : [];
  const retryAfterSeconds = Number(details['retryAfterSeconds'] ?? 0);
  return {
    name: textOf(details['name']),
    group: textOf(details['group']),
    kind: textOf(details['kind']),
    uid: textOf(details['uid']),
    causes: causes.map((cause) => ({
      ...(textOf(cause['reason']) !== '' && { reason: textOf(cause['reason']) }),
      ...(textOf(cause['message']) !== '' && { message: textOf(cause['message']) }),
      ...(textOf(cause['field']) !== '' && { field: textOf(cause['field']) }),
    })),
    ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
  };
}
