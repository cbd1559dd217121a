import { resolveSettings, type SettingSources } from '../app/config.ts';
import type { ClusterBoard } from '../app/describe/board.ts';
import { CommandError } from '../app/failures.ts';
import type { Host, Interruption } from '../app/host.ts';
import type { Journey } from '../app/journey/journey.ts';
import { releaseVersion } from '../app/release.ts';
import { COMMON_SETTINGS } from '../app/settings.ts';
import type { ExitCode, Verb } from '../app/verb.ts';
import { SystemClock } from '../base/clock.ts';
import { dispositionOf, messageOf } from '../base/errors.ts';
import { redactedText } from '../base/redaction.ts';
import { type Invocation, parseArguments } from './arguments.ts';
import { overviewText, verbText } from './help.ts';
import { accessibleSources, isAscii, type LookSettings } from './live/mode.ts';
import { ASCII, UNICODE } from './live/symbols.ts';
import { createOutput, type Streams } from './output.ts';

const streams: Streams = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
};

/** One run of the program, from its words to the end of the process. */
export class CommandLine {
  readonly #host: Host;
  readonly #verbs: readonly Verb[];
  readonly #interruption: Interruption;
  #journey: Journey | undefined;
  /** Until the settings are known an error may come, too: then the words alone decide. */
  #wantsStack: boolean;

  constructor(host: Host, verbs: readonly Verb[], interruption: Interruption) {
    this.#host = host;
    this.#verbs = verbs;
    this.#interruption = interruption;
    this.#wantsStack = host.argv.includes('--debug') || host.env['SLIPWAY_DEBUG'] === '1';
  }

  /**
   * Ends the process itself, as soon as everything is written: something that ignored the request to stop may still wait
   * for whatever it waits for, and would keep the process running for as long.
   */
  async run(): Promise<never> {
    process.on('uncaughtException', (error) => process.exit(this.#crash(error)));
    process.on('exit', () => this.#journey?.kill());
    const lostOutput = watchOutput(this.#interruption);
    const code = await this.#exitCode();
    for (const stream of [process.stdout, process.stderr]) await drained(stream);
    process.exit(lostOutput() ?? code);
  }

  async #exitCode(): Promise<ExitCode> {
    const { signal } = this.#interruption;
    try {
      return await this.#runInvocation();
    } catch (error) {
      return signal.aborted && error === signal.reason ? 130 : this.#reportError(error);
    }
  }

  async #runInvocation(): Promise<ExitCode> {
    const invocation = parseArguments(this.#host.argv, this.#verbs);
    switch (invocation.kind) {
      case 'overview':
        resolveSettings(COMMON_SETTINGS, { flags: invocation.flags, env: this.#host.env });
        streams.stdout(`${this.#drawable(overviewText(releaseVersion(), this.#verbs))}\n`);
        return 0;
      case 'help':
        streams.stdout(`${this.#drawable(verbText(invocation.verb))}\n`);
        return 0;
      case 'run':
        return this.#runVerb(invocation);
    }
  }

  async #runVerb(invocation: Run): Promise<ExitCode> {
    const { env, folder } = this.#host;
    const sources = await this.#sources(invocation);
    const common = commonSettings(invocation.verb, sources);
    this.#wantsStack = common.debug;
    const { createPresenter, processTerminal } = await import('./live/presenter.ts');
    const clock = new SystemClock();
    const present = createPresenter({ settings: common, env, clock, terminal: processTerminal() });
    const show = (shown: Journey | ClusterBoard) => {
      if ('recordCrash' in shown) this.#journey = shown;
      return present(shown);
    };
    const drawable = (text: string) => this.#drawable(text, common);
    const output = createOutput({ format: common.format, streams, show, drawable });
    const context = { output, clock, signal: this.#interruption.signal, folder, env };
    return invocation.verb.run(context, accessibleSources(sources, common, env), invocation.positionals);
  }

  /** The config file may be named by a flag or a variable, never by itself. */
  async #sources({ verb, flags }: Run): Promise<SettingSources> {
    const { env } = this.#host;
    const { config } = resolveSettings({ config: COMMON_SETTINGS.config }, { flags, env });
    if (config === undefined) return { flags, env };
    const { readConfigFile } = await import('../app/config-file.ts');
    const tables = Object.fromEntries(this.#verbs.map(({ name, settings }) => [name, settings]));
    return { flags, env, file: readConfigFile(config, verb.name, tables) };
  }

  /** The terminal has been given back by then: it is told first (experience X8). */
  #crash(error: unknown): ExitCode {
    this.#journey?.recordCrash(error);
    return this.#reportError(error);
  }

  /** One message without internals; the stack only for those who ask for it. */
  #reportError(error: unknown): ExitCode {
    const isForeseen = error instanceof CommandError || dispositionOf(error) !== 'bug';
    const log = this.#journey?.log;
    const way =
      log === undefined ? 'Run it again with --debug and report it' : `Please report it; the log is ${log}`;
    const message = redactedText(messageOf(error));
    const text = isForeseen ? message : `internal error: ${message} (SW9001). ${way}`;
    streams.stderr(`slipway: ${this.#drawable(text)}\n`);
    if (error instanceof CommandError && error.exitCode !== 2) {
      streams.stderr(`${this.#drawable(`${error.code} · npx slipway explain ${error.code}`)}\n`);
    }
    if (this.#wantsStack && error instanceof Error) streams.stderr(`${redactedText(error.stack ?? '')}\n`);
    return error instanceof CommandError ? error.exitCode : 1;
  }

  /** Text in characters that the terminal can show and will not obey; line by line, because breaks are ours. */
  #drawable(text: string, settings: LookSettings = this.#look()): string {
    const glyphs = isAscii(settings, this.#host.env) ? ASCII : UNICODE;
    return text.split('\n').map(glyphs.text).join('\n');
  }

  /** Before anything is parsed, or when it could not be: as far as the words alone tell. */
  #look(): LookSettings {
    const { argv } = this.#host;
    const defaults = resolveSettings(COMMON_SETTINGS, { flags: new Map(), env: {} });
    return { ...defaults, ascii: argv.includes('--ascii') };
  }
}

/** Forms of output that are JSON under another name. */
const JSON_FORMS: readonly unknown[] = ['json', 'sarif'];

/** A verb may know more forms of output than others: text for people, JSON, and text that programs read as it is. */
function commonSettings({ settings }: Verb, sources: SettingSources) {
  const { output: usual, ...others } = COMMON_SETTINGS;
  const { output: form } = resolveSettings({ output: settings['output'] ?? usual }, sources);
  const format = form === 'text' ? 'text' : JSON_FORMS.includes(form) ? 'json' : 'exact';
  // What is not for people is never coloured or redrawn.
  const output = format === 'text' ? 'text' : 'json';
  return { ...resolveSettings(others, sources), output, format } as const;
}

type Run = Extract<Invocation, { kind: 'run' }>;

/**
 * A reader that went away (`| head -1`) is not a failure (reliability P57), and neither is a terminal that was closed; a
 * full disk is. In each case what we started must still be stopped. Returns the exit code once that happened.
 */
function watchOutput(interruption: Interruption): () => ExitCode | undefined {
  let code: ExitCode | undefined;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (code !== undefined) return;
    code = error.code === 'EPIPE' || error.code === 'EIO' ? 0 : 3;
    if (code !== 0) streams.stderr(`slipway: the output cannot be written: ${error.message}\n`);
    interruption.stop(error.code ?? error.message);
  });
  // There is nowhere left to say it.
  process.stderr.on('error', () => {});
  return () => code;
}

/** Resolves when all is written, or cannot be. */
const drained = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write('', () => resolve()));
