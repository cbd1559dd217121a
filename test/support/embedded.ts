import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApiServer } from '../../src/apiserver/start.ts';
import { scratchDirectory } from './scratch.ts';

/** Our API server on a free port of the loopback address; its kubeconfigs are files, as programs want them. */
export interface EmbeddedServer extends AsyncDisposable {
  readonly url: string;
  /** Path of a new kubeconfig for this user. */
  user(name: string, groups: readonly string[]): Promise<string>;
  /** Forgets the past: whoever asks for it is told that it is gone (410). */
  compact(): Promise<void>;
}

export async function startEmbedded(): Promise<EmbeddedServer> {
  const server = await startApiServer({ storage: 'memory', listen: { host: '127.0.0.1', port: 0 } });
  const directory = await scratchDirectory();
  let written = 0;
  return {
    url: server.url,
    user: async (name, groups) => {
      const file = join(directory.path, `user-${++written}.kubeconfig`);
      await writeFile(file, JSON.stringify(await server.kubeconfig(name, groups)), { mode: 0o600 });
      return file;
    },
    compact: () => server.store.compact(server.store.revision),
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
}
