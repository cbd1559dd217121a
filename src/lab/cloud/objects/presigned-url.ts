import type { CredentialLife } from '../access/credentials.ts';
import { isSignature, signatureOf } from '../access/signed-text.ts';
import { CloudError } from '../cloud-error.ts';

/** What a URL allows that was signed: one thing, to whoever has it, for some time. */
export interface SignedWish {
  readonly method: string;
  readonly bucketId: string;
  readonly key: Buffer;
  readonly caller: CredentialLife;
  readonly expiresAt: Date;
}

/** What follows the path. */
export function signedQuery(key: string, wish: SignedWish): string {
  const expires = String(Math.floor(wish.expiresAt.getTime() / 1000));
  const signature = signatureOf(key, textOf(wish, expires));
  const { clientId: credential, epoch } = wish.caller;
  return new URLSearchParams({ credential, epoch: String(epoch), expires, signature }).toString();
}

/** Who signed it. Refuses what was changed, and what is past its time. */
export function signerOf(
  key: string,
  asked: Pick<SignedWish, 'method' | 'bucketId' | 'key'>,
  query: URLSearchParams,
  now: Date,
): CredentialLife {
  const caller = { clientId: query.get('credential') ?? '', epoch: Number(query.get('epoch')) };
  const expires = query.get('expires') ?? '';
  const text = textOf({ ...asked, caller }, expires);
  // Who may GET may also look at what it would get.
  const asGet = textOf({ ...asked, method: 'GET', caller }, expires);
  const signature = query.get('signature') ?? '';
  const isRight =
    isSignature(key, text, signature) || (asked.method === 'HEAD' && isSignature(key, asGet, signature));
  if (!isRight) throw new CloudError('Forbidden', 'the URL is not signed for this');
  if (Number(expires) * 1000 <= now.getTime())
    throw new CloudError(
      'TokenExpired',
      `the URL was good until ${new Date(Number(expires) * 1000).toISOString()}`,
    );
  return caller;
}

const textOf = (
  { method, bucketId, key, caller }: Pick<SignedWish, 'method' | 'bucketId' | 'key' | 'caller'>,
  expires: string,
): string => JSON.stringify([method, bucketId, key.toString('hex'), caller.clientId, caller.epoch, expires]);
