import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { oracleFile } from '../../test/support/needs-oracle.ts';
import { MeasuredProcess } from '../measured-process.ts';
import type { Published } from '../published.ts';

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
  const flags = [...SHARED, `--cloud-config=${config}`, `--kubeconfig=${contest.kubeconfig}`];
  const words = [...programOf(name, contest.slipway), ...flags];
  using guard = new ExitGuard(folder);
  const startedMs = performance.now();
  try {
    await using program = new MeasuredProcess({ words, guard });
    await contest.until(program.signal);
    const seconds = (performance.now() - startedMs) / 1000;
    await contest.afterwards();
    return { seconds, peakBytes: program.peakBytes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function programOf(name: ContenderName, slipway: Published): readonly string[] {
  if (name === 'slipway')
    return [...slipway.words, 'run', 'cloud-controller-manager', '--provider=bench/ccm/provider.mjs'];
  return [oracleFile('cloud-provider', process.env), ...(name === 'go' ? [] : TUNED)];
}
