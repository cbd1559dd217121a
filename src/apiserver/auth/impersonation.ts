import type { ApiRequest, UserInfo } from '../request.ts';
import type { Authorizer } from '../rest/services.ts';
import { parseRequestInfo } from '../routing/request-info.ts';
import { badRequest } from '../status.ts';
import { actualUser, IMPERSONATION_MODES, type Wanted } from './impersonation-modes.ts';

const EXTRA_PREFIX = 'impersonate-extra-';

/** The user a request is made as (Z8): the caller, or whom it may impersonate in one of the modes. */
export function impersonated(request: ApiRequest, caller: UserInfo, authorizer: Authorizer): UserInfo {
  const wanted = wantedUser(request.headers);
  if (wanted === undefined) return caller;
  const { method, path, query } = request;
  const info = parseRequestInfo(method, decoded(path), query);
  let refusal: unknown;
  for (const mode of IMPERSONATION_MODES) {
    if (!mode.applies(wanted, caller)) continue;
    const error = mode.refusal(wanted, { caller, info, authorizer });
    if (error === undefined) return actualUser(wanted, mode);
    // The most careful mode says what is missing.
    refusal ??= error;
  }
  throw refusal;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What the headers ask for; undefined when they ask for nobody. An empty name is none. */
function wantedUser(headers: ApiRequest['headers']): Wanted | undefined {
  const name = headers['impersonate-user'] ?? '';
  const wanted = {
    name,
    uid: headers['impersonate-uid'] ?? '',
    groups: listOf(headers['impersonate-group']),
    extra: extraOf(headers),
  };
  if (name !== '') return wanted;
  if (wanted.groups.length === 0 && wanted.uid === '' && wanted.extra.size === 0) return undefined;
  throw badRequest(`requested ${describe(wanted)} without impersonating a user name`);
}

// Repeated headers arrive as one text; group names hold no commas followed by blanks.
const listOf = (value: string | undefined): readonly string[] => (value === undefined ? [] : value.split(', '));

function extraOf(headers: ApiRequest['headers']): ReadonlyMap<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(EXTRA_PREFIX)) extra.set(decoded(name.slice(EXTRA_PREFIX.length)), listOf(value));
  }
  return extra;
}

/** Upstream prints its own type. */
function describe({ uid, groups, extra }: Wanted): string {
  const texts = (values: readonly string[]): string =>
    `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`;
  const members = [...extra]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${JSON.stringify(key)}:${texts(values)}`);
  const shownGroups = groups.length === 0 ? '[]string(nil)' : texts(groups);
  const shownExtra = extra.size === 0 ? '(nil)' : `{${members.join(', ')}}`;
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:map[string][]string${shownExtra}}`;
}
