import type { CallContext, Creation } from './call.ts';

/** How components can get credentials, and which. */
export interface CredentialsFacts {
  readonly modes: readonly ('mint' | 'passthrough' | 'token' | 'manual')[];
  /** What can be granted, by name, with what it is for. */
  readonly permissions: Readonly<Record<string, string>>;
}

/** Keys and values of the Secret that a component gets. */
export type SecretData = Readonly<Record<string, string>>;

/** An account for one component, with these permissions and no more. */
export interface CredentialsRequest extends Creation {
  readonly permissions: readonly string[];
}

/** Accounts for the components of a cluster, with no more rights than each needs. */
export interface Credentials<C extends CallContext = CallContext> {
  declare(): CredentialsFacts;
  ensure(request: CredentialsRequest, call: C): Promise<SecretData>;
  remove(request: CredentialsRequest, call: C): Promise<void>;
  /** What the credentials at hand can be used for. */
  check?(permissions: readonly string[], call: C): Promise<'mint' | 'passthrough' | 'insufficient'>;
}
