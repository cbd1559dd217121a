import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ObjectKey } from '../../../api/object.ts';

/** What a key opens. */
export interface KeyClaims {
  readonly infraEnvId: string;
  /** Of the InfraEnv, so that nobody has to look through all of them. */
  readonly key: ObjectKey;
}

const HEADER = encoded({ alg: 'HS256', typ: 'JWT' });

/** A token in the form that assisted-service uses with local authentication. The same claims give the same key. */
export function apiKey({ infraEnvId, key: { namespace = '', name } }: KeyClaims, secret: string): string {
  const body = `${HEADER}.${encoded({ infra_env_id: infraEnvId, namespace, name })}`;
  return `${body}.${signature(body, secret)}`;
}

/** Undefined when we did not make the key. */
export function readApiKey(text: string, secret: string): KeyClaims | undefined {
  const [header = '', payload = '', sign = ''] = text.split('.');
  const expected = Buffer.from(signature(`${header}.${payload}`, secret));
  const given = Buffer.from(sign);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  // Signed by us, so it is what we wrote.
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, string>;
  return {
    infraEnvId: claims['infra_env_id'] ?? '',
    key: { namespace: claims['namespace'] ?? '', name: claims['name'] ?? '' },
  };
}

const signature = (text: string, secret: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url');

function encoded(value: Readonly<Record<string, string>>): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
