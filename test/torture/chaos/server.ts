// The API server of a run, in a process of its own: `server.ts {"dataDir":…,"port":…,"speed":…}`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApiServer } from '../../../src/apiserver/start.ts';
import type { JsonObject } from '../../../src/object/json.ts';
import { FastClock } from './fast-clock.ts';
import { KINDS } from './kinds.ts';

export interface ServerOptions {
  readonly dataDir: string;
  /** 0: any. */
  readonly port: number;
  readonly speed: number;
  readonly seed: number;
}

export const KUBECONFIG = 'admin.kubeconfig';

if (import.meta.main) {
  const { dataDir, port, speed, seed }: ServerOptions = JSON.parse(process.argv[2] ?? '{}');
  const server = await startApiServer({
    dataDir,
    // What is killed here is a process, not a machine.
    durability: 'normal',
    listen: { host: '127.0.0.1', port },
    clock: new FastClock(speed, seed),
    crds: KINDS.map((kind) => kind.toCRD()) as unknown as readonly JsonObject[],
  });
  writeFileSync(join(dataDir, KUBECONFIG), JSON.stringify(await server.kubeconfig()), { mode: 0o600 });
  process.stdout.write(`ready ${new URL(server.url).port}\n`);
}
