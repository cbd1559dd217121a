/**
 * Works through `items` in order, at most `concurrency` at once; resolves when all have ended. Begins no more items once
 * the signal has aborted. Rejects with the first failure, after what was under way has ended: `work` catches its own.
 */
export async function inParallel<Item>(
  items: Iterable<Item>,
  { concurrency, signal }: { readonly concurrency: number; readonly signal?: AbortSignal },
  work: (item: Item) => Promise<void>,
): Promise<void> {
  // One iterator for all workers: each takes what no other has taken.
  const left = items[Symbol.iterator]();
  let isFailed = false;
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) {
      if (isFailed || signal?.aborted === true) return;
      try {
        await work(next.value);
      } catch (error) {
        isFailed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: Math.max(1, concurrency) }, worker));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
