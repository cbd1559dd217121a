import type { SettleWatch } from '../kube/quiet/virtual-time.ts';
import { isWrite } from '../kube/transport/transport.ts';
import { grouped, lineOf, type RequestRecorder } from './recorder.ts';

/**
 * Notices that the same request to write is sent again and again while no time passes: many objects make many
 * different writes, a circle makes the same ones.
 */
export class WriteCircle implements SettleWatch {
  readonly #recorder: RequestRecorder;
  readonly #most: number;
  #from: number;
  #seen: number;
  #writes = 0;
  // Bounded by what one moment sends; the watch does not outlive it.
  readonly #counts = new Map<string, number>();

  constructor(recorder: RequestRecorder, most: number) {
    this.#recorder = recorder;
    this.#most = most;
    this.#from = recorder.requests.length;
    this.#seen = this.#from;
  }

  check(): void {
    const { requests } = this.#recorder;
    // Somebody cleared the recorder meanwhile.
    if (requests.length < this.#seen) this.#seen = this.#from = 0;
    let most = 0;
    for (const request of requests.slice(this.#seen).filter(isWrite)) {
      const line = lineOf(request);
      const count = (this.#counts.get(line) ?? 0) + 1;
      this.#counts.set(line, count);
      this.#writes++;
      most = Math.max(most, count);
    }
    this.#seen = requests.length;
    if (most < this.#most) return;
    const why = 'a reconcile that writes each time, or two that undo each other?';
    throw new Error(`not at rest after ${this.#writes} writes: ${this.#lines(isWrite)}; ${why}`);
  }

  get summary(): string {
    return this.#lines(() => true);
  }

  #lines(isWanted: (request: { readonly method: string }) => boolean): string {
    return grouped(this.#recorder.requests.slice(this.#from).filter(isWanted).map(lineOf), 5);
  }
}
