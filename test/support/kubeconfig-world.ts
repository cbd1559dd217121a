import { setImmediate as nextTurn } from 'node:timers/promises';
import { VirtualClock } from '../../src/base/clock.ts';
import { SlipwayError } from '../../src/base/errors.ts';
import type { ClusterAccess } from '../../src/kube/config/cluster-access.ts';
import type { ProgramRequest, ProgramResult } from '../../src/kube/config/exec-process.ts';
import { type KubeconfigOptions, loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';

export const NOW = new Date('2026-03-01T12:00:00Z');
export const HOUR_MS = 3_600_000;

export const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

let made: Promise<CertificateAuthority> | undefined;

/** One authority for all tests of a process; valid for a day. */
export function testAuthority(): Promise<CertificateAuthority> {
  made ??= CertificateAuthority.create({ commonName: 'test-ca', now: NOW, validityMs: 24 * HOUR_MS });
  return made;
}

/** A client certificate of `commonName`, valid for an hour unless told otherwise. */
export async function clientPair(commonName = 'jane', validityMs = HOUR_MS) {
  const authority = await testAuthority();
  const { certificatePem, keys } = await authority.issue({
    kind: 'client',
    commonName,
    organizations: [],
    now: NOW,
    validityMs,
  });
  return { certPem: certificatePem, keyPem: keys.privateKeyPem };
}

/** Files, programs and a clock that exist only in memory. */
export class KubeconfigWorld {
  readonly clock = new VirtualClock({ start: NOW });
  readonly files = new Map<string, string | Error>();
  readonly programs = new Set<string>();
  readonly runs: ProgramRequest[] = [];
  /** What the next runs of a program answer; the last one stays. */
  results: ProgramResult[] = [];
  reads = 0;

  readonly readFile = async (path: string): Promise<string> => {
    await nextTurn();
    this.reads++;
    const text = this.files.get(path);
    if (typeof text === 'string') return text;
    throw text ?? Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
  };

  load(options: Partial<KubeconfigOptions> = {}): Promise<ClusterAccess> {
    return loadKubeconfig({
      env: { KUBECONFIG: '/cfg/config' },
      homeDir: '/home/me',
      clock: this.clock,
      readFile: this.readFile,
      isProgram: (path) => Promise.resolve(this.programs.has(path)),
      run: (request) => this.#run(request),
      isTerminal: false,
      stderr: () => {},
      ...options,
    });
  }

  /** The message of the user's error that loading ends in. */
  async failure(options: Partial<KubeconfigOptions> = {}): Promise<string> {
    const access = await this.load(options).catch((error: unknown) => error);
    if (access instanceof SlipwayError && access.disposition === 'user') return access.message;
    throw new Error('loading did not fail as the error of a user', { cause: access });
  }

  async #run(request: ProgramRequest): Promise<ProgramResult> {
    this.runs.push(request);
    await nextTurn();
    const [result] = this.results.length > 1 ? this.results.splice(0, 1) : this.results;
    return result ?? { outcome: 'not-found', stdout: '', stderr: '' };
  }
}

/** A kubeconfig with one context `dev`; `cluster` and `user` are YAML lines below those entries. */
export const oneContext = (cluster: readonly string[], user: readonly string[]): string =>
  [
    'apiVersion: v1',
    'kind: Config',
    'current-context: dev',
    'contexts:',
    '- name: dev',
    '  context: {cluster: c, user: u}',
    'clusters:',
    '- name: c',
    '  cluster:',
    ...cluster.map((line) => `    ${line}`),
    'users:',
    '- name: u',
    '  user:',
    ...user.map((line) => `    ${line}`),
    '',
  ].join('\n');

/** A world whose `/cfg/config` has one context. */
export function worldOf(
  user: readonly string[],
  cluster: readonly string[] = ['server: https://127.0.0.1:6443'],
): KubeconfigWorld {
  const world = new KubeconfigWorld();
  world.files.set('/cfg/config', oneContext(cluster, user));
  return world;
}
