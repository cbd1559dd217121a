import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import type { RequestCounts } from './counted-requests.ts';

const NODE = 'node_modules/.bin/node';
/** As the installed command starts it. */
const { NODE_ARGS }: { readonly NODE_ARGS: readonly string[] } = createRequire(import.meta.url)(
  '../../bin/own-node.cjs',
);
/** Far more than 500 hosts take on two busy cores. */
const LONGEST_MS = 1_800_000;

/** One installation; requests are those of both providers. */
export interface InstallFigures extends RequestCounts {
  readonly seconds: number;
  /** Of the process with the hub, both providers and everything outside of them. */
  readonly processorSeconds: number;
  readonly virtualSeconds: number;
  /** Of the same process. */
  readonly peakBytes: number;
}

/** From sources: what plays the rest of the world is no part of what users install. */
export async function installFigures(hosts: number): Promise<InstallFigures> {
  const program = ['--conditions=slipway-source', 'bench/agent/install-program.ts', String(hosts)];
  const { stdout } = await promisify(execFile)(NODE, [...NODE_ARGS, ...program], { timeout: LONGEST_MS });
  return JSON.parse(stdout);
}
