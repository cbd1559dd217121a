import { notFound, StatusError } from '../../../apiserver/status.ts';
import type { LogRequest, NodeConnector } from '../../../apiserver/subresources/pod-log.ts';
import type { NodeServe } from './node-request.ts';

/** A node whose questions are answered in this process. */
export interface NodeLogs {
  readonly serve: NodeServe;
}

/**
 * The way of an API server in this process to its nodes (E1): the same questions as over HTTPS, without the network. A
 * node that is not there is not found; what a node refuses is refused to the client in its words.
 */
export const nodeConnector = (findNode: (name: string) => NodeLogs | undefined): NodeConnector => ({
  async logs({ node, namespace, pod, container, query, signal }: LogRequest) {
    const found = findNode(node);
    if (found === undefined) throw notFound({ group: '', resource: 'nodes' }, node);
    const path = ['', 'containerLogs', namespace, pod, container].map(encodeURIComponent).join('/');
    const { status, body } = await found.serve({ method: 'GET', path, query, signal });
    if (status !== 200) throw refused(status, body, pod);
    return typeof body === 'string' ? new Blob([body]).stream() : body;
  },
});

const REASONS: Readonly<Record<number, string>> = { 400: 'BadRequest', 404: 'NotFound' };

function refused(code: number, body: string | ReadableStream<Uint8Array>, pod: string): StatusError {
  const message = typeof body === 'string' ? body : 'the node refused the request';
  return new StatusError({
    code,
    reason: REASONS[code] ?? 'InternalError',
    message,
    ...(code === 404 && { details: { name: pod, kind: 'pods/log' } }),
  });
}
