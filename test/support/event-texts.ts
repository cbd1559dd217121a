import { Event } from '../../src/api/generated/events-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';

/** The events about objects of a kind: `Warning FailedCreate Error creating: …`, sorted. */
export async function eventTexts(client: KubeClient, kind: string): Promise<readonly string[]> {
  const { items } = await client.live.list(Event);
  return items
    .filter(({ regarding }) => regarding?.kind === kind)
    .map(({ type = '', reason = '', note = '' }) => `${type} ${reason} ${note}`)
    .toSorted();
}
