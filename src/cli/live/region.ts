import { textWidth, wrappedRows } from './text-width.ts';

const ESCAPE = '\u001b[';
const HIDE_CURSOR = `${ESCAPE}?25l`;
const SHOW_CURSOR = `${ESCAPE}?25h`;
/** The whole line: tmux remembers of one that was cleared only in part how long it was, and wraps the blanks on a resize. */
const ERASE_LINE = `${ESCAPE}2K`;
const DOWN = `${ESCAPE}B`;
// oxlint-disable-next-line no-control-regex -- the codes of our own colours
const COLOUR = /\u001b\[[0-9;]*m/g;

/**
 * The lines at the bottom of the terminal that are drawn again and again, below permanent ones that scroll up
 * (experience X3). Between two draws the cursor rests on an empty line below the region, because that is where terminals
 * expect it when they are resized. Never clears the screen or the scrollback, never uses the alternate screen.
 */
export class Region {
  readonly #write: (bytes: string) => void;
  readonly #doesReflow: boolean;
  #drawn: readonly string[] = [];
  #isCursorHidden = false;

  /** `doesReflow`: the terminal wraps lines anew when it gets narrower, instead of cutting them. */
  constructor(write: (bytes: string) => void, doesReflow: boolean) {
    this.#write = write;
    this.#doesReflow = doesReflow;
  }

  /** Adds permanent lines above and makes the region show `lines`; writes nothing when nothing changed. */
  update(permanent: readonly string[], lines: readonly string[]): void {
    const isSameShape = permanent.length === 0 && this.#drawn.length === lines.length;
    const isSame = isSameShape && lines.every((line, at) => line === this.#drawn[at]);
    if (isSame) return;
    const body = isSameShape
      ? changedLines(this.#drawn, lines)
      : allLines([...permanent, ...lines], this.#drawn.length);
    this.#emit(`${up(this.#drawn.length)}${body}`);
    this.#drawn = lines;
  }

  /**
   * After a resize: our lines may be cut or wrapped, so the region has another height and is drawn from nothing. Rows that
   * the terminal has moved into its scrollback by wrapping are out of reach and stay; tmux does that even when there are
   * empty rows below, so narrowing a small terminal twice may leave the top of an old region in the scrollback.
   */
  resize(columns: number, rows: number): void {
    const heights = this.#drawn.map((line) => (this.#doesReflow ? rowsAt(line, columns) : 1));
    const height = Math.min(
      rows - 1,
      heights.reduce((sum, count) => sum + count, 0),
    );
    if (height > 0) this.#emit(`${up(height)}${erased(height)}`);
    this.#drawn = [];
  }

  /** Wipes the region and gives the cursor back; safe to call again, and the last thing in every way to end. */
  close(): void {
    if (!this.#isCursorHidden) return;
    this.#emit(`${up(this.#drawn.length)}${erased(this.#drawn.length)}${SHOW_CURSOR}`);
    this.#isCursorHidden = false;
    this.#drawn = [];
  }

  #emit(bytes: string): void {
    this.#write(this.#isCursorHidden ? bytes : `${HIDE_CURSOR}${bytes}`);
    this.#isCursorHidden = true;
  }
}

const up = (rows: number): string => (rows <= 0 ? '\r' : `\r${ESCAPE}${rows}A`);

const changedLines = (drawn: readonly string[], lines: readonly string[]): string =>
  `${lines.map((line, at) => (line === drawn[at] ? '\n' : `\r${ERASE_LINE}${line}\n`)).join('')}\r`;

const allLines = (lines: readonly string[], drawnRows: number): string =>
  `${lines.map((line) => `\r${ERASE_LINE}${line}\n`).join('')}\r${erased(drawnRows - lines.length)}`;

/** Row by row: tmux takes "erase everything below" at the top of the screen for a wish to keep it in the scrollback. */
const erased = (rows: number): string => (rows <= 0 ? '' : `${`${ERASE_LINE}${DOWN}`.repeat(rows)}${up(rows)}`);

function rowsAt(line: string, columns: number): number {
  const text = line.replace(COLOUR, '');
  return textWidth(text) <= columns ? 1 : wrappedRows(text, columns);
}
