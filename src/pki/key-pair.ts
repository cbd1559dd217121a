import { createPrivateKey, createPublicKey, generateKeyPair as generate, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const generateKeys = promisify(generate);

/** P-256: the one curve every Kubernetes component, Go and browser accepts, and fast to generate. */
const CURVE = 'P-256';

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** PKCS #8, unencrypted. */
  readonly privateKeyPem: string;
  /** SubjectPublicKeyInfo. */
  readonly publicKeyPem: string;
}

/** A new key pair at every call; the private key exists only in the result. */
export async function generateKeyPair(): Promise<KeyPair> {
  const { privateKey, publicKey } = await generateKeys('ec', { namedCurve: CURVE });
  return keyPairOf(privateKey, publicKey);
}

/** The pair of a private key that was kept. Throws when the text is no private key. */
export function loadKeyPair(privateKeyPem: string): KeyPair {
  const privateKey = createPrivateKey(privateKeyPem);
  return keyPairOf(privateKey, createPublicKey(privateKey));
}

const keyPairOf = (privateKey: KeyObject, publicKey: KeyObject): KeyPair => ({
  privateKey,
  publicKey,
  privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
});
