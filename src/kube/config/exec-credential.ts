import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { isDateTime } from '../../object/validation/formats-time.ts';
import type { ClientCertificate } from './cluster-access.ts';
import { bearer, tokenProblem } from './credential-parts.ts';
import { certificateExpiry, clientCertificateProblems } from './pem.ts';

export const EXEC_API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;
export type ExecApiVersion = (typeof EXEC_API_VERSIONS)[number];

/** What a plugin gave. */
export interface ExecCredential {
  readonly authorization?: string;
  readonly certificate?: ClientCertificate;
  /** When the first part of it ends; undefined: never as far as we know. */
  readonly expiresAt?: Date;
}

export interface ExecInfo {
  readonly apiVersion: ExecApiVersion;
  readonly isInteractive: boolean;
  /** `spec.cluster`, when the kubeconfig says `provideClusterInfo`. */
  readonly cluster?: JsonObject;
}

/** The value of `KUBERNETES_EXEC_INFO`. */
export function execInfoText({ apiVersion, isInteractive, cluster }: ExecInfo): string {
  const spec = { ...(cluster !== undefined && { cluster }), interactive: isInteractive };
  return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
}

/** Reads what a plugin printed; a text says what is wrong with it, without any of its secrets. */
export function parseExecCredential(
  stdout: string,
  apiVersion: ExecApiVersion,
  now: Date,
): ExecCredential | string {
  const printed = parsed(stdout);
  if (!isJsonObject(printed)) return `printed ${shapeOf(stdout)} instead of an ExecCredential as JSON`;
  const { kind, apiVersion: version, status } = printed;
  if (kind !== 'ExecCredential') return `printed kind ${JSON.stringify(kind ?? null)} instead of "ExecCredential"`;
  if (version !== apiVersion) {
    return `printed apiVersion ${JSON.stringify(version ?? null)}, but the kubeconfig says ${apiVersion}: make them the same`;
  }
  return isJsonObject(status) ? statusCredential(status, now) : 'printed an ExecCredential without status';
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const shapeOf = (text: string): string =>
  text.trim() === '' ? 'nothing' : `${text.length} characters of other text`;

function statusCredential(status: JsonObject, now: Date): ExecCredential | string {
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
  const fields = { token, clientCertificateData, clientKeyData, expirationTimestamp };
  const wrong = Object.entries(fields).find(([, value]) => !isTextOrNothing(value));
  if (wrong !== undefined) return `printed a status.${wrong[0]} that is not text`;
  const texts = { token: textOf(token), certPem: textOf(clientCertificateData), keyPem: textOf(clientKeyData) };
  const problem = partsProblem(texts, now);
  if (problem !== undefined) return problem;
  const expiry = textOf(expirationTimestamp);
  if (expiry !== '' && !isDateTime(expiry)) return 'printed a status.expirationTimestamp that is no RFC 3339 time';
  return credentialFrom(texts, expiry);
}

const isTextOrNothing = (value: Json | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string';
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

interface Texts {
  readonly token: string;
  readonly certPem: string;
  readonly keyPem: string;
}

function partsProblem({ token, certPem, keyPem }: Texts, now: Date): string | undefined {
  if (token === '' && certPem === '' && keyPem === '') return 'printed neither a token nor a certificate';
  if ((certPem === '') !== (keyPem === '')) return 'printed only one of certificate and key; both are needed';
  const wrongToken = token === '' ? undefined : tokenProblem(token);
  if (wrongToken !== undefined) return `printed a token that cannot be used: ${wrongToken}`;
  if (certPem === '') return undefined;
  // An expired certificate is not a wrong one: the plugin is run again for it.
  const wrong = clientCertificateProblems({ certPem, keyPem }, now).find(
    ({ problem }) => !problem.includes('expired on'),
  );
  return wrong === undefined ? undefined : `printed a client ${wrong.part} that cannot be used: ${wrong.problem}`;
}

function credentialFrom({ token, certPem, keyPem }: Texts, expiry: string): ExecCredential {
  const ends = [
    expiry === '' ? undefined : new Date(expiry),
    certPem === '' ? undefined : certificateExpiry(certPem),
  ];
  const [first] = ends.filter((end) => end !== undefined).sort((a, b) => a.getTime() - b.getTime());
  return {
    ...(token !== '' && { authorization: bearer(token) }),
    ...(certPem !== '' && { certificate: { certPem, keyPem } }),
    ...(first !== undefined && { expiresAt: first }),
  };
}
