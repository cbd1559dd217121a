import type { Clock } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { metadataOf, type UserInfo } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { Store } from '../store/store.ts';
import { AUTHENTICATED, type TokenAuthenticator } from './authenticator.ts';
import type { TokenSigner } from './json-web-token.ts';
import { quotedList } from './rule-coverage.ts';

/** An object a token dies with. */
export interface BoundObject {
  readonly kind: 'Pod' | 'Secret' | 'Node';
  readonly name: string;
  readonly uid: string;
}

export interface TokenTerms {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** When its holder should have asked for a new one. */
  readonly warnAfterSeconds?: number;
  readonly boundTo: BoundObject | undefined;
  /** The node a bound pod runs on. */
  readonly node?: { readonly name: string; readonly uid: string } | undefined;
}

export interface VerifiedToken {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

/** A token of ours that is of no use. */
export interface TokenProblem {
  readonly problem: string;
}

export interface ServiceAccountTokenOptions {
  readonly signer: TokenSigner;
  readonly store: Store;
  readonly clock: Clock;
  /** Address of this server; also the audience of tokens for it. */
  readonly issuer: () => string;
}

const LEEWAY_MS = 60_000;

const PLURALS = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const;

/** Tokens of service accounts (Z7): valid as long as the account and what they are bound to exist. */
export class ServiceAccountTokens implements TokenAuthenticator {
  readonly #options: ServiceAccountTokenOptions;

  constructor(options: ServiceAccountTokenOptions) {
    this.#options = options;
  }

  issue(terms: TokenTerms): { readonly token: string; readonly expires: Date } {
    const { signer, clock, issuer } = this.#options;
    const now = Math.floor(clock.now().getTime() / 1000);
    const token = signer.sign({
      aud: [...terms.audiences],
      exp: now + terms.seconds,
      iat: now,
      iss: issuer(),
      jti: clock.uuid(),
      'kubernetes.io': ownClaims(terms, now),
      nbf: now,
      sub: `system:serviceaccount:${terms.namespace}:${terms.name}`,
    });
    return { token, expires: new Date((now + terms.seconds) * 1000) };
  }

  userOf(token: string): UserInfo | undefined {
    const verified = this.verify(token, [this.#options.issuer()]);
    return verified !== undefined && 'user' in verified ? verified.user : undefined;
  }

  /**
   * Who a token stands for, if it is in time, for one of the audiences, and nothing it names is gone; else what is wrong
   * with it. Undefined for what is no token of ours.
   */
  verify(token: string, audiences: readonly string[]): VerifiedToken | TokenProblem | undefined {
    const claims = this.#options.signer.verify(token);
    const own = claims?.['kubernetes.io'];
    if (claims === undefined || !isJsonObject(own) || claims['iss'] !== this.#options.issuer()) return undefined;
    const namespace = textOf(own['namespace']);
    const account = nameAndUid(own['serviceaccount']);
    const bound = (['pod', 'secret', 'node'] as const).flatMap((kind) => {
      const found = isJsonObject(own[kind]) ? nameAndUid(own[kind]) : undefined;
      return found === undefined ? [] : [{ kind, ...found }];
    });
    const parts: Parts = { namespace, account, claims, bound };
    const shared = textsOf(claims['aud']).filter((audience) => audiences.includes(audience));
    const problem = shared.length === 0 ? wrongAudience(claims, audiences) : this.#problem(parts);
    return problem === undefined ? { user: this.#user(parts), audiences: shared } : { problem };
  }

  #problem({ namespace, account, claims, bound }: Parts): string | undefined {
    const now = this.#options.clock.now().getTime() / 1000;
    // Whoever leaves out a time does not get one that never ends.
    if (!(Number(claims['exp']) > now)) return 'service account token has expired';
    if (!(Number(claims['nbf']) <= now + 1)) return 'service account token is not valid yet';
    if (!this.#exists(`/registry/core/serviceaccounts/${namespace}/${account.name}`, account.uid)) {
      return `service account ${namespace}/${account.name} has been deleted`;
    }
    const areThere = bound.every((object) => this.#isThere(object, namespace, bound.length > 1));
    return areThere ? undefined : 'service account token has been invalidated';
  }

  #isThere(object: Named & { readonly kind: string }, namespace: string, isPods: boolean): boolean {
    const { kind, name, uid } = object;
    // The node of a bound pod is information only; a token may be bound to a node as well.
    if (kind === 'node') return isPods || this.#exists(`/registry/core/nodes/${name}`, uid);
    return this.#exists(`/registry/core/${kind}s/${namespace}/${name}`, uid);
  }

  /** What is going for longer than the leeway is as good as gone. */
  #exists(key: string, uid: string): boolean {
    const entry = this.#options.store.get(key);
    if (entry === undefined) return false;
    const { value } = parseJsonBytes(entry.bytes);
    if (!isJsonObject(value)) return false;
    const { uid: found, deletionTimestamp } = metadataOf(value);
    const goneSince = Date.parse(textOf(deletionTimestamp));
    const isGone = goneSince < this.#options.clock.now().getTime() - LEEWAY_MS;
    return found === uid && !isGone;
  }

  #user({ namespace, account, claims, bound }: Parts): UserInfo {
    const named = bound.flatMap(({ kind, name, uid }): [string, string[]][] =>
      kind === 'secret'
        ? []
        : [
            [`authentication.kubernetes.io/${kind}-name`, [name]],
            ...(uid === ''
              ? []
              : [[`authentication.kubernetes.io/${kind}-uid`, [uid]] satisfies [string, string[]]]),
          ],
    );
    return {
      name: `system:serviceaccount:${namespace}:${account.name}`,
      uid: account.uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, AUTHENTICATED],
      extra: Object.fromEntries([
        ['authentication.kubernetes.io/credential-id', [`JTI=${textOf(claims['jti'])}`]],
        ...named,
      ]),
    };
  }

  /** Where the object is that a token is to be bound to. */
  boundKey({ kind, name }: Pick<BoundObject, 'kind' | 'name'>, namespace: string): string {
    const place = kind === 'Node' ? '' : `${namespace}/`;
    return `/registry/core/${PLURALS[kind]}/${place}${name}`;
  }
}

interface Named {
  readonly name: string;
  readonly uid: string;
}

interface Parts {
  readonly namespace: string;
  readonly account: Named;
  readonly claims: JsonObject;
  readonly bound: readonly (Named & { readonly kind: string })[];
}

function ownClaims(
  { namespace, name, uid, boundTo, node, warnAfterSeconds }: TokenTerms,
  now: number,
): JsonObject {
  return {
    namespace,
    ...(node !== undefined && { node: { name: node.name, ...(node.uid !== '' && { uid: node.uid }) } }),
    ...(boundTo !== undefined && { [boundTo.kind.toLowerCase()]: { name: boundTo.name, uid: boundTo.uid } }),
    serviceaccount: { name, uid },
    ...(warnAfterSeconds !== undefined && { warnafter: now + warnAfterSeconds }),
  };
}

const wrongAudience = (claims: JsonObject, audiences: readonly string[]): string =>
  `token audiences ${quotedList(textsOf(claims['aud']))} is invalid for the target audiences ${quotedList(audiences)}`;

const textsOf = (value: Json | undefined): readonly string[] => (Array.isArray(value) ? value.map(textOf) : []);

function nameAndUid(value: Json | undefined): Named {
  return isJsonObject(value) ? { name: textOf(value['name']), uid: textOf(value['uid']) } : { name: '', uid: '' };
}
