import type { HttpCall } from '../../../oci/http-call.ts';

/** How hosts of a lab reach what listens on this machine: over sockets. */
export const machineHttp: HttpCall = async ({ method, url, headers, body, signal }) => {
  const answer = await fetch(url, {
    method,
    redirect: 'manual',
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
    ...(signal !== undefined && { signal }),
  });
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: answer.body ?? EMPTY,
  };
};

const EMPTY: AsyncIterable<Uint8Array> = (async function* () {})();
