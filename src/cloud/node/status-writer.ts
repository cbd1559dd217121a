import { Node } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { EventRecorder } from '../../kube/events/event-recorder.ts';
import { statusPatch, type WantedStatus } from './node-status.ts';

/** Where a write comes from, and how long it is wanted. */
export interface StatusWriting {
  readonly client: KubeClient;
  readonly signal: AbortSignal;
}

/** Writes the status of Nodes, only when something changes, and tells of problems when they appear (S16). */
export class StatusWriter {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #events: EventRecorder;

  constructor({ clock, events }: { readonly clock: Pick<Clock, 'now'>; readonly events: EventRecorder }) {
    this.#clock = clock;
    this.#events = events;
  }

  async write(node: Node, wanted: WantedStatus, { client, signal }: StatusWriting): Promise<void> {
    const patch = statusPatch(node, wanted, this.#clock.now());
    if (patch === undefined) return;
    await client.patch(Node, keyOf(node), patch, { subresource: 'status', signal });
    const { problem } = wanted;
    // The action of the loop, which tells of it too when it lasts: so that it stays one series.
    if (problem !== undefined)
      this.#events.warning(node, problem.reason, problem.message, { action: 'Reconcile' });
  }
}
