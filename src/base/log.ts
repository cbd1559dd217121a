import { type Logger, pino } from 'pino';
import { redacted, redactedText } from './redaction.ts';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** Structured facts beside a constant message; `err` takes whatever was thrown. */
export type LogFields = Readonly<Record<string, unknown>>;

/** One JSON line per entry; secrets are taken out before anything is written (style S35, S37). */
export interface Log {
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
  child(fields: LogFields): Log;
}

/** For those whom nobody listens to. */
export const SILENT_LOG: Log = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  child: () => SILENT_LOG,
};

export interface LogOptions {
  readonly level: LogLevel;
  /** Where lines go; a line never holds a raw line break. */
  readonly write: (line: string) => void;
  readonly now: () => Date;
}

export function createLog({ level, write, now }: LogOptions): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${now().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      // Ours has done its work already; pino's own would take our copy for an error again.
      serializers: { err: (value: unknown) => value },
    },
    { write },
  );
  return wrap(logger);
}

function wrap(logger: Logger): Log {
  const at = (level: LogLevel) => (fields: LogFields, message: string) => {
    // Redaction costs more than the rest; what nobody reads needs none.
    if (logger.isLevelEnabled(level)) logger[level](written(fields), redactedText(message));
  };
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: (fields) => wrap(logger.child(written(fields))),
  };
}

const OURS = new Set(['level', 'time', 'message']);

/** A field may not pose as one that every entry has: readers of JSON take the last of two equal keys. */
function written(fields: LogFields): Record<string, unknown> {
  const entries = Object.entries(redacted(fields));
  return Object.fromEntries(entries.map(([key, value]) => [OURS.has(key) ? `${key}_` : key, value]));
}
