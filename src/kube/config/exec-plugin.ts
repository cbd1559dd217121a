import type { Clock } from '../../base/clock.ts';
import { retryError, type SlipwayError, terminalError, userError } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import type { JsonObject } from '../../object/json.ts';
import type { ClientCertificate } from './cluster-access.ts';
import type { AuthorizationSource, CertificateSource } from './credential-parts.ts';
import { type ExecApiVersion, type ExecCredential, execInfoText, parseExecCredential } from './exec-credential.ts';
import type { ProgramResult, RunProgram } from './exec-process.ts';
import { SharedRun } from './shared-run.ts';

/** C4: a credential is not used up to its last second, so that it is still good when the request arrives. */
const EXPIRY_MARGIN_MS = 10_000;
/** Of a plugin that asks nobody; who waits for a person waits as long as they take. */
const PLUGIN_TIMEOUT_MS = 60_000;

export type InteractiveMode = 'Never' | 'IfAvailable' | 'Always';

/** The `exec` section of a user, checked. */
export interface ExecPluginConfig {
  /** As the kubeconfig spells it, for messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: ExecApiVersion;
  readonly interactiveMode: InteractiveMode;
  readonly installHint?: string;
  /** For the plugin, when it asked for it. */
  readonly cluster?: () => Promise<JsonObject>;
}

export interface ExecSurroundings {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: RunProgram;
  /** Whether stdin is a terminal whose user can be asked. */
  readonly isTerminal: boolean;
  readonly stderr: (text: string) => void;
}

/**
 * Credentials that a program prints (C4). It runs once for everybody who waits, again 10 s before what it gave ends, and
 * once after a 401. A failure goes to those who waited for this run; the next request runs it again.
 */
export class ExecPlugin implements AuthorizationSource, CertificateSource {
  readonly #config: ExecPluginConfig;
  readonly #around: ExecSurroundings;
  readonly #run = new SharedRun((signal) => this.#renew(signal));
  /** One per connection that is open. */
  readonly #listeners = new Set<() => void>();
  #known: ExecCredential | undefined;
  /** Kept when the rest is thrown away, to see whether it changed. */
  #certificate: ClientCertificate | undefined;
  #hasRun = false;

  constructor(config: ExecPluginConfig, around: ExecSurroundings) {
    this.#config = config;
    this.#around = around;
  }

  async authorization(signal?: AbortSignal): Promise<string | undefined> {
    return (await this.#credential(signal)).authorization;
  }

  async certificate(signal?: AbortSignal): Promise<ClientCertificate | undefined> {
    return (await this.#credential(signal)).certificate;
  }

  refresh(refused?: string): void {
    if (refused === undefined || refused === (this.#known?.authorization ?? '')) this.#known = undefined;
  }

  onChange(listener: () => void): Disposable {
    const entry = () => listener();
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
  }

  async #credential(signal?: AbortSignal): Promise<ExecCredential> {
    const known = this.#known;
    return known !== undefined && this.#lasts(known, EXPIRY_MARGIN_MS) ? known : this.#run.run(signal);
  }

  #lasts({ expiresAt }: ExecCredential, marginMs: number): boolean {
    return expiresAt === undefined || this.#around.clock.now().getTime() + marginMs < expiresAt.getTime();
  }

  async #renew(signal: AbortSignal): Promise<ExecCredential> {
    const first = await this.#once(signal);
    if (this.#lasts(first, 0)) return this.#take(first);
    // It may have printed what it had kept and found out only by that.
    const second = await this.#once(signal);
    if (this.#lasts(second, 0)) return this.#take(second);
    const end = second.expiresAt?.toISOString() ?? '';
    throw this.#failure(`printed twice a credential that had expired already (${end}); log in again with it`);
  }

  #take(credential: ExecCredential): ExecCredential {
    const { certificate } = credential;
    const isNew =
      certificate?.certPem !== this.#certificate?.certPem || certificate?.keyPem !== this.#certificate?.keyPem;
    const mustTell = this.#hasRun && isNew;
    this.#known = credential;
    this.#certificate = certificate;
    this.#hasRun = true;
    if (mustTell) for (const listener of this.#listeners) listener();
    return credential;
  }

  async #once(signal: AbortSignal): Promise<ExecCredential> {
    const { name, command, args, env, apiVersion, cluster } = this.#config;
    const { clock, run, stderr } = this.#around;
    const isInteractive = this.#isInteractive();
    const info = { apiVersion, isInteractive, ...(cluster !== undefined && { cluster: await cluster() }) };
    const result = await run({
      command,
      args,
      env: { ...definedOf(this.#around.env), ...env, KUBERNETES_EXEC_INFO: execInfoText(info) },
      isInteractive,
      stderr,
      clock,
      ...(!isInteractive && { timeoutMs: PLUGIN_TIMEOUT_MS }),
      signal,
    });
    signal.throwIfAborted();
    if (result.outcome === 'not-found') throw this.#missing();
    if (result.outcome !== 'exited' || result.exitCode !== 0) throw this.#failure(failureText(result));
    const credential = parseExecCredential(result.stdout, apiVersion, clock.now());
    if (typeof credential !== 'string') return credential;
    throw terminalError('ExecPluginFailed', this.#message(`the credential plugin "${name}" ${credential}`));
  }

  #isInteractive(): boolean {
    const { interactiveMode, name } = this.#config;
    if (interactiveMode === 'Never') return false;
    if (this.#around.isTerminal || interactiveMode === 'IfAvailable') return this.#around.isTerminal;
    throw userError(
      'ExecPluginNeedsTerminal',
      `the credential plugin "${name}" says interactiveMode: Always, but standard input is no terminal; run it from a terminal or use another user`,
    );
  }

  #missing(): SlipwayError {
    return userError('ExecPluginMissing', missingPluginText(this.#config));
  }

  #failure(text: string): SlipwayError {
    return retryError('ExecPluginFailed', this.#message(`the credential plugin "${this.#config.name}" ${text}`));
  }

  #message(text: string): string {
    const { installHint } = this.#config;
    return installHint === undefined ? text : `${text}. ${hintText(installHint)}`;
  }
}

const hintText = (installHint: string): string => `Its install hint says: ${installHint.trim()}`;

/** For a program that is not there: where it was looked for and how to get it. */
export function missingPluginText(config: Pick<ExecPluginConfig, 'name' | 'installHint'>): string {
  const { name, installHint } = config;
  const where = name.includes('/') ? 'at that path' : 'in PATH';
  const way = installHint === undefined ? 'Install it, or use a user without exec' : hintText(installHint);
  return `the credential plugin "${name}" is not installed: no such program ${where}. ${way}`;
}

function failureText({ outcome, exitCode, stderr }: ProgramResult): string {
  const said = stderr.trim() === '' ? '' : `; it said: ${redactedText(stderr.trim())}`;
  if (outcome === 'timeout') return `did not end within ${PLUGIN_TIMEOUT_MS / 1000} s${said}`;
  if (outcome === 'too-much-output') return 'printed more than 1 MiB, which is no credential';
  if (outcome === 'not-runnable') return `cannot be run${said}`;
  return `${exitCode === undefined ? 'was ended by a signal' : `failed with exit code ${exitCode}`}${said}`;
}

const definedOf = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
