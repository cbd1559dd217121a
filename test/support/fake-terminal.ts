import type { Terminal } from '../../src/cli/live/terminal.ts';

/** A terminal that remembers what was written to it and can be resized and typed at. */
export interface FakeTerminal extends Terminal {
  /** Everything written so far. */
  output(): string;
  /** Each write by itself. */
  readonly writes: readonly string[];
  press(input: string): void;
  resize(columns: number, rows: number): void;
  /** What happens when the process ends without asking anybody. */
  exit(): void;
  readonly interruptions: readonly string[];
}

export interface FakeTerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly isTTY?: boolean;
  readonly hasKeys?: boolean;
}

export function fakeTerminal(options: FakeTerminalOptions = {}): FakeTerminal {
  const { isTTY = true, hasKeys = isTTY } = options;
  let [columns, rows] = [options.columns ?? 100, options.rows ?? 40];
  const writes: string[] = [];
  const interruptions: string[] = [];
  const resized = new Set<() => void>();
  const exited = new Set<() => void>();
  const pressed = new Set<(input: string) => void>();
  return {
    isTTY,
    writes,
    interruptions,
    write: (text) => void writes.push(text),
    columns: () => (isTTY ? columns : undefined),
    rows: () => (isTTY ? rows : undefined),
    onResize: (listener) => member(resized, listener),
    onExit: (listener) => member(exited, listener),
    keys: hasKeys
      ? {
          listen: (listener) => member(pressed, listener),
          interrupt: () => void interruptions.push('SIGINT'),
          suspend: (onReturn) => {
            interruptions.push('SIGTSTP');
            onReturn();
          },
        }
      : undefined,
    output: () => writes.join(''),
    press: (input) => {
      for (const listener of pressed) listener(input);
    },
    resize: (newColumns, newRows) => {
      [columns, rows] = [newColumns, newRows];
      for (const listener of resized) listener();
    },
    exit: () => {
      for (const listener of exited) listener();
    },
  };
}

function member<Item>(set: Set<Item>, item: Item): Disposable {
  set.add(item);
  return { [Symbol.dispose]: () => void set.delete(item) };
}
