import { userError } from '../../base/errors.ts';
import { jsonSyntaxError } from '../../object/json-syntax.ts';

/** The keys of `images.json` that the platforms of OpenShift use (R10). */
export const IMAGE_KEYS: readonly string[] = [
  'cloudControllerManagerOperator',
  'cloudControllerManagerAWS',
  'cloudControllerManagerAzure',
  'cloudNodeManagerAzure',
  'cloudControllerManagerGCP',
  'cloudControllerManagerIBM',
  'cloudControllerManagerOpenStack',
  'cloudControllerManagerVSphere',
  'cloudControllerManagerPowerVS',
  'cloudControllerManagerNutanix',
];

export interface ImagesFile {
  readonly text: string;
  /** How messages call it. */
  readonly file: string;
  /** Those that somebody uses; whatever is under another key is ignored. */
  readonly keys?: Iterable<string>;
}

/**
 * Images by key, of those keys that are there (R10). The last of several equal keys wins, and `null` says nothing, both
 * as in Go. Throws a user error that names file, line and key.
 */
export function parseImages({ text, file, keys = IMAGE_KEYS }: ImagesFile): ReadonlyMap<string, string> {
  requireObject(text, file);
  const known = new Set(keys);
  const images = new Map<string, string>();
  for (const { key, token, at } of membersOf(text)) {
    if (!known.has(key) || token === 'null') continue;
    if (!token.startsWith('"')) throw notText(key, token, `${file}:${lineAt(text, at)}`);
    images.set(key, textOf(token));
  }
  return images;
}

function requireObject(text: string, file: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidJson(text, file);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw userError('ImagesUnreadable', `${file}:1: must be a JSON object with images by key`);
}

const WORDS: Readonly<Record<string, string>> = { '{': 'an object', '[': 'a list', t: 'true', f: 'false' };

const notText = (key: string, token: string, place: string) =>
  userError(
    'ImagesUnreadable',
    `${place}: ${key} must be an image as text, not ${WORDS[token.charAt(0)] ?? `the number ${token}`}`,
  );

interface Member {
  readonly key: string;
  /** Its value, or what the value starts with. */
  readonly token: string;
  readonly at: number;
}

const LEVELS: ReadonlyMap<string, number> = new Map([
  ['{', 1],
  ['[', 1],
  ['}', -1],
  [']', -1],
]);
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/** The members of the object that the text is known to be, in its order, equal keys one after the other. */
function* membersOf(text: string): Generator<Member> {
  let depth = 0;
  let isKeyNext = true;
  /** The key whose value comes next. */
  let key: string | undefined;
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    if (depth === 1 && token === ',') isKeyNext = true;
    else if (isKeyNext && token.startsWith('"')) {
      key = textOf(token);
      isKeyNext = false;
    } else if (key !== undefined && token !== ':') {
      yield { key, token, at };
      key = undefined;
    }
    depth += LEVELS.get(token) ?? 0;
  }
}

// A token in quotes of a text that is JSON is text.
const textOf = (token: string): string => JSON.parse(token) as string;

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length;

const encoder = new TextEncoder();
const UNFINISHED = 'unexpected end of JSON input';

/** No token goes over the end of a line, so the first lines up to a good one are the start of something right. */
function invalidJson(text: string, file: string) {
  const lines = text.split('\n');
  const problemOf = (count: number): string | undefined => {
    const start = lines.slice(0, count).join('\n');
    return isJson(start) ? undefined : jsonSyntaxError(encoder.encode(`${start}\n`));
  };
  const bad = lines.findIndex((_, at) => (problemOf(at + 1) ?? UNFINISHED) !== UNFINISHED);
  const line = bad < 0 ? lines.length : bad + 1;
  return userError('ImagesUnreadable', `${file}:${line}: is not JSON: ${problemOf(line) ?? UNFINISHED}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
