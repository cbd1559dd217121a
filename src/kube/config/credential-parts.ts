import type { AuthHeaders, ClientCertificate, Credentials } from './cluster-access.ts';

/** Where the `authorization` header comes from. */
export interface AuthorizationSource {
  /** Undefined when there is none to send. */
  authorization(signal?: AbortSignal): Promise<string | undefined>;
  /** `refused` is the value that the server did not take; nothing happens when a newer one is known. */
  refresh(refused?: string): void;
}

/** Where the client certificate comes from. */
export interface CertificateSource {
  certificate(signal?: AbortSignal): Promise<ClientCertificate | undefined>;
  onChange(listener: () => void): Disposable;
}

export interface CredentialParts {
  readonly authorization?: AuthorizationSource;
  readonly certificate?: CertificateSource;
  /** Sent with every request beside the authorization. */
  readonly impersonation?: AuthHeaders;
}

const NOTHING: AuthHeaders = Object.freeze({});

/** Credentials of independent parts; without any, the user is anonymous. */
export function credentialsOf({
  authorization,
  certificate,
  impersonation = NOTHING,
}: CredentialParts): Credentials {
  return {
    headers: async (signal) => {
      const value = await authorization?.authorization(signal);
      return value === undefined ? impersonation : { ...impersonation, authorization: value };
    },
    clientCertificate: async (signal) => certificate?.certificate(signal),
    refresh: (refused) => authorization?.refresh(refused === undefined ? undefined : refusedValue(refused)),
    onCertificateChange: (listener) => certificate?.onChange(listener) ?? { [Symbol.dispose]: () => {} },
  };
}

const refusedValue = ({ authorization }: AuthHeaders): string =>
  typeof authorization === 'string' ? authorization : '';

export const bearer = (token: string): string => `Bearer ${token}`;

const constant = (value: string): AuthorizationSource => ({
  authorization: () => Promise.resolve(value),
  refresh: () => {},
});

/** A token that stays as it is; a 401 cannot be helped. */
export const tokenAuthorization = (token: string): AuthorizationSource => constant(bearer(token));

export const basicAuthorization = (username: string, password: string): AuthorizationSource =>
  constant(`Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`);

/** A token that the program fetches itself: asked before every request, so it keeps what is good on its own. */
export const tokenFunctionAuthorization = (token: () => Promise<string>): AuthorizationSource => ({
  authorization: async () => bearer(await token()),
  refresh: () => {},
});

/** A certificate that stays as it is. */
export const fixedCertificate = (certificate: ClientCertificate): CertificateSource => ({
  certificate: () => Promise.resolve(certificate),
  onChange: () => ({ [Symbol.dispose]: () => {} }),
});

/** Tokens travel in a header: what a header cannot carry is a copy-and-paste mistake. */
export const tokenProblem = (token: string): string | undefined =>
  /^[\x21-\x7e]+$/.test(token)
    ? undefined
    : 'the token holds a space, a line break or another character that a header cannot carry; copy it again as one word';
