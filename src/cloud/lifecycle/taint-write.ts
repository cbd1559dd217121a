import { Node, type Taint } from '../../api/generated/core-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Clock } from '../../base/clock.ts';
import { isNotFound } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { untilNoConflict } from '../conflict-attempts.ts';

interface TaintWriting {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Writes the taints that `wanted` says, unless it says undefined. Decides first for the Node as it is known, and again for
 * the one on the server when somebody else wrote meanwhile; five attempts (L7). A Node that is gone is a success, also
 * when there is another one of its name: nobody asked about the machine of that one.
 */
export async function writeTaints(
  { client, clock, signal }: TaintWriting,
  known: Node,
  wanted: (node: Node) => readonly Taint[] | undefined,
): Promise<void> {
  const { name, uid } = known.metadata;
  const key = { name };
  await untilNoConflict({ most: 5, pauseMs: 100, clock, signal }, async (attempt) => {
    const node = attempt === 1 ? known : await client.live.find(Node, key, { signal });
    if (node === undefined || node.metadata.uid !== uid) return;
    const taints = wanted(node);
    if (taints === undefined) return;
    await client.patch(Node, key, { type: 'merge', body: taintPatch(node, taints) }, { signal });
  }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Taints are written as a whole: the version makes sure that nobody else's are lost. */
const taintPatch = ({ metadata: { resourceVersion = '' } }: Node, taints: readonly Taint[]): JsonObject => ({
  metadata: { resourceVersion },
  spec: { taints: taints.length === 0 ? null : taints.map((taint) => ({ ...taint })) },
});
