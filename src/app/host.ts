import type { Clock } from '../base/clock.ts';
import type { ProcessLike } from '../kube/manager/process-guards.ts';
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
 * A Ctrl-C that goes to a whole group of processes comes again from npm, which passes it on: within this time it is the
 * same one.
 */
export const ECHO_MS = 500;

/**
 * The first request to stop is a request; a second Ctrl-C ends the process at once (experience X26), which tells those who
 * wait for its `exit` to kill what they started.
 */
export function interruptionOfProcess(
  clock: Pick<Clock, 'monotonicMs'>,
  host: ProcessLike = process,
): Interruption {
  const controller = new AbortController();
  let askedMs: number | undefined;
  const stop = (reason: string) => {
    askedMs ??= clock.monotonicMs();
    controller.abort(reason);
  };
  const listeners = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => {
    const listener = () => {
      const isSecond = askedMs !== undefined && clock.monotonicMs() - askedMs >= ECHO_MS;
      if (isSecond && name === 'SIGINT') host.exit(130);
      stop(name);
    };
    host.on(name, listener);
    return [name, listener] as const;
  });
  return {
    signal: controller.signal,
    stop,
    [Symbol.dispose]: () => {
      for (const [name, listener] of listeners) host.off(name, listener);
    },
  };
}
