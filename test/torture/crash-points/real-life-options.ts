/** What a process with controllers is told. */
export interface RealLifeOptions {
  /** Of the relay: the API server and, below `/cloud`, the provider. */
  readonly url: string;
  readonly controllers: string;
  readonly hostname: string;
}

export const LEASE = { namespace: 'default', name: 'scenario' };
