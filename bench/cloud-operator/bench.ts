import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { adminClient } from '../../test/support/admin-client.ts';
import { type AuditedRequest, ServerAudit } from '../../test/support/ccm-oracle-audit.ts';
import { startKubernetes } from '../../test/support/kubernetes.ts';
import { columns } from '../apiserver/table.ts';
import { publishedCommand } from '../published.ts';
import { available, defineKinds, describeAws, rollOutAll, steady, watchable } from './cluster.ts';
import { type ContenderName, contend, type Programs, UPSTREAM_FOLDER, upstreamFolder } from './contenders.ts';
import { idleFigures } from './idle.ts';
import { HEADER, idleLines, type RoundFigures, roundLines } from './table.ts';

const ROUNDS = 5;
/** A server that has just learned nine kinds works on descriptions of them for a while. */
const WARM_UP_MS = 5000;
const USERS = { operator: 'bench-operator', configSync: 'bench-config-sync' } as const;

export interface CloudOperatorBenchOptions {
  readonly only: string | undefined;
  /** One round: shows that it works, and not how fast. */
  readonly isQuick: boolean;
}

/** Our cloud operator beside upstream's: from an empty cluster on AWS until everything is deployed, and idle after that. */
export async function benchCloudOperator({ only = '', isQuick }: CloudOperatorBenchOptions): Promise<void> {
  const lines: (readonly string[])[] = [];
  const programs = { slipway: publishedCommand(!isQuick), upstream: upstreamFolder(process.env) };
  const count = isQuick ? 1 : ROUNDS;
  if ('deploy'.includes(only)) lines.push(...roundLines(await rounds(programs, count)));
  if ('idle'.includes(only)) lines.push(...idleLines(await idleFigures()));
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  process.stdout.write(
    `\ncloud operators on a kube-apiserver of their own, ${machine}; ours ${programs.slipway.form}; ` +
      `medians of ${count === 1 ? 'one round' : `${count} alternating rounds`}; load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  if (programs.upstream === undefined) {
    process.stdout.write(
      `no comparison: upstream's programs are in no package registry, and ${UPSTREAM_FOLDER} names no folder with them\n`,
    );
  }
  process.stdout.write(`\n${columns([HEADER, ...lines])}\n`);
}

async function rounds(programs: Programs, count: number) {
  const results = new Map<ContenderName, RoundFigures[]>([['slipway', []]]);
  if (programs.upstream !== undefined) results.set('upstream', []);
  for (let round = 1; round <= count; round++) {
    for (const [name, all] of results) {
      const figures = await run(name, programs);
      all.push(figures);
      process.stderr.write(
        `round ${round}, ${name}: ${figures.seconds.toFixed(2)} s, processor ${figures.processorSeconds.toFixed(2)} s, ` +
          `${figures.requests.length} requests, ${Math.round(figures.peakBytes / 2 ** 20)} MiB, ` +
          `load ${loadavg()[0]?.toFixed(1)}\n`,
      );
    }
  }
  return results;
}

/** On servers that have never seen anybody. */
async function run(name: ContenderName, programs: Programs): Promise<RoundFigures> {
  await using parts = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-'));
  const guard = parts.use(new ExitGuard(folder));
  parts.defer(() => rmSync(folder, { recursive: true, force: true }));
  const audit = await ServerAudit.prepare(folder);
  const plane = parts.use(
    await startKubernetes({ purpose: 'bench', extraArguments: { kubeApiserver: audit.serverArguments } }),
  );
  const client = await adminClient(parts, plane.admin);
  await defineKinds(client);
  await describeAws(client);
  await watchable(client);
  await sleep(WARM_UP_MS);
  const stop = new AbortController();
  const rollouts = rollOutAll(client, stop.signal);
  parts.defer(() => rollouts);
  parts.defer(() => stop.abort());
  const requests = (): Promise<readonly AuditedRequest[]> => audit.requestsOf(...Object.values(USERS));
  const [operator, configSync] = await Promise.all(
    Object.values(USERS).map((user) => plane.user(user, ['system:masters'])),
  );
  let asked: readonly AuditedRequest[] = [];
  const outcome = await contend(name, programs, {
    kubeconfigs: { operator: operator ?? '', configSync: configSync ?? '' },
    folder,
    guard,
    until: (signal) => available(client, signal),
    // While they run: a watch that has ended is there twice.
    afterwards: () =>
      steady(async () => {
        asked = await requests();
        return asked.length;
      }),
  });
  return { ...outcome, requests: asked };
}
