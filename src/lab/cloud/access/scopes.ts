import { CloudError } from '../cloud-error.ts';

/**
 * What a token allows: `read` and `write` for everything, `volumes:read` and `volumes:write` for one kind, `admin` for
 * what only the lab may do. Several are separated by spaces.
 */
export type Scope = string;

export type Access = 'read' | 'write' | 'admin';

const GRAMMAR = /^(admin|read|write|[a-z][a-z-]*:(read|write))$/;

export const scopesIn = (text: string): readonly Scope[] => text.split(' ').filter((scope) => scope !== '');

/** The scope that cannot be one, if any. */
export const strangeScope = (scopes: readonly Scope[]): Scope | undefined =>
  scopes.find((scope) => !GRAMMAR.test(scope));

/** Whether the scopes cover one more: `read` covers `volumes:read`. */
const covers = (scopes: readonly Scope[], wanted: Scope): boolean =>
  scopes.includes(wanted) || scopes.includes(wanted.split(':')[1] ?? wanted);

/** The scopes of a token: those it asks for, or all that the credential has. More than that is refused. */
export function grantedScopes(held: readonly Scope[], asked: string | undefined): readonly Scope[] {
  if (asked === undefined) return held;
  const wanted = scopesIn(asked);
  const stranger = strangeScope(wanted) ?? (wanted.length === 0 ? asked : undefined);
  if (stranger !== undefined) {
    const message = `scope: "${stranger}" is no scope; write read, write, admin or a kind with one of them, such as volumes:read`;
    throw new CloudError('InvalidArgument', message, { target: 'scope' });
  }
  const missing = wanted.find((scope) => !covers(held, scope));
  if (missing === undefined) return wanted;
  throw new CloudError('Forbidden', `the credential does not have the scope ${missing}, only ${held.join(' ')}`);
}

/** Refuses what the scopes do not allow. */
export function requireScope(scopes: readonly Scope[], kind: string, access: Access): void {
  const wanted = access === 'admin' ? 'admin' : `${kind}:${access}`;
  if (covers(scopes, wanted)) return;
  const message = `this needs the scope ${wanted}; the token has only ${scopes.join(' ')}`;
  throw new CloudError('Forbidden', message, { details: { scope: wanted } });
}
