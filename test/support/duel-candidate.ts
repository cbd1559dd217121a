import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Standstill } from './claims.ts';
import { oracleFile } from './needs-oracle.ts';

export interface DuelOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly lease: string;
  /** For the claims and the logs. */
  readonly directory: string;
  readonly timing: { readonly leaseMs: number; readonly renewMs: number; readonly retryMs: number };
  readonly ignoresFence?: boolean;
}

export type CandidateType = 'ours' | 'client-go';

const PROGRAM = fileURLToPath(new URL('./election-candidate.ts', import.meta.url));
/** A candidate that ends by itself more often than this does not compete, it is broken. */
const MOST_RUNS = 200;

export const claimsFile = ({ directory }: DuelOptions): string => join(directory, 'claims');

/** A candidate whose processes come and go. It is started again whenever its process ends, as a kubelet does. */
export class DuelCandidate implements AsyncDisposable {
  readonly name: string;
  readonly type: CandidateType;
  /** When its processes could not run. */
  readonly standstills: Standstill[] = [];
  readonly #options: DuelOptions;
  #runs = 0;
  #child: ChildProcess | undefined;
  #isDone = false;

  constructor(name: string, type: CandidateType, options: DuelOptions) {
    this.name = name;
    this.type = type;
    this.#options = options;
  }

  /** Of the process that runs now. */
  get identity(): string {
    return `${this.name}#${this.#runs}`;
  }

  get runs(): number {
    return this.#runs;
  }

  start(): void {
    this.#runs += 1;
    const log = openSync(this.#logFile, 'a');
    const [file = '', ...words] = this.type === 'ours' ? this.#ourCommand() : this.#goCommand();
    const env = { KUBECONFIG: this.#options.kubeconfig };
    const child = spawn(file, words, { env, stdio: ['ignore', log, log] });
    closeSync(log);
    this.#child = child;
    child.on('exit', () => {
      if (!this.#isDone && this.#child === child && this.#runs < MOST_RUNS) this.start();
    });
  }

  /** Stops it in its tracks; `resume` lets it go on and notes how long it took. */
  pause(): { readonly resume: () => void } {
    const { identity: by } = this;
    const child = this.#child;
    child?.kill('SIGSTOP');
    const fromMs = Date.now();
    return {
      resume: () => {
        this.standstills.push({ by, fromMs, toMs: Date.now() });
        child?.kill('SIGCONT');
      },
    };
  }

  /** Without a chance to give anything back; the next process starts when this one is gone. */
  async kill(): Promise<void> {
    const { identity: by } = this;
    const gone = this.#gone();
    this.#child?.kill('SIGKILL');
    this.standstills.push({ by, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY });
    await gone;
  }

  /** Told to end; the next process starts when this one is gone. */
  async terminate(): Promise<void> {
    const gone = this.#gone();
    this.#child?.kill('SIGTERM');
    await gone;
  }

  get log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDone = true;
    const gone = this.#gone();
    this.#child?.kill('SIGKILL');
    await gone;
  }

  async #gone(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  get #logFile(): string {
    return join(this.#options.directory, `${this.name}.log`);
  }

  #ourCommand(): readonly string[] {
    const { namespace, lease, timing, ignoresFence = false } = this.#options;
    return [
      process.execPath,
      PROGRAM,
      ...(ignoresFence ? ['--ignore-fence'] : []),
      ...this.#sharedFlags(),
      '--',
      '--leader-elect',
      `--leader-election-id=${lease}`,
      `--leader-election-namespace=${namespace}`,
      `--lease-duration=${timing.leaseMs}ms`,
      `--renew-deadline=${timing.renewMs}ms`,
      `--retry-period=${timing.retryMs}ms`,
      '--metrics-bind-address=0',
    ];
  }

  #goCommand(): readonly string[] {
    const { kubeconfig, namespace, lease, timing } = this.#options;
    return [
      oracleFile('controller-runtime'),
      'elect',
      ...this.#sharedFlags(),
      `--kubeconfig=${kubeconfig}`,
      `--namespace=${namespace}`,
      `--lease=${lease}`,
      `--lease-duration=${timing.leaseMs}ms`,
      `--renew-deadline=${timing.renewMs}ms`,
      `--retry-period=${timing.retryMs}ms`,
    ];
  }

  #sharedFlags(): readonly string[] {
    return [`--claims=${claimsFile(this.#options)}`, `--identity=${this.identity}`];
  }
}
