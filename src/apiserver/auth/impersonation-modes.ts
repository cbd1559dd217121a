import { dnsSubdomainProblems } from '../../object/names.ts';
import type { UserInfo } from '../request.ts';
import type { Authorizer } from '../rest/services.ts';
import { forbiddenStatus } from '../routing/forbidden.ts';
import type { RequestInfo } from '../routing/request-info.ts';
import { StatusError } from '../status.ts';
import { MASTERS } from './rbac-authorizer.ts';

/** Whom the headers of a request name. */
export interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

interface Circumstances {
  readonly caller: UserInfo;
  /** The request that is made as somebody else. */
  readonly info: RequestInfo;
  readonly authorizer: Authorizer;
}

/** One way to be allowed to act as somebody else. */
export interface ImpersonationMode {
  readonly isConstrained: boolean;
  applies(wanted: Wanted, caller: UserInfo): boolean;
  /** Why it may not be; undefined when it may. */
  refusal(wanted: Wanted, circumstances: Circumstances): StatusError | undefined;
}

const AUTHENTICATION = 'authentication.k8s.io';
const ANONYMOUS = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';
const NODES = 'system:nodes';
const NODE_PREFIX = 'system:node:';
const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;
const NODE_NAME_KEY = 'authentication.kubernetes.io/node-name';
const MANY = 4;

function nodeOf(name: string): string | undefined {
  if (!name.startsWith(NODE_PREFIX)) return undefined;
  const node = name.slice(NODE_PREFIX.length);
  return dnsSubdomainProblems(node).length === 0 ? node : undefined;
}

const isOnlyName = ({ uid, groups, extra }: Wanted): boolean =>
  uid === '' && groups.length === 0 && extra.size === 0;
const isAccount = (name: string): boolean => SERVICE_ACCOUNT.test(name);

function isAssociated({ name }: Wanted, caller: UserInfo): boolean {
  const [node, ...more] = caller.extra?.[NODE_NAME_KEY] ?? [];
  return node !== undefined && more.length === 0 && isAccount(caller.name) && nodeOf(name) === node;
}

/** From the narrowest to the widest; the last one is what there was before there were modes. */
export const IMPERSONATION_MODES: readonly ImpersonationMode[] = [
  constrained('associated-node', (wanted, caller) => isOnlyName(wanted) && isAssociated(wanted, caller)),
  constrained('arbitrary-node', (wanted) => isOnlyName(wanted) && nodeOf(wanted.name) !== undefined),
  constrained('serviceaccount', (wanted) => isOnlyName(wanted) && isAccount(wanted.name)),
  constrained('user-info', ({ name }) => nodeOf(name) === undefined && !isAccount(name)),
  {
    isConstrained: false,
    applies: () => true,
    refusal: (wanted, circumstances) => firstRefusal(legacyRights(wanted), 'impersonate', circumstances),
  },
];

function constrained(name: string, applies: ImpersonationMode['applies']): ImpersonationMode {
  const verb = `impersonate:${name}`;
  return {
    isConstrained: true,
    applies,
    refusal(wanted, circumstances) {
      const { info } = circumstances;
      const onRequest = { ...info, verb: `impersonate-on:${name}:${info.verb}` };
      return (
        refusalOf(onRequest, circumstances) ??
        unwelcome(wanted, verb, circumstances) ??
        firstRefusal(constrainedRights(wanted, name), verb, circumstances)
      );
    },
  };
}

interface Right {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Allowed as well when this is. */
  readonly or?: Right;
}

const right = (group: string, resource: string, name: string): Right => ({
  group,
  resource,
  subresource: '',
  namespace: '',
  name,
});

const uidRights = ({ uid }: Wanted): readonly Right[] => (uid === '' ? [] : [right(AUTHENTICATION, 'uids', uid)]);

const extraRights = ({ extra }: Wanted): readonly Right[] =>
  [...extra].flatMap(([key, values]) =>
    values.map((value) => ({ ...right(AUTHENTICATION, 'userextras', value), subresource: key })),
  );

function accountRight(group: string, name: string): Right | undefined {
  const [, namespace, account] = SERVICE_ACCOUNT.exec(name) ?? [];
  if (namespace === undefined || account === undefined) return undefined;
  return { ...right(group, 'serviceaccounts', account), namespace };
}

const legacyRights = (wanted: Wanted): readonly Right[] => [
  accountRight('', wanted.name) ?? right('', 'users', wanted.name),
  ...uidRights(wanted),
  ...wanted.groups.map((group) => right('', 'groups', group)),
  ...extraRights(wanted),
];

function constrainedRights(wanted: Wanted, mode: string): readonly Right[] {
  const node = nodeOf(wanted.name);
  const user =
    node === undefined
      ? (accountRight(AUTHENTICATION, wanted.name) ?? right(AUTHENTICATION, 'users', wanted.name))
      : right(AUTHENTICATION, 'nodes', mode === 'associated-node' ? '*' : node);
  const allGroups = right(AUTHENTICATION, 'groups', '*');
  const allExtra = { ...right(AUTHENTICATION, 'userextras', '*'), subresource: '*' };
  const groups = wanted.groups.map((group) => right(AUTHENTICATION, 'groups', group));
  const extra = extraRights(wanted);
  return [
    user,
    ...uidRights(wanted),
    ...groups.map((item) => (groups.length >= MANY ? { ...item, or: allGroups } : item)),
    ...extra.map((item) => (extra.length >= MANY ? { ...item, or: allExtra } : item)),
  ];
}

/** What no right in the modes allows. */
function unwelcome({ groups, extra }: Wanted, verb: string, { caller }: Circumstances): StatusError | undefined {
  if (groups.includes('')) {
    return because(
      right(AUTHENTICATION, 'groups', ''),
      verb,
      caller,
      'impersonating the empty string group is not allowed',
    );
  }
  if (groups.includes(MASTERS)) {
    return because(
      right(AUTHENTICATION, 'groups', MASTERS),
      verb,
      caller,
      `impersonating the ${MASTERS} group is not allowed`,
    );
  }
  const isEmpty = [...extra].some(([key, values]) => key === '' || values.includes(''));
  if (!isEmpty) return undefined;
  const why = 'impersonating the empty string value in extra is not allowed';
  return because(right(AUTHENTICATION, 'userextras', ''), verb, caller, why);
}

function because(wanted: Right, verb: string, caller: UserInfo, why: string): StatusError {
  const { message, details } = forbiddenStatus(infoOf(wanted, verb), caller);
  return new StatusError({
    code: 403,
    reason: 'Forbidden',
    message: `${message}: ${why}`,
    ...(details && { details }),
  });
}

function infoOf({ group, resource, subresource, namespace, name }: Right, verb: string): RequestInfo {
  return {
    group,
    resource,
    subresource,
    namespace,
    name,
    verb,
    version: 'v1',
    isResourceRequest: true,
    path: '',
    rest: [],
  };
}

function firstRefusal(
  rights: readonly Right[],
  verb: string,
  circumstances: Circumstances,
): StatusError | undefined {
  for (const item of rights) {
    const error = refusalOf(infoOf(item, verb), circumstances);
    const isAllowedOtherwise = item.or !== undefined && !refusalOf(infoOf(item.or, verb), circumstances);
    if (error !== undefined && !isAllowedOtherwise) return error;
  }
  return undefined;
}

function refusalOf(info: RequestInfo, { caller, authorizer }: Circumstances): StatusError | undefined {
  return authorizer.authorize({ ...info, user: caller }).isAllowed ? undefined : forbiddenStatus(info, caller);
}

/** Who the request is made as: an account brings its groups, a node in the modes too. */
export function actualUser({ name, uid, groups, extra }: Wanted, { isConstrained }: ImpersonationMode): UserInfo {
  return {
    name,
    groups: withStanding(name, ownGroups(name, groups, isConstrained)),
    ...(uid !== '' && { uid }),
    ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
  };
}

function ownGroups(name: string, groups: readonly string[], isConstrained: boolean): readonly string[] {
  if (groups.length > 0) return groups;
  if (isConstrained && nodeOf(name) !== undefined) return [NODES];
  const [, namespace] = SERVICE_ACCOUNT.exec(name) ?? [];
  return namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}

/** Everybody but the anonymous user is authenticated, unless it is said otherwise. */
function withStanding(name: string, groups: readonly string[]): readonly string[] {
  if (name === ANONYMOUS) return groups.includes(UNAUTHENTICATED) ? groups : [...groups, UNAUTHENTICATED];
  return groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED) ? groups : [...groups, AUTHENTICATED];
}
