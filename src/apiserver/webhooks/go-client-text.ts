import { isIP } from 'node:net';
import type { DetailedPeerCertificate } from 'node:tls';

// What upstream's Go client says when a webhook cannot be asked. Scripts and people search for these sentences (V5).

const UNTRUSTED = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'CERT_SIGNATURE_FAILURE',
]);

const DIAL: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address',
};

const LOOKUP: Readonly<Record<string, string>> = { ENOTFOUND: 'no such host', EAI_AGAIN: 'server misbehaving' };

const BROKEN: Readonly<Record<string, string>> = {
  ECONNRESET: 'read: connection reset by peer',
  EPIPE: 'write: broken pipe',
};

interface Failure extends Error {
  readonly code?: unknown;
  readonly address?: unknown;
  readonly port?: unknown;
  readonly hostname?: unknown;
  readonly host?: unknown;
  readonly cert?: Partial<DetailedPeerCertificate>;
  readonly errors?: readonly unknown[];
}

/** `Post "https://…": …` for an error of Node's HTTPS client. */
export const postText = (url: string, error: Error): string => `Post "${url}": ${transportText(error)}`;

function transportText(error: Error): string {
  const failure: Failure = error;
  const [first] = failure.errors ?? [];
  // Several addresses were tried; Go names the first.
  if (first instanceof Error) return transportText(first);
  const code = typeof failure.code === 'string' ? failure.code : '';
  const dial = DIAL[code];
  if (dial !== undefined) return `dial tcp ${addressText(failure)}: connect: ${dial}`;
  if (failure.name === 'TimeoutError' || failure.name === 'AbortError') return 'context deadline exceeded';
  const lookup = LOOKUP[code];
  if (lookup !== undefined) return `dial tcp: lookup ${String(failure.hostname)}: ${lookup}`;
  if (failure.message === 'socket hang up') return 'EOF';
  return BROKEN[code] ?? tlsText(failure, code) ?? failure.message;
}

function addressText({ address, port }: Failure): string {
  const host = String(address);
  return `${isIP(host) === 6 ? `[${host}]` : host}:${String(port)}`;
}

function tlsText(failure: Failure, code: string): string | undefined {
  const why = 'tls: failed to verify certificate: x509:';
  if (UNTRUSTED.has(code)) return `${why} certificate signed by unknown authority`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return `${why} certificate has expired or is not yet valid`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${why} ${nameText(failure)}`;
  // What is not TLS at all looks like a record of an impossible version.
  const isPlain = failure.message.includes('wrong version number') || failure.message.includes('packet length');
  return isPlain ? 'http: server gave HTTP response to HTTPS client' : undefined;
}

function nameText({ host, cert }: Failure): string {
  const wanted = String(host);
  const names = (cert?.subjectaltname ?? '').split(', ').filter((name) => name !== '');
  const addresses = names.flatMap((name) => (name.startsWith('IP Address:') ? [name.slice(11)] : []));
  const hosts = names.flatMap((name) => (name.startsWith('DNS:') ? [name.slice(4)] : []));
  if (isIP(wanted) !== 0 && addresses.length === 0) {
    return `cannot validate certificate for ${wanted} because it doesn't contain any IP SANs`;
  }
  const valid = isIP(wanted) === 0 ? hosts : addresses;
  if (valid.length === 0) return `certificate is not valid for any names, but wanted to match ${wanted}`;
  return `certificate is valid for ${valid.join(', ')}, not ${wanted}`;
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  410: 'the server could not find the requested resource',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** These carry the text of the server as it is. */
const SPOKEN = new Set([403, 406, 415]);

/** What a status other than success means, given the text of the answer. */
export function statusText(status: number, text: string): string {
  const known = STATUSES[status];
  if (known !== undefined) return known;
  if (SPOKEN.has(status)) return text;
  return status >= 500
    ? `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}
