import type { Clock } from '../../../base/clock.ts';

/** Lines of an instance at most; the oldest go first. */
const MOST_LINES = 500;
const LONGEST_LINE = 2000;

/** What instances print on their consoles (C14). It lives as long as the process: a restart of the lab boots them again. */
export class ConsoleLog {
  readonly #clock: Pick<Clock, 'now'>;
  /** By instance; forgotten with it. */
  readonly #lines = new Map<string, string[]>();

  /** Lab time. */
  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  print(instanceId: string, text: string): void {
    const lines = this.#lines.get(instanceId) ?? [];
    this.#lines.set(instanceId, lines);
    for (const line of text.split('\n'))
      lines.push(`${this.#clock.now().toISOString()} ${line.slice(0, LONGEST_LINE)}`);
    lines.splice(0, lines.length - MOST_LINES);
  }

  lines(instanceId: string): readonly string[] {
    return [...(this.#lines.get(instanceId) ?? [])];
  }

  forget(instanceId: string): void {
    this.#lines.delete(instanceId);
  }
}
