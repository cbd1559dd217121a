import { retryError } from '../../../base/errors.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { isJsonObject, type Json } from '../../../object/json.ts';

/** What the API server says it is. */
export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
}

/** Asks the server. Rejects with `BadServerVersion` when the answer is none. */
export const fetchServerVersion = async (
  client: Pick<KubeClient, 'raw'>,
  signal?: AbortSignal,
): Promise<ServerVersion> =>
  serverVersion(await client.raw('/version', { ...(signal !== undefined && { signal }) }));

/** Pure: from the answer to `GET /version`. A minor version may have a plus sign, which says that it was changed. */
export function serverVersion(answer: Json | undefined): ServerVersion {
  const { major, minor } = isJsonObject(answer) ? answer : {};
  const [majorDigits, minorDigits] = [major, minor].map(
    (part) => /^\d+/.exec(typeof part === 'string' ? part : '')?.[0],
  );
  if (majorDigits === undefined || minorDigits === undefined) {
    const found = JSON.stringify({ major, minor });
    throw retryError('BadServerVersion', `/version of the API server says ${found}; expected are two numbers`);
  }
  return { major: majorDigits, minor: minorDigits };
}

/** Pure: a node is never newer than its API server, and here never older either (N3). */
export const kubeletVersion = ({ major, minor }: ServerVersion): string => `v${major}.${minor}.0+slipway`;
