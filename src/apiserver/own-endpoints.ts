import { userError } from '../base/errors.ts';
import type { JsonObject } from '../object/json.ts';
import { stringifyJson } from '../object/json-text.ts';
import type { Transport } from './http/in-process.ts';

/** Where clients inside the cluster find the server. */
export interface Advertised {
  /** An address that is no loopback address: the API refuses those as endpoints. */
  readonly host: string;
  readonly port: number;
}

const SERVICE = 'kubernetes';

/**
 * Says where the server of the service `default/kubernetes` is (lab E4): an EndpointSlice, and Endpoints for old clients.
 * What an earlier start has said is put right. Rejects when the address is refused.
 */
export async function publishEndpoints(transport: Transport, { host, port }: Advertised): Promise<void> {
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  await Promise.all([
    publish(transport, '/api/v1/namespaces/default/endpoints', {
      metadata: { name: SERVICE, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      subsets: [{ addresses: [{ ip: host }], ports }],
    }),
    publish(transport, '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata: { name: SERVICE, labels: { 'kubernetes.io/service-name': SERVICE } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [host], conditions: { ready: true } }],
      ports,
    }),
  ]);
}

/** Lists are replaced as a whole by a patch, and one that changes nothing is not written. */
async function publish(transport: Transport, collection: string, wanted: JsonObject): Promise<void> {
  const send = (method: string, target: string, type: string) =>
    transport({
      method,
      target,
      headers: { 'content-type': type, 'user-agent': 'kube-apiserver' },
      body: stringifyJson(wanted),
    });
  const path = `${collection}/${SERVICE}`;
  let answer = await send('POST', collection, 'application/json');
  if (answer.status === 409) answer = await send('PATCH', path, 'application/merge-patch+json');
  if (answer.status < 300) return;
  const { message = 'refused' }: { readonly message?: string } = JSON.parse(
    Buffer.from(await answer.bytes()).toString('utf8'),
  );
  throw userError('InvalidAdvertisedAddress', `the address of the API server cannot be published: ${message}`);
}
