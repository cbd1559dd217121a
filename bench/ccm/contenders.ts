import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIGEST_FILE, sourceDigest } from '../../src/app/init/source-digest.ts';
import { oracleFile } from '../../test/support/needs-oracle.ts';

const NODE = 'node_modules/.bin/node';
/** As the installed command starts it. */
const { NODE_ARGS }: { readonly NODE_ARGS: readonly string[] } = createRequire(import.meta.url)(
  '../../bin/own-node.cjs',
);

export type ContenderName = 'slipway' | 'go' | 'go, tuned';
export const CONTENDERS: readonly ContenderName[] = ['slipway', 'go', 'go, tuned'];

/** What everybody needs here: alone, no routes, no port. */
const SHARED = [
  '--cloud-provider=fake',
  '--leader-elect=false',
  '--configure-cloud-routes=false',
  '--secure-port=0',
];
const TUNED = [
  '--kube-api-qps=10000',
  '--kube-api-burst=10000',
  '--concurrent-node-syncs=100',
  '--concurrent-service-syncs=100',
];

export interface Published {
  readonly words: readonly string[];
  /** For the table. */
  readonly form: 'as published' | 'from sources';
}

/** Our program as it is published; what is built is built again when the sources are others, unless there is no time for it. */
export function slipwayWords(mayBuild: boolean): Published {
  if (!isBuilt() && mayBuild) execFileSync(NODE, ['scripts/build.ts'], { stdio: 'ignore' });
  const [main, form, flags] = isBuilt()
    ? (['dist/cli/main.js', 'as published', []] as const)
    : (['src/cli/main.ts', 'from sources', ['--conditions=slipway-source']] as const);
  return { words: [NODE, ...NODE_ARGS, ...flags, main, 'run', 'cloud-controller-manager'], form };
}

function isBuilt(): boolean {
  const file = join('dist', DIGEST_FILE);
  return existsSync(file) && readFileSync(file, 'utf8').trim() === sourceDigest(process.cwd());
}

export interface Contest {
  readonly kubeconfig: string;
  readonly slipway: Published;
  /** How long the cloud takes for each call. */
  readonly delayMs: number;
  /** Resolves when the work is done; rejects when `signal` aborts. */
  readonly until: (signal: AbortSignal) => Promise<void>;
  /** What is left to do after that, such as events, is waited for, and no part of the time. */
  readonly afterwards: () => Promise<void>;
}

export interface Outcome {
  readonly seconds: number;
  /** The most that the process ever held. */
  readonly peakBytes: number;
}

/** Runs one contender from its start until the work is done, and ends it. */
export async function contend(name: ContenderName, contest: Contest): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  const config = join(folder, 'cloud.json');
  writeFileSync(config, JSON.stringify({ delayMs: contest.delayMs }));
  const [file = '', ...words] = programOf(name, contest.slipway);
  const flags = [...SHARED, `--cloud-config=${config}`, `--kubeconfig=${contest.kubeconfig}`];
  const startedMs = performance.now();
  const child = spawn(file, [...words, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    await doneOrDead(child, contest.until);
    const seconds = (performance.now() - startedMs) / 1000;
    await contest.afterwards();
    return { seconds, peakBytes: peakBytes(child.pid ?? 0) };
  } finally {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  }
}

function programOf(name: ContenderName, slipway: Published): readonly string[] {
  if (name === 'slipway') return [...slipway.words, '--provider=bench/ccm/provider.mjs'];
  return [oracleFile('cloud-provider', process.env), ...(name === 'go' ? [] : TUNED)];
}

async function doneOrDead(child: ChildProcess, until: Contest['until']): Promise<void> {
  const ended = new AbortController();
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2000);
  });
  const onExit = (code: number | null): void =>
    ended.abort(new Error(`${child.spawnfile} ended with ${code}: ${said}`));
  child.once('exit', onExit);
  child.once('error', (error) => ended.abort(error));
  await until(ended.signal);
  child.off('exit', onExit);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const gone = new Promise((done) => child.once('exit', done));
  // Nothing is to be told any more, and nothing to be tidied up.
  child.kill('SIGKILL');
  await gone;
}

function peakBytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}
