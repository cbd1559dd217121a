import { causeChain, messageOf, SlipwayError } from './errors.ts';

export const REDACTED = '[redacted]';

// Bounds, so that a hostile or careless value can neither hold the event loop nor flood the log.
const MAX_TEXT = 16_384;
const MAX_DEPTH = 8;
const MAX_NODES = 2000;

const SECRET_WORDS = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'credential',
  'cookie',
  'authori[sz]ation',
  'api[_-]?key',
  'auth[_-]?key',
  'access[_-]?key',
  'client[_-]?key',
  'private[_-]?key',
  'ssh[_-]?key',
];

// Keys whose value is a secret whatever it looks like. "key" alone is not here: it mostly means a map key.
const SECRET_KEY = new RegExp(
  `${SECRET_WORDS.join('|')}|pwd|jwt|session[_-]?id|kubeconfig|ignition|dockerc(fg|onfig)|^auths?$|^(string|binary)?data$`,
  'i',
);
/** Keys that speak about a secret without holding it: `secretName`, `tokenPath`, `passwordFile`. */
const ABOUT_A_SECRET = /(name|namespace|path|file|count|kind|type|length|bytes|ref)s?$/i;

const QUOTED = `"(?:[^"\\\\]|\\\\.)*"|'[^']*'|\\\\+"(?:[^"\\\\]|\\\\(?!"))*\\\\+"`;
/** Nothing more is behind it: a text may come here twice. */
const GONE = `\\[redacted\\](?:[\\s,;&"'}\\]]|$)`;
/** The start of a sentence about what was named before it. */
const SENTENCE = `: [A-Za-z]{1,20} [A-Za-z"'(]`;
/** No key, although a secret word is in it: a flag that takes a file, a path, or the name of a file. */
const FILE_NAME = [
  '(?<=--[\\w-]{0,40})[\\w-]{0,40}-(?:file|path|dir)',
  '(?<=/[\\w.-]{0,40})[\\w.-]{0,40}',
  '[\\w.-]{0,40}\\.(?:ya?ml|json|toml|conf|env|txt|md|[cm]?[jt]s)',
].join('|');
// Secrets that hide inside other text: each pattern is linear, because no unbounded part can start anywhere.
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s{0,3}[:=]\s{0,3})[^\r\n]+/gi, `$1$2${REDACTED}`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#]*@/gi, `$1${REDACTED}@`],
  [/([?&;#](?:sig|signature|t)=)[^&\s"']{8,}/gi, `$1${REDACTED}`],
  [
    new RegExp(`(--[\\w-]{0,20}(?:${SECRET_WORDS.join('|')})[\\w-]{0,20}(?<!-(?:file|path|dir))\\s)\\S+`, 'gi'),
    `$1${REDACTED}`,
  ],
  [
    new RegExp(
      `(?!(?:${FILE_NAME})${SENTENCE})((?:${SECRET_WORDS.join('|')}|(?<!\\w)auth)[\\w.-]{0,40}\\\\*["']?\\s{0,3}[:=]\\s{0,3})(?:${QUOTED}|(?!${GONE})[^\\s,;&"'}\\]]+)`,
      'gi',
    ),
    `$1${REDACTED}`,
  ],
];

/** Text without the secrets that can be recognised in it, cut after 16 KiB. */
export function redactedText(text: string): string {
  const rest = text.length > MAX_TEXT ? `… (${text.length - MAX_TEXT} more characters)` : '';
  const start = text.slice(0, MAX_TEXT);
  return SECRET_TEXT.reduce((clean, [pattern, replacement]) => clean.replace(pattern, replacement), start) + rest;
}

/** A copy that is safe to show: secret keys blanked, secret text cut, errors as plain data, size bounded. */
export function redacted(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return new Redaction().record(fields, 0);
}

/** One walk over one value; counts what it has seen. */
class Redaction {
  #nodes = 0;

  record(record: Readonly<Record<string, unknown>>, depth: number): Record<string, unknown> {
    const isPair = typeof record['name'] === 'string' && isSecretKey(record['name']) && 'value' in record;
    const entries = Object.entries(record).filter(([, value]) => typeof value !== 'function');
    return Object.fromEntries(
      this.#bounded(entries).map(([key, value]) => {
        const isSecret = (isPair && key === 'value') || isSecretEntry(key, value);
        return [redactedText(key), isSecret ? REDACTED : this.#value(value, depth + 1)];
      }),
    );
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return redactedText(value);
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_DEPTH) return '[deeper]';
    return this.#object(value, depth);
  }

  #object(value: object, depth: number): unknown {
    if (value instanceof Error) return errorFields(value);
    if (value instanceof Date) return value;
    if (value instanceof URL) return redactedText(value.href);
    if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
    if (value instanceof Map || value instanceof Headers) return this.record(Object.fromEntries(value), depth);
    if (value instanceof Set) return this.#list([...value], depth);
    return Array.isArray(value) ? this.#list(value, depth) : this.record({ ...value }, depth);
  }

  /** In `['--password', 'x']` and in raw headers the name of the secret stands before it. */
  #list(items: readonly unknown[], depth: number): readonly unknown[] {
    return this.#bounded(items).map((item, index) => {
      const before = items[index - 1];
      const isNamed = typeof before === 'string' && typeof item === 'string' && /^(--?)?[\w-]+$/.test(before);
      return isNamed && isSecretKey(before) ? REDACTED : this.#value(item, depth + 1);
    });
  }

  #bounded<Item>(items: readonly Item[]): readonly Item[] {
    const room = Math.max(0, MAX_NODES - this.#nodes);
    this.#nodes += Math.min(items.length, room);
    return items.slice(0, room);
  }
}

const isSecretKey = (key: string): boolean => SECRET_KEY.test(key) && !ABOUT_A_SECRET.test(key);

function isSecretEntry(key: string, value: unknown): boolean {
  const isHarmless = value === undefined || value === null || value === '' || typeof value === 'boolean';
  return isSecretKey(key) && !isHarmless && typeof value !== 'number' && !isReference(value);
}

/** `Secret: { namespace, name }` names an object; logs are full of those (style S38). */
const isReference = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length > 0 &&
  Object.keys(value).every((key) => key === 'name' || key === 'namespace');

/** What went wrong and why; where, too, for what nobody foresaw: a foreseen failure is no defect of the code. */
function errorFields(error: Error): Record<string, unknown> {
  const causes = causeChain(error).slice(1).map(messageOf).map(redactedText);
  const place =
    error instanceof SlipwayError
      ? { reason: error.reason }
      : { stack: redactedText(error.stack ?? error.message) };
  return {
    type: error.name,
    message: redactedText(error.message),
    ...place,
    ...(causes.length > 0 && { causes }),
  };
}
