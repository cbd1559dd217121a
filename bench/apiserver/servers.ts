import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { startKubernetes } from '../../test/support/kubernetes.ts';
import { Connection, type Credentials } from './connection.ts';

/** A server under measurement, durable, with the time it took to become ready. */
export interface BenchServer extends AsyncDisposable {
  readonly name: 'kubernetes' | 'slipway';
  readonly credentials: Credentials;
  /** The same as a file. */
  readonly kubeconfig: string;
  readonly startMs: number;
  /** Resident memory of all its processes, in bytes. */
  memory(): number;
}

const READY_WITHIN_MS = 60_000;
const POLL_MS = 5;

/** The published form: JavaScript from dist/, with the Node that comes with it, as the installed command starts it. */
const NODE = 'node_modules/.bin/node';
const { NODE_ARGS }: { readonly NODE_ARGS: readonly string[] } = createRequire(import.meta.url)(
  '../../bin/own-node.cjs',
);
const MAIN = 'dist/cli/main.js';

export async function startSlipway(): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const startedMs = performance.now();
  const child = spawn(
    NODE,
    [
      ...NODE_ARGS,
      MAIN,
      'apiserver',
      '--data',
      join(folder, 'data'),
      '--port',
      '0',
      '--kubeconfig-out',
      kubeconfig,
      '--output',
      'json',
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const { pid = 0 } = child;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stdout.once('data', () => resolve());
  child.once('exit', (code) => reject(new Error(`slipway apiserver ended with ${code}`)));
  await promise;
  const credentials = credentialsOf(kubeconfig);
  await ready(credentials);
  const startMs = performance.now() - startedMs;
  return {
    name: 'slipway',
    credentials,
    kubeconfig,
    startMs,
    memory: () => residentBytes(pid),
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function startUpstream(): Promise<BenchServer> {
  const startedMs = performance.now();
  // Both run as their users run them: etcd waits for the disk.
  const plane = await startKubernetes({ purpose: 'bench' });
  const credentials = credentialsOf(plane.admin);
  await ready(credentials);
  const startMs = performance.now() - startedMs;
  return {
    name: 'kubernetes',
    credentials,
    kubeconfig: plane.admin,
    startMs,
    memory: () =>
      childrenOf(process.pid)
        .filter(isOracle)
        .reduce((sum, pid) => sum + residentBytes(pid), 0),
    [Symbol.asyncDispose]: () => plane.stop(),
  };
}

interface KubeconfigFile {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }];
}

function credentialsOf(file: string): Credentials {
  const { clusters, users }: KubeconfigFile = parse(readFileSync(file, 'utf8'));
  const [{ cluster }] = clusters;
  const [{ user }] = users;
  const url = new URL(cluster['server'] ?? '');
  const text = (value: string | undefined) => Buffer.from(value ?? '', 'base64').toString('utf8');
  return {
    host: url.hostname,
    port: Number(url.port),
    ca: text(cluster['certificate-authority-data']),
    cert: text(user['client-certificate-data']),
    key: text(user['client-key-data']),
  };
}

async function ready(credentials: Credentials): Promise<void> {
  const limit = performance.now() + READY_WITHIN_MS;
  while (performance.now() < limit) {
    try {
      using connection = await Connection.open(credentials);
      const { status } = await connection.send('GET', '/readyz');
      if (status === 200) return;
    } catch {
      // Not yet.
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  throw new Error(`no server at port ${credentials.port} after ${READY_WITHIN_MS} ms`);
}

const residentBytes = (pid: number): number => {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  return pages * 4096;
};

const childrenOf = (pid: number): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((text) => text !== '')
    .map(Number);

const isOracle = (pid: number): boolean => /etcd|kube-apiserver/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'));
