import type { Clock } from '../../base/clock.ts';
import { createLog, type Log, type LogLevel } from '../../base/log.ts';
import type { ClusterAccess } from '../config/cluster-access.ts';
import type { Environment } from '../config/surroundings.ts';
import type { Transport } from '../transport/transport.ts';
import { type ExitCode, exitCodeOf, failureFields } from './exit-code.ts';
import type { FlagReader } from './flag-reader.ts';
import { logText } from './log-text.ts';

/** One run of a component with the flags of an upstream program, and what it runs in. */
export interface ComponentProgram {
  /** Without the interpreter and the name of the program. */
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly homeDir: string;
  readonly version: string;
  readonly clock: Clock;
  /** Aborts when it is to stop. */
  readonly signal: AbortSignal;
  readonly stdout: (text: string) => void;
  /** Logs and messages. */
  readonly stderr: (text: string) => void;
  /** How it is called, for the help. */
  readonly usage?: string;
  /** Instead of what the flags lead to, such as a server in this process. */
  readonly kube?: ClusterAccess | Transport;
  /** Instead of that of the machine, for the identity of the candidate. */
  readonly hostname?: string;
}

/** What `LOG_FLAGS` come to. */
export interface LogSettings {
  readonly logLevel: LogLevel;
  readonly logFormat: 'text' | 'json';
}

const DEBUG_FROM = 4;

export const logSettings = (read: FlagReader): LogSettings => ({
  logLevel: read.number('v') >= DEBUG_FROM ? 'debug' : 'info',
  logFormat: read.text('logging-format') === 'json' ? 'json' : 'text',
});

/** The log that a program was told to write. */
export function programLog(
  { logLevel: level, logFormat }: LogSettings,
  { stderr, clock }: Pick<ComponentProgram, 'stderr' | 'clock'>,
): Log {
  const write = logFormat === 'text' ? (line: string) => stderr(logText(line)) : stderr;
  return createLog({ level, write, now: () => clock.now() });
}

/** `--leader_elect` is `--leader-elect`, as in all programs of Kubernetes. */
export function withDashes(word: string): string {
  const [, dashes = '', name, rest = ''] = /^(--?)([A-Za-z][\w-]*)(=.*)?$/s.exec(word) ?? [];
  return name === undefined ? word : `${dashes}${name.replaceAll('_', '-')}${rest}`;
}

/** What a component does once nothing is wrong with its flags. */
export interface ComponentStart {
  /** Whether its manager has started: that says why it ended, in its last line. */
  readonly hasStarted: boolean;
  run(): Promise<void>;
}

export interface ComponentRun<S extends LogSettings> {
  /** In front of messages. */
  readonly name: string;
  readonly settings: S;
  /** Everything that is wrong. */
  readonly problems: readonly string[];
  readonly start: (settings: S, log: Log) => ComponentStart;
}

/** Starts nothing while anything is wrong with the flags (2); else runs to the end, which is 0 or that of the failure. */
export async function runComponent<S extends LogSettings>(
  { stderr, clock }: Pick<ComponentProgram, 'stderr' | 'clock'>,
  { name, settings, problems, start: begin }: ComponentRun<S>,
): Promise<ExitCode> {
  if (problems.length > 0) {
    stderr(`${name}: ${problems.join('\n')}\n--help lists all flags\n`);
    return 2;
  }
  const log = programLog(settings, { stderr, clock });
  const start = begin(settings, log);
  try {
    await start.run();
    return 0;
  } catch (thrown) {
    if (!start.hasStarted) log.error(failureFields(thrown), 'Cannot start');
    return exitCodeOf(thrown);
  }
}
