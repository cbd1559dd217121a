import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import type { JourneyEvent } from '../../src/api/journey.ts';
import { until } from './scratch.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** A run of the program whose events are read. */
export function up(folder: string, ...words: readonly string[]) {
  const args = ['--conditions=slipway-source', MAIN, 'up', '--output', 'json', ...words];
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, args, { cwd: folder, env: { PATH, HOME, LANG: 'C.UTF-8' } });
  started.add(child);
  let [text, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const events = (): readonly JourneyEvent[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const seen = async (what: string, isSeen: (event: JourneyEvent) => boolean): Promise<JourneyEvent> => {
    await until(() => events().some(isSeen) || child.exitCode !== null, what);
    return events().find(isSeen) ?? assert.fail(`${what}: not seen in\n${text}${errors}`);
  };
  return {
    child,
    pid: child.pid ?? assert.fail('it did not start'),
    events,
    errors: () => errors,
    seen,
    cluster: () => seen('the end of the cluster', ({ phase, kind }) => phase === 'cluster' && kind === 'end'),
    exit: once(child, 'close').then(([code]) => Number(code)),
  };
}

export type Run = ReturnType<typeof up>;

/** The pod and its process, as the row tells them. */
export async function helloOf(run: Run) {
  const { row } = await run.seen('the pod', ({ row: one }) => one?.path.at(-1)?.startsWith('hello-') === true);
  const [, pid] = /^process (\d+)$/.exec(row?.note ?? '') ?? [];
  return { pod: row?.path.at(-1), pid: Number(pid ?? assert.fail(JSON.stringify(row))) };
}

export const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

/** Ports that a process listens on. */
export function portsOf(pid: number): readonly string[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      // It was closed in between.
      return [];
    }
  });
  const own = new Set(sockets);
  return listeners().flatMap(({ inode, address }) => (own.has(inode) ? [address] : []));
}

/** What listens on this machine: state 0A, by its socket. */
export const listeners = () =>
  ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .flatMap(([, address = '', , state, , , , , , inode = '']) => (state === '0A' ? [{ inode, address }] : [])),
  );

/** All that descend from a process. */
export function descendants(pid: number): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** A host is being installed. */
export const isInstalling = ({ phase, row }: JourneyEvent): boolean =>
  phase === 'cluster' && row?.health === 'working' && (row.percent ?? 0) > 0;
