import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A directory with a short real path, for Unix sockets below it; gone at the end of the block. */
export async function shortDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join('/tmp', 's-')));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
