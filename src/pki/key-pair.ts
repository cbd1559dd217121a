import { KeyObject, webcrypto } from 'node:crypto';

/** P-256 with SHA-256: the one algorithm every Kubernetes component, Go and browser accepts, and fast to generate. */
export const SIGNING_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export interface KeyPair {
  readonly privateKey: webcrypto.CryptoKey;
  readonly publicKey: webcrypto.CryptoKey;
  /** PKCS #8, unencrypted. */
  readonly privateKeyPem: string;
  /** SubjectPublicKeyInfo. */
  readonly publicKeyPem: string;
}

/** A new key pair at every call; the private key exists only in the result. */
export async function generateKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await webcrypto.subtle.generateKey(SIGNING_ALGORITHM, true, [
    'sign',
    'verify',
  ]);
  return {
    privateKey,
    publicKey,
    privateKeyPem: KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: KeyObject.from(publicKey).export({ type: 'spki', format: 'pem' }).toString(),
  };
}
