import type { AuthHeaders } from './cluster-access.ts';

/** Whom to act as; the server checks that the real user may. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  /** Keys of the API's `extra`, such as `scopes.authorization.openshift.io`. */
  readonly extra?: ReadonlyMap<string, readonly string[]>;
}

/** The bytes that a header name may hold as they are; `%` is not one, because it begins an escape. */
const PLAIN = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;

/** A key of `extra` as part of a header name: every other byte of its UTF-8 as `%XX`, undone by the server. */
export function escapedHeaderKey(key: string): string {
  return [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return PLAIN.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/** Node writes one byte per character: UTF-8 has to be spelled out. */
const wireText = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** The headers that ask the server to act as another user. The server compares keys of `extra` in lower case. */
export function impersonationHeaders({ user, uid, groups = [], extra = new Map() }: Impersonation): AuthHeaders {
  const headers = new Map<string, string | readonly string[]>([['impersonate-user', wireText(user)]]);
  if (uid !== undefined) headers.set('impersonate-uid', wireText(uid));
  if (groups.length > 0) headers.set('impersonate-group', groups.map(wireText));
  for (const [key, values] of extra) {
    if (values.length > 0)
      headers.set(`impersonate-extra-${escapedHeaderKey(key)}`.toLowerCase(), values.map(wireText));
  }
  return Object.fromEntries(headers);
}

/** Why a text cannot be the value of a header; undefined when it can. */
export const headerProblem = (text: string): string | undefined =>
  /\p{Cc}/u.test(text.replaceAll('\t', '')) ? 'holds a control character, which a header cannot carry' : undefined;
