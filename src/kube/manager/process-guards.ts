import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';

/** What is used of `process`; a test has one of its own. */
export interface ProcessLike {
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  off(event: string, listener: (...values: unknown[]) => void): unknown;
  exit(code: number): void;
}

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'];

export interface StopSignals extends Disposable {
  /** Aborts at the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
}

/** A signal to a whole group of processes comes again from a parent that passes it on; nobody presses Ctrl-C so fast. */
const ECHO_MS = 200;

/** The first signal stops, the second one ends the process at once with code 1 (M2). */
export function stopOnSignals(host: ProcessLike, log: Log, clock: Pick<Clock, 'monotonicMs'>): StopSignals {
  const stop = new AbortController();
  let firstMs = 0;
  const listeners = STOP_SIGNALS.map((name) => {
    const listener = () => {
      if (!stop.signal.aborted) {
        firstMs = clock.monotonicMs();
        return stop.abort(new Error(`received ${name}`));
      }
      if (clock.monotonicMs() - firstMs < ECHO_MS) return;
      log.error({ signal: name }, 'Received a second signal, exiting at once');
      host.exit(1);
    };
    host.on(name, listener);
    return [name, listener] as const;
  });
  return {
    signal: stop.signal,
    [Symbol.dispose]: () => {
      for (const [name, listener] of listeners) host.off(name, listener);
    },
  };
}

/** Errors that nobody caught are logged with their stack and stop the manager, in order (M10). */
export function guardProcess(host: ProcessLike, log: Log, failed: (error: Error) => void): Disposable {
  const listeners = ['uncaughtException', 'unhandledRejection'].map((name) => {
    const listener = (thrown: unknown) => {
      const error = thrown instanceof Error ? thrown : new Error(messageOf(thrown));
      log.error({ err: error, event: name }, 'Nobody caught an error');
      failed(error);
    };
    host.on(name, listener);
    return [name, listener] as const;
  });
  return {
    [Symbol.dispose]: () => {
      for (const [name, listener] of listeners) host.off(name, listener);
    },
  };
}
