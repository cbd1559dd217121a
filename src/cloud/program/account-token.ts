import { ServiceAccount } from '../../api/generated/core-v1.ts';
import type { Clock } from '../../base/clock.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient, ServiceAccountToken } from '../../kube/client/kube-client.ts';
import { type AuthorizationSource, bearer } from '../../kube/config/credential-parts.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';

/** Where the accounts of controllers are, as upstream has it (P13). */
export const ACCOUNT_NAMESPACE = 'kube-system';
const LIFE_SECONDS = 3600;
/** Renewed when this much of its life is over: time enough to try again. */
const RENEW_AT = 0.75;

/** What it takes to act as other accounts, which may not exist yet. */
export const ACCOUNT_NEEDS: readonly Need[] = [
  needs(ServiceAccount, ['get', 'create'], { namespace: ACCOUNT_NAMESPACE }),
  needs(ServiceAccount, ['create'], { subresource: 'token', namespace: ACCOUNT_NAMESPACE }),
];

export interface AccountTokenOptions {
  readonly account: string;
  /** Of the program itself; reads at the server. */
  readonly client: Pick<KubeClient, 'find' | 'create' | 'createToken'>;
  readonly clock: Clock;
}

/** A token of a ServiceAccount, which is made when it is missing; renewed before it ends, and after a 401. */
export class AccountToken implements AuthorizationSource {
  readonly #options: AccountTokenOptions;
  #held: { readonly token: string; readonly renewMs: number } | undefined;
  #asking: Promise<string> | undefined;

  constructor(options: AccountTokenOptions) {
    this.#options = options;
  }

  async authorization(): Promise<string> {
    const held = this.#held;
    if (held !== undefined && this.#options.clock.monotonicMs() < held.renewMs) return bearer(held.token);
    // Not tied to the request that came first: others wait for the same token.
    this.#asking ??= this.#renew().finally(() => {
      this.#asking = undefined;
    });
    return bearer(await this.#asking);
  }

  refresh(refused?: string): void {
    if (refused === undefined || refused === bearer(this.#held?.token ?? '')) this.#held = undefined;
  }

  async #renew(): Promise<string> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    const { token, expirationTimestamp } = await this.#request();
    const lifeMs = new Date(expirationTimestamp).getTime() - clock.now().getTime();
    this.#held = { token, renewMs: startMs + lifeMs * RENEW_AT };
    return token;
  }

  async #request(): Promise<ServiceAccountToken> {
    const { client, account } = this.#options;
    const key = { namespace: ACCOUNT_NAMESPACE, name: account };
    if ((await client.find(ServiceAccount, key)) === undefined) {
      await client.create(ServiceAccount, { metadata: key }).catch((thrown: unknown) => {
        if (!isAlreadyExists(thrown)) throw thrown;
      });
    }
    return client.createToken(key, { expirationSeconds: LIFE_SECONDS });
  }
}
