import type { Environment } from './config.ts';

/** What the process was given. The only place that reads it (style S27). */
export interface Host {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly folder: string;
}

export const hostOfProcess = (): Host => ({
  argv: process.argv.slice(2),
  env: process.env,
  folder: currentFolder(),
});

/** The folder may have been removed under us; whoever needs it will say so. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return '.';
  }
}

/** A signal that aborts when the process is asked to stop, with the name of the signal as reason. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
  /** The same as a request to stop from outside. */
  stop(reason: string): void;
}

/**
 * The first request to stop is a request; a second Ctrl-C ends the process at once (experience X26), which tells those who
 * wait for its `exit` to kill what they started.
 */
export function interruptionOfProcess(): Interruption {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted && name === 'SIGINT') process.exit(130);
    controller.abort(name);
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, stop);
  return {
    signal: controller.signal,
    stop: (reason) => controller.abort(reason),
    [Symbol.dispose]: () => {
      for (const name of names) process.off(name, stop);
    },
  };
}
