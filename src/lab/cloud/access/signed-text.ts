import { createHmac, timingSafeEqual } from 'node:crypto';

/** What only the holder of the key can have written. */
export const signatureOf = (key: string, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url');

export function isSignature(key: string, text: string, signature: string): boolean {
  return isSameSecret(signatureOf(key, text), signature);
}

/** Without telling by its time how much is equal. */
export function isSameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
