/** Calls `listener` when the signal aborts, at once if it has; not any more after disposal. */
export function onceAborted(signal: AbortSignal, listener: () => void): Disposable {
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', listener) };
}
