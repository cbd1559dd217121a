import type { PeerCertificate } from 'node:tls';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import { NetworkError } from '../client/api-error.ts';

interface FailureContext {
  /** `host:port` as the user configured it. */
  readonly host: string;
  readonly mayHaveHappened: boolean;
  /** What the server showed, when TLS was the trouble. */
  readonly certificate?: PeerCertificate | undefined;
}

/**
 * A `NetworkError` that says which peer failed and how. What is foreseen already (`SlipwayError`) stays as it is, so
 * that translating twice does no harm.
 */
export function networkFailure(thrown: unknown, context: FailureContext): SlipwayError {
  if (thrown instanceof SlipwayError) return thrown;
  const cause = rootCause(thrown);
  const { host, certificate, mayHaveHappened } = context;
  const say = SENTENCES[codeOf(cause)] ?? tlsSentence(codeOf(cause)) ?? otherSentence;
  return new NetworkError(say(host, { cause, certificate }), { mayHaveHappened, cause: thrown });
}

/** The code that Node gives to errors of the system and of TLS; empty when there is none. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';

/** With several addresses Node tries each and reports all failures; the first is about the preferred address. */
function rootCause(thrown: unknown): unknown {
  return thrown instanceof AggregateError && thrown.errors.length > 0 ? thrown.errors[0] : thrown;
}

/**
 * Whether asking again soon may help: not when time ran out (that was the caller's limit), the name is unknown or a
 * certificate is wrong (only somebody's work helps, and he wants to know at once).
 */
export function isPassing({ cause }: Pick<NetworkError, 'cause'>): boolean {
  const root = rootCause(cause);
  return !isTimeout(root) && codeOf(root) !== 'ENOTFOUND' && !isCertificateProblem({ cause });
}

/** The server showed a certificate that is not to be trusted: only a change of the configuration, or a new one, helps. */
export const isCertificateProblem = ({ cause }: Pick<NetworkError, 'cause'>): boolean =>
  CERTIFICATE_SENTENCES.has(SENTENCES[codeOf(rootCause(cause))]);

/** The cause of a failure for lack of time. */
export const timeout = (): Error => new DOMException('too late', 'TimeoutError');

const isTimeout = (thrown: unknown): boolean => thrown instanceof DOMException && thrown.name === 'TimeoutError';

interface Found {
  readonly cause: unknown;
  readonly certificate: PeerCertificate | undefined;
}
type Sentence = (host: string, found: Found) => string;

const refused: Sentence = (host) => `connection to ${host} was refused; is the API server running there?`;
const reset: Sentence = (host) => `connection to ${host} was reset by the other side or something in between`;
const unreachable: Sentence = (host, { cause }) => `${host} cannot be reached: ${messageOf(cause)}`;
const unknownName: Sentence = (host) => `the name of ${host} does not resolve: there is no such name in DNS`;
const noNameServer: Sentence = (host) => `the name of ${host} does not resolve: no name server answers`;
const unknownAuthority: Sentence = (host, { certificate, cause }) =>
  `${shown(host, certificate)} is signed by an authority that is not trusted (${codeOf(cause)}); ` +
  'check certificate-authority of the cluster';
const expired: Sentence = (host, { certificate }) =>
  `${shown(host, certificate)} expired${at(certificate?.valid_to)}; renew it, or check the clock of this machine`;
const notYetValid: Sentence = (host, { certificate }) =>
  `${shown(host, certificate)} is not valid before${at(certificate?.valid_from)}; check the clock of this machine`;
const otherName: Sentence = (host, { certificate, cause }) =>
  `${shown(host, certificate)} is for another name (${messageOf(cause)}); check server and tls-server-name of the cluster`;
const otherSentence: Sentence = (host, { cause }) => `connection to ${host} failed: ${messageOf(cause)}`;

const SENTENCES: Readonly<Record<string, Sentence | undefined>> = {
  __proto__: null as never,
  ECONNREFUSED: refused,
  ECONNRESET: reset,
  ECONNABORTED: reset,
  EPIPE: reset,
  ERR_STREAM_PREMATURE_CLOSE: reset,
  ERR_HTTP2_STREAM_CANCEL: reset,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ENOTFOUND: unknownName,
  EAI_AGAIN: noNameServer,
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: notYetValid,
  ERR_TLS_CERT_ALTNAME_INVALID: otherName,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_SIGNATURE_FAILURE: unknownAuthority,
};

const CERTIFICATE_SENTENCES = new Set<Sentence | undefined>([unknownAuthority, expired, notYetValid, otherName]);

/** OpenSSL has hundreds of codes; those of the handshake share a beginning. */
function tlsSentence(code: string): Sentence | undefined {
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return (host) => `${host} does not speak TLS; is the server an http:// one?`;
  }
  if (/^ERR_SSL_.*ALERT.*CERT/.test(code)) {
    return (host, { cause }) => `${host} refused the client certificate (${messageOf(cause)})`;
  }
  if (!code.startsWith('ERR_SSL_') && code !== 'EPROTO') return undefined;
  return (host, { cause }) => `TLS with ${host} failed: ${messageOf(cause)}`;
}

const shown = (host: string, certificate: PeerCertificate | undefined): string =>
  `the certificate of ${host}${certificate === undefined ? '' : ` (CN=${nameOf(certificate)})`}`;

/** A subject without a common name is allowed; a subject with several gives a list. */
function nameOf({ subject }: PeerCertificate): string {
  const name: unknown = subject?.CN;
  return Array.isArray(name) ? name.join(', ') : typeof name === 'string' ? name : '';
}

function at(date: string | undefined): string {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? '' : ` ${new Date(ms).toISOString()}`;
}
