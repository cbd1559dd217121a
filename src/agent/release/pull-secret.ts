import { retryError } from '../../base/errors.ts';
import { isRecord } from '../../object/record.ts';
import type { RegistryCredentials } from '../../oci/registry-authorization.ts';

/** By `host[:port]` exactly as the pull secret has it. */
export type PullSecret = ReadonlyMap<string, RegistryCredentials>;

const HOW = 'set .dockerconfigjson of the pull secret to {"auths":{"HOST":{"auth":"BASE64 OF USER:PASSWORD"}}}';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Reads `.dockerconfigjson` (R3). One bad entry spoils it, also for registries that nobody asks for. Throws
 * `InvalidPullSecret` without a word of what is in there.
 */
export function parsePullSecret(text: string): PullSecret {
  const entries = Object.entries(authsOf(text));
  return new Map(entries.map(([registry, entry]) => [registry, credentialsOf(registry, entry)]));
}

function authsOf(text: string): Readonly<Record<string, unknown>> {
  const value = json(text);
  if (value === null) return {};
  if (!isRecord(value)) throw unparsable(`it is ${kindOf(value)}, not an object`);
  const auths = value['auths'] ?? {};
  if (!isRecord(auths)) throw unparsable(`auths is ${kindOf(auths)}, not an object`);
  return auths;
}

/** The parser's own words repeat what it read, which is a secret. */
function json(text: string): unknown {
  if (text.trim() === '') throw unparsable('unexpected end of JSON input');
  try {
    return JSON.parse(text);
  } catch (thrown) {
    const [, position] = /at position (\d+)/.exec(String(thrown)) ?? [];
    const isCut = /Unexpected end|Unterminated/.test(String(thrown)) || Number(position) >= text.trimEnd().length;
    throw unparsable(
      isCut
        ? 'unexpected end of JSON input'
        : `no JSON${position === undefined ? '' : ` at character ${position}`}`,
    );
  }
}

function credentialsOf(registry: string, entry: unknown): RegistryCredentials {
  if (entry !== null && !isRecord(entry))
    throw unparsable(`the entry ${registry} is ${kindOf(entry)}, not an object`);
  const auth = entry?.['auth'] ?? '';
  if (typeof auth !== 'string') throw unparsable(`auth of ${registry} is ${kindOf(auth)}, not a text`);
  const illegalAt = illegalBase64At(auth);
  if (illegalAt !== undefined)
    throw invalid(`failed to decode auth for ${registry}: illegal base64 data at input byte ${illegalAt}; ${HOW}`);
  const decoded = Buffer.from(auth, 'base64').toString();
  const colon = decoded.indexOf(':');
  if (colon < 0)
    throw invalid(`invalid auth format for ${registry}: there is no ":" between user and password; ${HOW}`);
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Where strict base64 with padding ends to be one, line breaks left out; Node takes anything. */
function illegalBase64At(text: string): number | undefined {
  const symbols = text
    .split('')
    .flatMap((symbol, at) => (symbol === '\n' || symbol === '\r' ? [] : [{ symbol, at }]));
  const foreign = symbols.findIndex(({ symbol }) => !BASE64.includes(symbol));
  const count = foreign < 0 ? symbols.length : foreign;
  const ending = symbols
    .slice(count)
    .map(({ symbol }) => symbol)
    .join('');
  const wanted = ['', undefined, '==', '='][count % 4];
  if (ending === wanted) return undefined;
  if (ending === '') return symbols[count - (count % 4)]?.at ?? text.length;
  const common = ending.split('').findIndex((symbol, index) => symbol !== wanted?.[index]);
  return symbols[count + Math.max(common, 0)]?.at ?? text.length;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const unparsable = (found: string) => invalid(`failed to parse pullsecret: ${found}; ${HOW}`);

/** The Secret is another object: whoever corrects it wakes nobody, so that trying again is all that helps. */
const invalid = (message: string) => retryError('InvalidPullSecret', message);
