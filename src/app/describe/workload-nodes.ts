import { Node } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { redactedText } from '../../base/redaction.ts';
import { isForbidden } from '../../kube/client/api-error.ts';
import { createClient } from '../../kube/client/create-client.ts';
import { accessFromText } from '../../kube/config/kubeconfig-text.ts';
import { connect } from '../../kube/transport/connection.ts';
import type { Environment } from '../config.ts';
import type { NodeFacts } from './facts.ts';
import type { Hub } from './hub.ts';
import { namespaceOf } from './object-fields.ts';

export interface NodeReadingOptions {
  readonly hub: Hub;
  readonly env: Environment;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Long enough for a far cluster, short enough for somebody who waits at a terminal. */
const TIMEOUT_MS = 5000;

/** The Nodes of a cluster, with the kubeconfig that its control plane publishes. Never fails: it says why not. */
export async function readNodes(cluster: KubeObject, options: NodeReadingOptions): Promise<NodeFacts> {
  const name = `${cluster.metadata.name}-kubeconfig`;
  try {
    const kubeconfig = await options.hub.secretText(namespaceOf(cluster), name, 'value');
    if (kubeconfig === undefined)
      return { type: 'unread', why: `Secret ${name} with the kubeconfig is not there` };
    return { type: 'read', nodes: await listNodes(kubeconfig, options) };
  } catch (error) {
    options.signal.throwIfAborted();
    const why = isForbidden(error)
      ? `you may not read Secret ${name}, or it may not list Nodes`
      : `the API server of the cluster does not answer: ${redactedText(messageOf(error))}`;
    return { type: 'unread', why };
  }
}

async function listNodes(
  kubeconfig: string,
  { env, clock, signal }: NodeReadingOptions,
): Promise<readonly Node[]> {
  const access = await accessFromText(kubeconfig, { env, clock });
  await using connection = connect(access, { clock, log: SILENT_LOG });
  const { transport } = connection;
  const client = createClient({ transport, fieldManager: 'slipway/describe', clock, log: SILENT_LOG });
  return (await client.live.list(Node, { signal, timeoutMs: TIMEOUT_MS })).items;
}
