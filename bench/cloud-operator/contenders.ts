import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { freePort } from '../../oracles/run/port.ts';
import { IMAGE_KEYS } from '../../src/cloud-operator/config/images.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { MeasuredProcess } from '../measured-process.ts';
import type { Published } from '../published.ts';
import { RELEASE } from './cluster.ts';

export type ContenderName = 'upstream' | 'slipway';

/** Where upstream's two programs are: no package registry has them. */
export const UPSTREAM_FOLDER = 'SLIPWAY_UPSTREAM_CLOUD_OPERATOR';
const OPERATOR = 'cluster-cloud-controller-manager-operator';
const CONFIG_SYNC = 'config-sync-controllers';
/** Upstream reads this file and no other. */
const SYSTEM_BUNDLE = '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem';

/** Undefined where nobody says where they are; throws where they are not there. */
export function upstreamFolder(env: NodeJS.ProcessEnv): string | undefined {
  const { [UPSTREAM_FOLDER]: folder = '' } = env;
  if (folder === '') return undefined;
  const missing = [OPERATOR, CONFIG_SYNC].filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return folder;
  throw new Error(`${UPSTREAM_FOLDER} names ${folder}, which has no ${missing.join(' and no ')}`);
}

/** How both programs of each contender are started. */
export interface Programs {
  readonly slipway: Published;
  readonly upstream: string | undefined;
}

export interface Contest {
  /** By program: the server tells them apart. */
  readonly kubeconfigs: { readonly operator: string; readonly configSync: string };
  /** For files of theirs; removed by whoever made it. */
  readonly folder: string;
  readonly guard: ExitGuard;
  /** Resolves when the work is done; rejects when `signal` aborts. */
  readonly until: (signal: AbortSignal) => Promise<void>;
  /** What is left to do after that is waited for, and no part of the time. */
  readonly afterwards: () => Promise<void>;
}

export interface Outcome {
  readonly seconds: number;
  /** Until the work was done, of both programs. */
  readonly processorSeconds: number;
  /** The sum of the most that each of them ever held. */
  readonly peakBytes: number;
}

/** Runs both programs of one contender from their start until the work is done, and ends them. */
export async function contend(name: ContenderName, programs: Programs, contest: Contest): Promise<Outcome> {
  const commands = await commandsOf(name, programs, contest);
  const { guard } = contest;
  const env = { ...process.env, RELEASE_VERSION: RELEASE };
  await using running = new AsyncDisposableStack();
  const startedMs = performance.now();
  const started = commands.map((words) => running.use(new MeasuredProcess({ words, env, guard })));
  await contest.until(AbortSignal.any(started.map(({ signal }) => signal)));
  const seconds = (performance.now() - startedMs) / 1000;
  const processorSeconds = sum(started.map((program) => program.processorSeconds));
  await contest.afterwards();
  return { seconds, processorSeconds, peakBytes: sum(started.map(({ peakBytes }) => peakBytes)) };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

async function commandsOf(name: ContenderName, { slipway, upstream = '' }: Programs, contest: Contest) {
  const { folder, kubeconfigs } = contest;
  const [images, bundle] = [join(folder, 'images.json'), join(folder, 'system-bundle.pem')];
  await writeFile(images, JSON.stringify(Object.fromEntries(IMAGE_KEYS.map(imageOf))));
  await writeFile(bundle, await authorityPem());
  const health = async () => `--health-addr=127.0.0.1:${await freePort()}`;
  const operatorFlags = [
    `--kubeconfig=${kubeconfigs.operator}`,
    `--images-json=${images}`,
    `--metrics-bind-address=127.0.0.1:${await freePort()}`,
    await health(),
    ALONE,
  ];
  const syncFlags = [`--kubeconfig=${kubeconfigs.configSync}`, await health(), ALONE];
  if (name === 'slipway') {
    return [
      [...slipway.words, 'run', 'cloud-operator', ...operatorFlags],
      [...slipway.words, 'run', 'cloud-config-sync', `--system-trust-bundle=${bundle}`, ...syncFlags],
    ];
  }
  return [
    [join(upstream, OPERATOR), ...operatorFlags],
    [...withSystemBundle(bundle), join(upstream, CONFIG_SYNC), ...syncFlags],
  ];
}

/** How long others would have to wait is none of our questions. */
export const ALONE = '--leader-elect=false';

const imageOf = (key: string): readonly [string, string] => [key, `registry.example/${key}:1`];

/** An authority that a system might trust. */
export async function authorityPem(): Promise<string> {
  const authority = await CertificateAuthority.create({
    commonName: 'system',
    now: new Date(),
    validityMs: 86_400_000,
  });
  return authority.certificatePem;
}

/** Words before those of a program that show it a bundle of the system where this machine has none. Takes some 15 ms. */
function withSystemBundle(bundle: string): readonly string[] {
  if (existsSync(SYSTEM_BUNDLE)) return [];
  // Of /etc it needs nothing else; only this process sees it, and it stays the same process.
  const script = 'mount -t tmpfs none /etc && mkdir -p "${1%/*}" && cp "$2" "$1" && shift 2 && exec "$@"';
  return ['unshare', '--map-root-user', '--mount', 'sh', '-c', script, 'sh', SYSTEM_BUNDLE, bundle];
}
