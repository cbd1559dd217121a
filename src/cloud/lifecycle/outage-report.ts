import type { Node } from '../../api/generated/core-v1-types.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import { uidOf } from './desired.ts';

/** Less than the six minutes of silence that end a series of events: what lasts stays one event, and is seen to last. */
const REMINDER_MS = 5 * 60_000;
/** A line of the log for a whole cluster must not be as long as the cluster. */
const MOST_NAMES = 10;

/**
 * Tells people of Nodes that are not deleted because the cloud seems to be out of order (B2): when that begins, every five
 * minutes while it lasts, and when it is over. An event is written once and expires after an hour, and an outage may
 * last longer.
 */
export class OutageReport {
  readonly #manager: Pick<Manager, 'events' | 'clock' | 'log'>;
  #sinceMs: number | undefined;
  #remindedMs = -Infinity;
  /** Since the last reminder. Bounded: forgotten with each. */
  readonly #told = new Set<string>();

  constructor(manager: Pick<Manager, 'events' | 'clock' | 'log'>) {
    this.#manager = manager;
  }

  /** After each pass: the Nodes that it held back, and whether any Node is still in doubt, held back or not. */
  passed(held: readonly Node[], isAnyInDoubt: boolean): void {
    const nowMs = this.#manager.clock.monotonicMs();
    if (!isAnyInDoubt) return this.#end(nowMs);
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#remindedMs >= REMINDER_MS) {
      this.#told.clear();
      this.#remindedMs = nowMs;
    }
    const untold = held.filter((node) => !this.#told.has(uidOf(node)));
    if (untold.length > 0) this.#tell(untold, nowMs - this.#sinceMs);
  }

  #tell(nodes: readonly Node[], durationMs: number): void {
    const { events, log } = this.#manager;
    for (const node of nodes) {
      this.#told.add(uidOf(node));
      // The same words each time: others would be another event.
      const note = `Not deleting node ${node.metadata.name} yet: the cloud provider knows no machine of any node that is not ready, as if it were out of order; each machine is asked for twice more, and nothing is deleted while no node is ready`;
      events.warning(node, 'SuspectedCloudOutage', note, { action: 'DeletingNode' });
    }
    const names = nodes.slice(0, MOST_NAMES).map(({ metadata }) => metadata.name);
    const fields = { nodes: names, count: nodes.length, durationMs };
    log.warn(fields, 'The cloud knows no machine of any node that is not ready; not deleting nodes');
  }

  #end(nowMs: number): void {
    if (this.#sinceMs === undefined) return;
    const durationMs = nowMs - this.#sinceMs;
    this.#manager.log.info({ durationMs }, 'No node is kept any more because of a suspected outage of the cloud');
    this.#sinceMs = undefined;
    this.#remindedMs = -Infinity;
    this.#told.clear();
  }
}
