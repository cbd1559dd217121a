import { readConfigFile, resolveSettings, type SettingSources } from '../app/config.ts';
import { CommandError } from '../app/failures.ts';
import { type Host, hostOfProcess, type Interruption, interruptionOfProcess } from '../app/host.ts';
import { releaseVersion } from '../app/release.ts';
import { COMMON_SETTINGS } from '../app/settings.ts';
import type { ExitCode } from '../app/verb.ts';
import { VERBS } from '../app/verbs.ts';
import { SystemClock } from '../base/clock.ts';
import { dispositionOf, messageOf } from '../base/errors.ts';
import { type Invocation, parseArguments } from './arguments.ts';
import { overviewText, verbText } from './help.ts';
import { createOutput, type Streams } from './output.ts';

const streams: Streams = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
};

async function main(host: Host, interruption: Interruption): Promise<ExitCode> {
  const invocation = parseArguments(host.argv, VERBS);
  switch (invocation.kind) {
    case 'overview':
      streams.stdout(`${overviewText(releaseVersion(), VERBS)}\n`);
      return 0;
    case 'help':
      streams.stdout(`${verbText(invocation.verb)}\n`);
      return 0;
    case 'run':
      return runVerb(invocation, host, interruption);
  }
}

type Run = Extract<Invocation, { kind: 'run' }>;

async function runVerb(invocation: Run, host: Host, interruption: Interruption): Promise<ExitCode> {
  const { verb, positionals } = invocation;
  const sources = sourcesOf(invocation, host);
  const common = resolveSettings(COMMON_SETTINGS, sources);
  const { createPresenter, processTerminal } = await import('./live/presenter.ts');
  const clock = new SystemClock();
  const show = createPresenter({ settings: common, env: host.env, clock, terminal: processTerminal() });
  const output = createOutput({ format: common.output, streams, show });
  const context = { output, clock, signal: interruption.signal, folder: host.folder, env: host.env };
  return verb.run(context, sources, positionals);
}

/** The config file may be named by a flag or a variable, never by itself. */
function sourcesOf({ verb, flags }: Run, { env }: Host): SettingSources {
  const { config } = resolveSettings({ config: COMMON_SETTINGS.config }, { flags, env });
  if (config === undefined) return { flags, env };
  const tables = Object.fromEntries(VERBS.map(({ name, settings }) => [name, settings]));
  return { flags, env, file: readConfigFile(config, verb.name, tables) };
}

/** One message without internals; the stack only for those who ask for it. */
function reportError(error: unknown, wantsStack: boolean): ExitCode {
  const isForeseen = error instanceof CommandError || dispositionOf(error) !== 'bug';
  const text = isForeseen
    ? messageOf(error)
    : `internal error: ${messageOf(error)} (SW9001). Run it again with --debug and report it`;
  streams.stderr(`slipway: ${text}\n`);
  if (error instanceof CommandError && error.exitCode !== 2) {
    streams.stderr(`${error.code} · slipway explain ${error.code}\n`);
  }
  if (wantsStack && error instanceof Error) streams.stderr(`${error.stack}\n`);
  return error instanceof CommandError ? error.exitCode : 1;
}

/**
 * A reader that went away (`| head -1`) is not a failure (reliability P57), and neither is a terminal that was closed; but
 * what we started must still be stopped, so both are requests to stop. True once that happened.
 */
function watchForLostReader(interruption: Interruption): () => boolean {
  let isLost = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    isLost = true;
    interruption.stop(error.code);
  });
  return () => isLost;
}

const host = hostOfProcess();
using interruption = interruptionOfProcess();
const isReaderLost = watchForLostReader(interruption);
try {
  const code = await main(host, interruption);
  process.exitCode = isReaderLost() ? 0 : code;
} catch (error) {
  process.exitCode = reportError(error, host.argv.includes('--debug') || host.env['SLIPWAY_DEBUG'] === '1');
}
