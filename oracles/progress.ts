import { humanDuration } from '../src/base/duration.ts';

const TICK_MS = 1000;
/** On a log nobody watches a counter, but a silent minute looks like a hang. */
const HEARTBEAT_MS = 30_000;
/** Clears the line the counter stands on. */
const ERASE_LINE = '\r\u001b[2K';

export interface Screen {
  readonly isTerminal: boolean;
  readonly columns: number;
  write(text: string): void;
}

export interface Step {
  /** What is being done right now; shown on a terminal only. */
  detail(text: string): void;
  done(text: string): void;
  failed(text: string): void;
}

/** One line per program: a running counter on a terminal, a line at start, every half minute and at the end elsewhere. */
export class Progress {
  readonly #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  line(text: string): void {
    this.#screen.write(`${text}\n`);
  }

  start(name: string, activity: string): Step {
    const startedMs = performance.now();
    const elapsed = (): string => humanDuration(performance.now() - startedMs);
    let detail = '';
    const { isTerminal, columns } = this.#screen;
    const show = (): void => {
      const text = isTerminal
        ? `${ERASE_LINE}${`… ${name}: ${activity}, ${elapsed()}  ${detail}`.slice(0, columns - 1)}`
        : `${name}: ${activity}, ${elapsed()} so far\n`;
      this.#screen.write(text);
    };
    if (isTerminal) show();
    else this.line(`${name}: ${activity}`);
    // The counter alone must not keep an interrupted run alive.
    const timer = setInterval(show, isTerminal ? TICK_MS : HEARTBEAT_MS).unref();
    const end = (mark: string, text: string): void => {
      clearInterval(timer);
      this.line(`${isTerminal ? `${ERASE_LINE}${mark} ` : ''}${name}: ${text} after ${elapsed()}`);
    };
    return {
      detail: (text) => {
        detail = text;
      },
      done: (text) => end('✓', text),
      failed: (text) => end('✗', text),
    };
  }
}
