import { type Logger, pino } from 'pino';
import { causeChain, messageOf } from './errors.ts';

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
    },
    { write },
  );
  return wrap(logger);
}

function wrap(logger: Logger): Log {
  return {
    error: (fields, message) => logger.error(redacted(fields), message),
    warn: (fields, message) => logger.warn(redacted(fields), message),
    info: (fields, message) => logger.info(redacted(fields), message),
    debug: (fields, message) => logger.debug(redacted(fields), message),
    child: (fields) => wrap(logger.child(redacted(fields))),
  };
}

export const REDACTED = '[redacted]';

// Keys whose value is a secret whatever it looks like. "key" alone is not here: it mostly means a map key.
const SECRET_KEY =
  /pass(word|wd|phrase)?$|secret|token|authori[sz]ation|cookie|credential|api-?key|private-?key|access-?key|client-?key|pull-?secret|kubeconfig|ignition|ssh-?key|^auth$|^data$|^stringData$/i;

// Secrets that hide inside other text.
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@]*:[^\s/@]*@/gi, `$1${REDACTED}@`],
  [
    /([?&;](?:[\w-]*(?:token|secret|password|passwd|signature|sig|credential|api-?key|access-?key)[\w-]*)=)[^&\s"']+/gi,
    `$1${REDACTED}`,
  ],
];

/** Text without the secrets that can be recognised in it. */
export const redactedText = (text: string): string =>
  SECRET_TEXT.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);

// Deeper than any entry of ours; a bound, so that a hostile object cannot hold the event loop.
const MAX_DEPTH = 8;
const MAX_ITEMS = 100;

/** A copy that is safe to log: secret keys blanked, secret text cut, errors as plain data, cycles and depth bounded. */
export function redacted(fields: LogFields): Record<string, unknown> {
  return redactedRecord(fields, 0);
}

function redactedRecord(record: LogFields, depth: number): Record<string, unknown> {
  const entries = Object.entries(record).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([key, value]) => [key, redactedEntry(key, value, depth)]));
}

function redactedEntry(key: string, value: unknown, depth: number): unknown {
  const isEmpty = value === undefined || value === null || value === '' || typeof value === 'boolean';
  return SECRET_KEY.test(key) && !isEmpty ? REDACTED : redactedValue(value, depth + 1);
}

function redactedValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '[deeper]';
  if (value instanceof Error) return errorFields(value);
  if (value instanceof Date) return value;
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redactedValue(item, depth + 1));
  return redactedRecord({ ...value }, depth);
}

/** The stack of the outermost error and the messages of its causes. */
function errorFields(error: Error): Record<string, unknown> {
  const causes = causeChain(error).slice(1).map(messageOf).map(redactedText);
  const stack = redactedText(error.stack ?? error.message);
  return { type: error.name, message: redactedText(error.message), stack, ...(causes.length > 0 && { causes }) };
}
