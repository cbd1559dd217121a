// Smaller bodies take a few milliseconds in all.
const LARGE_BODY = 262_144;

const large = new WeakSet<object>();

/** Remembers a request whose body is so large that others should have their turn between the steps of the work on it. */
export function noteSize(request: object, { length }: Uint8Array): void {
  if (length > LARGE_BODY) large.add(request);
}

/** Whether to pause between two steps. Not a pause that may be none: all other requests go on without waiting a turn. */
export const isLarge = (request: object): boolean => large.has(request);

/** Lets everything else that is waiting have its turn (reliability P9). */
export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
