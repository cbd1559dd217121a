import { Pod } from '../../../api/generated/core-v1.ts';
import { isConflict } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { ApiGate } from './api-gate.ts';
import type { PodContainer } from './pod-container.ts';
import type { PodParts } from './pod-parts.ts';
import { retryDelayMs } from './restart-backoff.ts';
import { graceMs, stopsAfter } from './termination-order.ts';

/** Stops all containers at once, sidecars when those are gone that need them (N14). */
export async function stopInOrder(pod: Pod, byName: ReadonlyMap<string, PodContainer>): Promise<void> {
  const { spec } = pod;
  const stops = new Map<string, Promise<void>>();
  for (const { name } of [...spec.containers, ...(spec.initContainers ?? []).toReversed()]) {
    const before = stopsAfter(spec, name).flatMap((other) => stops.get(other) ?? []);
    const stop = {
      message: `Stopping container ${name}`,
      graceMs: graceMs(pod),
      isWithPod: true,
      ...(before.length > 0 && { turn: Promise.all(before) }),
    };
    stops.set(name, byName.get(name)?.stop(stop) ?? Promise.resolve());
  }
  await Promise.all(stops.values());
}

export interface DeletionParts {
  readonly client: Pick<KubeClient, 'delete' | 'live'>;
  readonly gate: ApiGate;
  readonly parts: Pick<PodParts, 'clock' | 'log'>;
  readonly signal: AbortSignal;
  /** The object is there, and ours to delete. */
  readonly isLeft: () => boolean;
}

/** Deletes the object of a pod of which nothing is left: this very one, at once (N14). Tried until it is done. */
export async function deletePod({ metadata }: Pod, deletion: DeletionParts): Promise<void> {
  const { client, gate, parts, signal, isLeft } = deletion;
  const { name, namespace = '', uid = '' } = metadata;
  for (let failures = 1; isLeft() && !signal.aborted; failures++) {
    try {
      const options = { gracePeriodSeconds: 0, preconditions: { uid }, signal: gate.signal(signal) };
      return await client.delete(Pod, { namespace, name }, options);
    } catch (error) {
      if (isConflict(error) && !(await isThere(metadata, deletion))) return;
      if (failures === 1 && !signal.aborted) parts.log.warn({ err: error, pod: name }, 'Cannot delete a pod');
    }
    await parts.clock.sleep(retryDelayMs(failures), signal).catch(() => {});
    await gate.opened();
  }
}

/** Whether the server still has this very pod, and not another one of its name; true when nobody can say. */
async function isThere({ name, namespace = '', uid }: Pod['metadata'], deletion: DeletionParts): Promise<boolean> {
  const { client, gate, signal } = deletion;
  try {
    const found = await client.live.find(Pod, { namespace, name }, { signal: gate.signal(signal) });
    return found?.metadata.uid === uid;
  } catch {
    return true;
  }
}
