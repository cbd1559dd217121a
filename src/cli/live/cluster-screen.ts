import type { Environment } from '../../app/config.ts';
import type { ClusterBoard } from '../../app/describe/board.ts';
import type { ClusterPicture } from '../../app/describe/picture.ts';
import type { Clock } from '../../base/clock.ts';
import { changeLines, clusterSentences } from './cluster-texts.ts';
import { clusterLines } from './cluster-view.ts';
import { cutLine, lookFor, painted } from './line.ts';
import { chooseMode, doesReflow, hasColour, isAscii, type LookSettings } from './mode.ts';
import { Region } from './region.ts';
import { ASCII, type Glyphs, UNICODE } from './symbols.ts';
import type { Terminal } from './terminal.ts';

export interface ClusterScreenOptions {
  readonly settings: LookSettings;
  readonly env: Environment;
  readonly clock: Clock;
  readonly terminal: Terminal;
}

/** What a terminal that does not tell its size is taken for, and what a file is. */
const USUAL = { columns: 80, rows: 24 };
const USUAL_COLUMNS = 100;
/** How often the ages on the screen move when nothing else happens. */
const TICK_MS = 1000;

/** Shows the pictures of a board in the way the user, the environment and the terminal ask for. */
export function showCluster(board: ClusterBoard, options: ClusterScreenOptions): Disposable {
  const { settings, env, terminal } = options;
  const mode = chooseMode(settings, env, terminal.isTTY);
  const glyphs = isAscii(settings, env) ? ASCII : UNICODE;
  const isColoured = hasColour(mode, settings, env);
  if (mode === 'live' && board.isWatched) return new WatchedCluster(board, { ...options, glyphs, isColoured });
  const texts = (picture: ClusterPicture): readonly string[] => {
    if (mode === 'accessible') return clusterSentences(picture, new Date(picture.report.at));
    const look = lookFor(terminal.columns() ?? (terminal.isTTY ? USUAL.columns : USUAL_COLUMNS), glyphs);
    return clusterLines(picture, { look, now: new Date(picture.report.at) }).map((line) =>
      painted(line, isColoured),
    );
  };
  return board.subscribe(appended(texts, glyphs, (lines) => terminal.write(`${lines.join('\n')}\n`)));
}

/** The whole picture first, then what changes. */
function appended(
  whole: (picture: ClusterPicture) => readonly string[],
  glyphs: Glyphs,
  write: (lines: readonly string[]) => void,
): (picture: ClusterPicture) => void {
  let last: ClusterPicture | undefined;
  return (picture) => {
    const lines = last === undefined ? whole(picture) : changeLines(last.report, picture.report, glyphs);
    last = picture;
    if (lines.length > 0) write(lines);
  };
}

interface WatchedOptions extends ClusterScreenOptions {
  readonly glyphs: Glyphs;
  readonly isColoured: boolean;
}

/** A picture that is drawn over itself; the last one stays on the screen. */
class WatchedCluster implements Disposable {
  readonly #options: WatchedOptions;
  readonly #region: Region;
  readonly #resources = new DisposableStack();
  #picture: ClusterPicture | undefined;
  #tick: Disposable | undefined;
  #isClosed = false;

  constructor(board: ClusterBoard, options: WatchedOptions) {
    this.#options = options;
    const { terminal, env } = options;
    this.#region = new Region((bytes) => terminal.write(bytes), doesReflow(env));
    this.#resources.use(terminal.onExit(() => this.#close()));
    this.#resources.use(terminal.onResize(() => this.#resize()));
    this.#resources.use(
      board.subscribe((picture) => {
        this.#picture = picture;
        this.#draw();
      }),
    );
  }

  [Symbol.dispose](): void {
    this.#close();
    this.#resources.dispose();
  }

  #draw(): void {
    if (this.#isClosed) return;
    this.#region.update([], this.#lines());
    this.#tick?.[Symbol.dispose]();
    this.#tick = this.#options.clock.timer(TICK_MS, () => this.#draw());
  }

  #lines(room = (this.#options.terminal.rows() ?? USUAL.rows) - 2): readonly string[] {
    const { terminal, glyphs, clock, isColoured } = this.#options;
    if (this.#picture === undefined) return [];
    const look = lookFor(terminal.columns() ?? USUAL.columns, glyphs);
    const lines = clusterLines(this.#picture, { look, now: clock.now(), room });
    return lines.map((line) => painted(cutLine(line, look), isColoured));
  }

  #resize(): void {
    if (this.#isClosed) return;
    const { terminal } = this.#options;
    this.#region.resize(terminal.columns() ?? USUAL.columns, terminal.rows() ?? USUAL.rows);
    this.#draw();
  }

  /** What was seen last scrolls up with what the shell writes next, whole this time. */
  #close(): void {
    if (this.#isClosed) return;
    this.#tick?.[Symbol.dispose]();
    this.#region.update(this.#lines(Number.POSITIVE_INFINITY), []);
    this.#region.close();
    this.#isClosed = true;
  }
}
