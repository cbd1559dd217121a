import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExitGuard } from '../../oracles/run/exit-guard.ts';
import { freePort } from '../../oracles/run/port.ts';
import { WEBHOOK_CERT_DIR } from '../../src/agent/program/flags.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { MeasuredProcess } from '../measured-process.ts';
import type { Published } from '../published.ts';
import { Cell } from './cell.ts';

export type ContenderName = 'upstream' | 'slipway';

/** Where upstream's two programs are: no package registry has them. */
export const UPSTREAM_FOLDER = 'SLIPWAY_UPSTREAM_AGENT';

/** The two that make one contender, and how the API server knows them. */
export const PROVIDERS = {
  bootstrap: { user: 'bench-bootstrap', upstream: 'capoa-bootstrap', ours: 'agent-bootstrap' },
  controlPlane: { user: 'bench-control-plane', upstream: 'capoa-controlplane', ours: 'agent-control-plane' },
} as const;
export type ProviderName = keyof typeof PROVIDERS;
export const PROVIDER_NAMES: readonly ProviderName[] = ['bootstrap', 'controlPlane'];

/** Undefined where nobody says where they are; throws where they are not there. */
export function upstreamFolder(env: NodeJS.ProcessEnv): string | undefined {
  const { [UPSTREAM_FOLDER]: folder = '' } = env;
  if (folder === '') return undefined;
  const names = PROVIDER_NAMES.map((name) => PROVIDERS[name].upstream);
  const missing = names.filter((name) => !existsSync(join(folder, name)));
  if (missing.length === 0) return folder;
  throw new Error(`${UPSTREAM_FOLDER} names ${folder}, which has no ${missing.join(' and no ')}`);
}

/** How both programs of each contender are started. */
export interface Programs {
  readonly slipway: Published;
  readonly upstream: string | undefined;
}

export interface ContenderSetup {
  readonly programs: Programs;
  readonly kubeconfigs: Readonly<Record<ProviderName, string>>;
  /** On loopback, of everything that they ask. */
  readonly ports: readonly number[];
  /** For files of theirs; removed by whoever made it. */
  readonly folder: string;
  readonly guard: ExitGuard;
}

const DAY_MS = 86_400_000;
/** Nobody has to be trusted for assisted-service: it speaks HTTP here. */
const ENVIRONMENT = { ASSISTED_CA_BUNDLE_NAME: '', ASSISTED_CA_BUNDLE_NAMESPACE: '' };

/** Starts both programs of one contender, which end with `parts`; whether they are ready is not waited for. */
export async function startContender(
  name: ContenderName,
  setup: ContenderSetup,
  parts: AsyncDisposableStack,
): Promise<readonly MeasuredProcess[]> {
  const { programs, guard, ports } = setup;
  const certificates = await webhookCertificates(setup.folder);
  const started: MeasuredProcess[] = [];
  for (const provider of PROVIDER_NAMES) {
    const words = await wordsOf(name, provider, { ...setup, certificates });
    // Both contenders, or neither: what the way through it costs, it costs both.
    const cell =
      programs.upstream === undefined
        ? undefined
        : parts.use(await Cell.open({ folder: certificates, place: WEBHOOK_CERT_DIR, ports }));
    const env = { ...process.env, ...ENVIRONMENT };
    started.push(parts.use(new MeasuredProcess({ words: cell?.inside(words) ?? words, env, guard })));
  }
  return started;
}

async function wordsOf(
  name: ContenderName,
  provider: ProviderName,
  { programs, kubeconfigs, certificates }: ContenderSetup & { readonly certificates: string },
): Promise<readonly string[]> {
  const { upstream, ours } = PROVIDERS[provider];
  const flags = [
    `--kubeconfig=${kubeconfigs[provider]}`,
    `--metrics-bind-address=127.0.0.1:${await freePort()}`,
    `--health-probe-bind-address=127.0.0.1:${await freePort()}`,
    '--leader-elect=false',
  ];
  if (name === 'upstream') return [join(programs.upstream ?? '', upstream), ...flags];
  const webhooks = [`--webhook-port=${await freePort()}`, `--webhook-cert-dir=${certificates}`];
  return [...programs.slipway.words, 'run', ours, ...flags, ...webhooks];
}

/** A folder with what a webhook server needs; nobody asks it anything here. */
async function webhookCertificates(folder: string): Promise<string> {
  const now = new Date();
  const authority = await CertificateAuthority.create({ commonName: 'webhooks', now, validityMs: DAY_MS });
  const { certificatePem, keys } = await authority.issue({
    kind: 'serving',
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    now,
    validityMs: DAY_MS,
  });
  const certificates = join(folder, 'certs');
  await mkdir(certificates, { recursive: true });
  await writeFile(join(certificates, 'tls.crt'), certificatePem);
  await writeFile(join(certificates, 'tls.key'), keys.privateKeyPem, { mode: 0o600 });
  return certificates;
}
