import { readFileSync } from 'node:fs';

/** The terminal, or whatever stands in its place, as far as a journey needs it. */
export interface Terminal {
  write(text: string): void;
  /** Undefined where there is no terminal. */
  columns(): number | undefined;
  rows(): number | undefined;
  readonly isTTY: boolean;
  onResize(listener: () => void): Disposable;
  /** The process is about to end, in whatever way: the last chance to write. */
  onExit(listener: () => void): Disposable;
  /** Keys without Enter; undefined where nobody can press any. */
  readonly keys: Keys | undefined;
}

export interface Keys {
  /** Until disposed, every key goes to `listener`. */
  listen(listener: (input: string) => void): Disposable;
  /** What Ctrl-C does elsewhere: ask the process to stop. */
  interrupt(): void;
  /** What Ctrl-Z does elsewhere: stop until `fg`; `onReturn` is called then. */
  suspend(onReturn: () => void): void;
}

/** The terminal this process runs in. */
export function processTerminal(): Terminal {
  const { stdout, stdin } = process;
  return {
    write: (text) => void stdout.write(text),
    // A pseudo-terminal whose size nobody has set says 0.
    columns: () => stdout.columns || undefined,
    rows: () => stdout.rows || undefined,
    isTTY: stdout.isTTY === true,
    onResize: (listener) => {
      stdout.on('resize', listener);
      return { [Symbol.dispose]: () => void stdout.off('resize', listener) };
    },
    onExit,
    keys: stdin.isTTY === true && isForeground() ? processKeys() : undefined,
  };
}

function onExit(listener: () => void): Disposable {
  process.on('exit', listener);
  // Comes before Node prints an exception nobody caught; `exit` alone would wipe its message.
  process.on('uncaughtExceptionMonitor', listener);
  return {
    [Symbol.dispose]: () => {
      process.off('exit', listener);
      process.off('uncaughtExceptionMonitor', listener);
    },
  };
}

/**
 * A terminal that is gone asks us to stop, like the signal that comes with most ways of losing it. None comes when the
 * program in front of us was killed: the shell takes the terminal back, and reading from it or changing its modes fails.
 */
function onInputError(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EIO') throw error;
  process.kill(process.pid, 'SIGHUP');
}

function processKeys(): Keys {
  const { stdin } = process;
  return {
    listen(listener) {
      const onData = (bytes: Buffer) => listener(bytes.toString('utf8'));
      // Never taken away again: giving the modes back may fail, too.
      stdin.on('error', onInputError);
      stdin.setRawMode(true);
      stdin.on('data', onData);
      stdin.resume();
      return {
        [Symbol.dispose]: () => {
          stdin.off('data', onData);
          stdin.setRawMode(false);
          stdin.pause();
        },
      };
    },
    interrupt: () => void process.kill(process.pid, 'SIGINT'),
    suspend(onReturn) {
      stdin.setRawMode(false);
      // To the whole group, as the terminal would: npm waits in front of us. The call returns when we are continued, or at
      // once where there is no shell that could do that and the kernel therefore does not stop us: no SIGCONT comes then.
      process.kill(0, 'SIGTSTP');
      stdin.setRawMode(true);
      onReturn();
    },
  };
}

/** A job in the background (`npm start &`) is stopped by the kernel when it touches the terminal's modes. */
function isForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , , group, , , foreground] = stat.slice(stat.lastIndexOf(')')).split(' ');
    return group === foreground;
  } catch {
    return true;
  }
}
