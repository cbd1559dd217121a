import type { JsonObject } from '../../object/json.ts';
import { PLAIN_JSON } from '../negotiation/accept.ts';
import type { ApiResponse } from '../request.ts';
import { objectAnswer } from '../rest/answers.ts';
import type { TokenSigner } from './json-web-token.ts';

/** How others verify tokens of service accounts (D11); undefined for other paths. */
export function openIdAnswer(path: string, signer: TokenSigner, issuer: string): ApiResponse | undefined {
  if (path === '/openid/v1/jwks') return document({ keys: [signer.jwk()] }, 'application/jwk-set+json');
  if (path !== '/.well-known/openid-configuration') return undefined;
  return document(
    {
      issuer,
      jwks_uri: `${issuer.replace(/\/$/, '')}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [signer.algorithm],
    },
    'application/json',
  );
}

function document(body: JsonObject, contentType: string): ApiResponse {
  const answer = objectAnswer(200, body, PLAIN_JSON);
  return { ...answer, headers: { 'content-type': contentType, 'cache-control': 'public, max-age=3600' } };
}
