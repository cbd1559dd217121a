import { isIPv4 } from 'node:net';
import type { Fields } from './kubeconfig-fields.ts';
import { type OidcConfig, OidcProvider } from './oidc-provider.ts';
import { authorityProblem } from './pem.ts';
import { hasPemField, pemField } from './pem-field.ts';
import type { Surroundings } from './surroundings.ts';

/** Reads the `auth-provider` section of a user (C5). */
export async function oidcSection(fields: Fields, around: Surroundings): Promise<OidcProvider | undefined> {
  const name = fields.text('name');
  if (name !== 'oidc') {
    const found = name === undefined ? 'is missing' : `found "${name}"`;
    fields.problem('name', `${found}; the only auth-provider is "oidc", for others use an exec plugin`);
    return undefined;
  }
  const config = fields.section('config') ?? fields.emptySection('config');
  const clientId = config.text('client-id');
  if (clientId === undefined)
    config.problem('client-id', 'is missing; write the client that the login was made with');
  const issuer = issuerUrl(config);
  const ca = await issuerAuthority(config, around);
  const login = loginOf(config);
  if (login === undefined || clientId === undefined || issuer === undefined) return undefined;
  return new OidcProvider({
    ...login,
    issuer,
    clientId,
    clock: around.clock,
    ...(ca !== undefined && { ca }),
    ...(around.onOidcTokens !== undefined && { onTokens: around.onOidcTokens }),
  });
}

function loginOf(config: Fields): Pick<OidcConfig, 'clientSecret' | 'idToken' | 'refreshToken'> | undefined {
  const clientSecret = config.text('client-secret');
  const idToken = config.text('id-token');
  const refreshToken = config.text('refresh-token');
  if (idToken === undefined && refreshToken === undefined) {
    config.problem('', 'has neither an id-token nor a refresh-token; log in first');
    return undefined;
  }
  return {
    ...(clientSecret !== undefined && { clientSecret }),
    ...(idToken !== undefined && { idToken }),
    ...(refreshToken !== undefined && { refreshToken }),
  };
}

function issuerUrl(config: Fields): URL | undefined {
  const text = config.text('idp-issuer-url');
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))))
    return url;
  const found = text === undefined ? 'is missing' : `found "${text}"`;
  config.problem(
    'idp-issuer-url',
    `${found}; it must be the https:// address of the identity provider, because secrets go there`,
  );
  return undefined;
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIPv4(host) && host.startsWith('127.'));

async function issuerAuthority(config: Fields, around: Surroundings): Promise<string | undefined> {
  if (!hasPemField(config, 'idp-certificate-authority')) return undefined;
  const field = await pemField(config, 'idp-certificate-authority', around);
  const problem = field === undefined ? undefined : authorityProblem(field.text, around.clock.now());
  if (field !== undefined && problem !== undefined) config.problem(field.key, problem);
  return field?.text;
}
