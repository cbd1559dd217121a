import type { CallContext } from '../../sdk/capabilities/call.ts';
import type { InstanceObservation, InstanceRef } from '../../sdk/capabilities/instances.ts';
import { type InstanceAnswer, unanswered } from './instance-answer.ts';

/** Somebody who waits for an answer about one machine. */
interface Asker {
  readonly ref: InstanceRef;
  readonly call: CallContext;
  settle(answer: InstanceAnswer): void;
  /** Called once when the asker does not want the answer any more. */
  onLeave: () => void;
}

/** Askers who share a call. */
export interface Batch {
  readonly refs: readonly InstanceRef[];
  /** Its signal aborts when the last asker has left. */
  readonly call: CallContext;
  settle(answers: ReadonlyMap<string, InstanceAnswer>): void;
}

/** Askers until their call is made, in the order in which they came. Bounded by the workers that ask. */
export class PendingBatch {
  readonly #askers = new Set<Asker>();

  get size(): number {
    return this.#askers.size;
  }

  /** Rejects as soon as the signal of the call aborts, sent or not. */
  join(ref: InstanceRef, call: CallContext): Promise<InstanceObservation> {
    const { signal } = call;
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        asker.onLeave();
      };
      const asker: Asker = {
        ref,
        call,
        settle: (answer) => {
          signal.removeEventListener('abort', leave);
          if (answer.state === 'failed') reject(answer.error);
          else resolve(answer);
        },
        onLeave: () => void this.#askers.delete(asker),
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#askers.add(asker);
    });
  }

  /** The first ones, at most so many; undefined when nobody waits. */
  take(most: number): Batch | undefined {
    const askers = [...this.#askers].slice(0, most);
    const [first] = askers;
    if (first === undefined) return undefined;
    const abandoned = new AbortController();
    let left = askers.length;
    for (const asker of askers) {
      this.#askers.delete(asker);
      asker.onLeave = () => {
        left--;
        if (left === 0) abandoned.abort(asker.call.signal.reason);
      };
    }
    return {
      refs: askers.map(({ ref }) => ref),
      call: { signal: abandoned.signal, log: first.call.log },
      settle: (answers) => {
        for (const asker of askers)
          asker.settle(answers.get(asker.ref.nodeName) ?? unanswered(asker.ref.nodeName));
      },
    };
  }
}
