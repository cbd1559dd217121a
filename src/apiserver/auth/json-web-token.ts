import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../object/json.ts';
import type { KeyPair } from '../../pki/key-pair.ts';

const ALGORITHM = 'ES256';
const SIGNATURE = { dsaEncoding: 'ieee-p1363' } as const;
// A token of ours has a few hundred bytes; nothing longer is worth a look.
const LONGEST_TOKEN = 8192;

/** Signs and verifies the tokens of one server, ES256 as kube-apiserver does with such a key. */
export class TokenSigner {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #keyId: string;

  constructor({ privateKeyPem, publicKeyPem }: Pick<KeyPair, 'privateKeyPem' | 'publicKeyPem'>) {
    this.#privateKey = createPrivateKey(privateKeyPem);
    this.#publicKey = createPublicKey(publicKeyPem);
    const der = this.#publicKey.export({ type: 'spki', format: 'der' });
    this.#keyId = createHash('sha256').update(der).digest('base64url');
  }

  sign(claims: JsonObject): string {
    const head = encode({ alg: ALGORITHM, kid: this.#keyId });
    const signed = `${head}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#privateKey, ...SIGNATURE });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** The claims of a token that this key signed; undefined for every other text. Times are not looked at. */
  verify(token: string): JsonObject | undefined {
    if (token.length > LONGEST_TOKEN) return undefined;
    const [head = '', body = '', signature = '', ...more] = token.split('.');
    if (more.length > 0 || signature === '') return undefined;
    const header = decode(head);
    // The key decides the algorithm, never the token: `none` and HMAC with the public key must fail.
    if (header?.['alg'] !== ALGORITHM || header['kid'] !== this.#keyId) return undefined;
    const key = { key: this.#publicKey, ...SIGNATURE };
    const isOurs = verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'));
    return isOurs ? decode(body) : undefined;
  }

  /** The public key for `/openid/v1/jwks`. */
  jwk(): JsonObject {
    const { kty, crv, x, y } = this.#publicKey.export({ format: 'jwk' });
    return {
      use: 'sig',
      kty: String(kty),
      kid: this.#keyId,
      crv: String(crv),
      alg: ALGORITHM,
      x: String(x),
      y: String(y),
    };
  }

  get algorithm(): string {
    return ALGORITHM;
  }
}

const encode = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
