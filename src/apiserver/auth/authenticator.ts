import type { ApiRequest, UserInfo } from '../request.ts';
import type { Authorizer } from '../rest/services.ts';
import type { Authenticator } from '../routing/serve.ts';
import { unauthorized } from '../status.ts';
import { impersonated } from './impersonation.ts';

export const AUTHENTICATED = 'system:authenticated';

const ANONYMOUS: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** Whose token it is; undefined when it is nobody's. */
export interface TokenAuthenticator {
  userOf(token: string): Promise<UserInfo | undefined> | UserInfo | undefined;
}

export interface AuthenticatorOptions {
  readonly tokens: readonly TokenAuthenticator[];
  readonly authorizer: Authorizer;
}

/** Client certificate, then token, else anonymous; a wrong token is refused, not anonymous (Z1). */
export function createAuthenticator({ tokens, authorizer }: AuthenticatorOptions): Authenticator {
  return {
    authenticate(request) {
      const user = authenticated(request, tokens);
      if (user instanceof Promise) return user.then((found) => impersonated(request, found, authorizer));
      return impersonated(request, user, authorizer);
    },
  };
}

function authenticated(
  { credentials, headers }: ApiRequest,
  tokens: readonly TokenAuthenticator[],
): Promise<UserInfo> | UserInfo {
  const { user, certificate } = credentials;
  if (user !== undefined) return user;
  if (certificate !== undefined) return certificateUser(certificate);
  const authorization = headers['authorization'];
  if (authorization === undefined) return ANONYMOUS;
  const [scheme = '', token = ''] = authorization.trim().split(' ', 2);
  // Other schemes, and a bearer without a token, say nothing about who it is.
  return scheme.toLowerCase() !== 'bearer' || token === '' ? ANONYMOUS : tokenUser(token, tokens);
}

type Certificate = NonNullable<ApiRequest['credentials']['certificate']>;

/** The common name is the user, each organisation a group. */
const certificateUser = ({ commonName, organizations, fingerprint }: Certificate): UserInfo => ({
  name: commonName,
  groups: withAuthenticated(organizations),
  extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
});

export const withAuthenticated = (groups: readonly string[]): readonly string[] =>
  groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED];

async function tokenUser(token: string, tokens: readonly TokenAuthenticator[]): Promise<UserInfo> {
  for (const authenticator of tokens) {
    const user = await authenticator.userOf(token);
    if (user !== undefined) return user;
  }
  throw unauthorized();
}
