import { comparableBody } from './compare.ts';
import type { Recorded } from './recorded-answer.ts';

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;
const TIME = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z/g;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g;
const TOKEN = /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/;
const AGE = /^(?:\d+[smhdy])+$/;
const CLUSTER_ADDRESS = /\b10\.\d+\.\d+\.\d+\b/g;
/** Revisions inside messages. */
const REVISION_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/(ResourceVersion in record) \(\d+\)/g, '$1 (<revision>)'],
  [/(Too large resource version: \d+, current:) \d+/g, '$1 <revision>'],
  [/(too old resource version: \d+) \(\d+\)/g, '$1 (<revision>)'],
  [/(resourceVersion\\*":\\*")\d+/g, '$1<revision>'],
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-<generated>'],
  // Upstream prints its internal types here, which nobody reads.
  [/Invalid value: \[\{"name".*?\}\]:/gis, 'Invalid value: <versions>:'],
  // The patched object, whose keys upstream prints in another order.
  [/Invalid value: "(?:\{\\"|map\[)(?:[^"\\]|\\.)*":/g, 'Invalid value: <patched>:'],
  // Upstream's words for a mistake in an expression are those of its parser.
  [/(failed: ERROR: <input>:\d+:\d+: Syntax error:).*?(?=, webhooks|$)/gs, '$1 <text>'],
  // Each server is its own issuer, under a name of its own choice.
  [/(token audiences) \["[^"]*"\]/g, '$1 ["<issuer>"]'],
  // Parsers disagree on where a mistake begins, and go-yaml names no line for the first one.
  [/yaml: line \d+: /g, 'yaml: '],
  [/X509SHA256=[0-9a-f]+/g, 'X509SHA256=<hash>'],
  [/hash=[0-9A-F]+/g, 'hash=<hash>'],
];
/** A time this near was made by a server during the run; others came with the request. */
const NEAR_MS = 25 * 3_600_000;

/** A name has 63 characters at most, five of them generated. */
const LONGEST_PREFIX = 58;

/** What is known of the server beforehand. */
export interface Place {
  readonly url: string;
  /** Where its webhooks live; each server has its own. */
  readonly webhookUrl: string;
  readonly nowMs: number;
}

/**
 * Replaces what no two servers share. Identifiers become ordinals in order of appearance, revisions of objects
 * ordinals in order of size, so that equality and order are still compared.
 */
export function masked(answers: readonly Recorded[], place: Place): readonly Recorded[] {
  const mask = new Mask(place, answers);
  return answers.map((answer) => ({
    ...answer,
    headers: mask.value(answer.headers) as Recorded['headers'],
    body: mask.value(answer.body),
    ...(answer.failure !== undefined && { failure: mask.text(answer.failure) }),
  }));
}

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

class Mask {
  readonly #revisions = new Map<string, string>();
  readonly #generated = new Map<string, string>();
  readonly #uids = new Map<string, string>();
  readonly #addresses = new Map<string, string>();
  readonly #place: Place;

  constructor(place: Place, answers: readonly Recorded[]) {
    this.#place = place;
    const revisions = new Set<string>();
    // What is not compared must not count either: controllers may have written it at any time.
    for (const { body, step } of answers) {
      if (step.compare?.body !== false) this.#learn(comparableBody(body, step.compare ?? {}), revisions);
    }
    [...revisions]
      .sort((a, b) => Number(BigInt(a) - BigInt(b)))
      .forEach((revision, index) => this.#revisions.set(revision, `revision ${index + 1}`));
  }

  value(value: unknown): unknown {
    if (typeof value === 'string') return TOKEN.test(value) ? this.#token(value) : this.text(value);
    if (Array.isArray(value)) return value.map((item: unknown) => this.value(item));
    return isMembers(value) ? this.#object(value) : value;
  }

  text(text: string): string {
    const { hostname, port } = new URL(this.#place.url);
    let result = text
      .replace(CERTIFICATE, '<certificate>')
      .replaceAll(this.#place.webhookUrl, '<webhooks>')
      .replaceAll(`${hostname}:${port}`, '<server>')
      .replace(UUID, (uid) => ordinal(this.#uids, uid, 'uid'))
      .replace(CLUSTER_ADDRESS, (address) => ordinal(this.#addresses, address, 'address'))
      .replace(TIME, (whole, seconds: string, fraction?: string) => this.#time(whole, seconds, fraction));
    for (const [pattern, replacement] of REVISION_TEXTS) result = result.replace(pattern, replacement);
    for (const [name, replacement] of this.#generated) result = result.replaceAll(name, replacement);
    return result;
  }

  #object(object: Members): Members {
    const entries = Object.keys(object)
      .sort()
      .map((key) => [this.text(key), this.#member(object, key)] as const);
    return Object.fromEntries(entries);
  }

  #member(object: Members, key: string): unknown {
    const value = object[key];
    if (typeof value === 'string') return this.#textMember(key, value);
    if (Array.isArray(value)) return this.#listMember(key, value);
    if (key === 'metadata' && isListLike(object) && isMembers(value)) return this.#listMetadata(value, object);
    return this.value(value);
  }

  #textMember(key: string, value: string): unknown {
    if (key === 'resourceVersion') return this.#revisions.get(value) ?? value;
    if (key === 'continue' && value !== '') return continuation(value);
    if (key === 'kubernetes.io/description') return '<prose>';
    return key === 'storageVersionHash' ? '<hash>' : this.value(value);
  }

  #listMember(key: string, value: readonly unknown[]): unknown {
    if (key === 'cells') return value.map((cell) => this.#cell(cell));
    const items = value.map((item) => this.value(item));
    if (key === 'columnDefinitions') return items.map(withoutProse);
    return key === 'managedFields' ? sorted(items) : items;
  }

  #cell(cell: unknown): unknown {
    return typeof cell === 'string' && AGE.test(cell) ? '<age>' : this.value(cell);
  }

  /** A list is as new as the server, whatever else happens there; only that it is not older than its items is a fact. */
  #listMetadata(metadata: Members, list: Members): unknown {
    const { resourceVersion, ...rest } = metadata;
    if (typeof resourceVersion !== 'string' || !/^\d+$/.test(resourceVersion)) return this.value(metadata);
    const isOlder = revisionsOf(list).some((revision) => BigInt(revision) > BigInt(resourceVersion));
    return { ...this.#object(rest), resourceVersion: isOlder ? '<older than its items>' : '<revision>' };
  }

  #token(token: string): unknown {
    const [head = '', payload = ''] = token.split('.');
    const decode = (text: string): Members => JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const { exp, iat, nbf, ...claims } = decode(payload);
    const { alg } = decode(head);
    const bound = claims['kubernetes.io'];
    const { warnafter: _warnafter, ...kept } = isMembers(bound) ? bound : {};
    const times = { lifetime: Number(exp) - Number(iat), isValidAtOnce: iat === nbf };
    return { token: this.value({ alg, ...claims, 'kubernetes.io': kept, ...times }) };
  }

  #time(whole: string, seconds: string, fraction: string | undefined): string {
    const isNear = Math.abs(Date.parse(`${seconds}Z`) - this.#place.nowMs) < NEAR_MS;
    return isNear ? `<time${fraction === undefined ? '' : ` with ${fraction.length - 1} digits`}>` : whole;
  }

  /** The metadata of an object has a name and a uid; that of a list has neither. */
  #learn(value: unknown, revisions: Set<string>): void {
    if (Array.isArray(value)) for (const item of value) this.#learn(item, revisions);
    if (!isMembers(value)) return;
    if (typeof value['name'] === 'string' || typeof value['uid'] === 'string')
      this.#learnMetadata(value, revisions);
    for (const member of Object.values(value)) this.#learn(member, revisions);
  }

  #learnMetadata({ resourceVersion, generateName, name }: Members, revisions: Set<string>): void {
    if (typeof resourceVersion === 'string' && /^[1-9]\d*$/.test(resourceVersion)) revisions.add(resourceVersion);
    if (typeof generateName !== 'string' || typeof name !== 'string') return;
    const prefix = generateName.slice(0, LONGEST_PREFIX);
    const suffix = name.slice(prefix.length);
    if (name.startsWith(prefix) && /^[bcdfghjklmnpqrstvwxz2456789]{5}$/.test(suffix)) {
      this.#generated.set(name, `${prefix}<generated>`);
    }
  }
}

const isListLike = (object: Members): boolean =>
  'items' in object || 'rows' in object || 'columnDefinitions' in object || isBookmark(object);

/** A bookmark is an object with nothing but a revision. */
const isBookmark = ({ metadata, ...rest }: Members): boolean =>
  isMembers(metadata) &&
  metadata['name'] === undefined &&
  metadata['generateName'] === undefined &&
  'kind' in rest &&
  rest['kind'] !== 'Status';

const revisionsOf = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(revisionsOf);
  if (!isMembers(value)) return [];
  const own = value['resourceVersion'];
  const below = Object.entries(value).flatMap(([key, member]) =>
    key === 'annotations' ? [] : revisionsOf(member),
  );
  return typeof own === 'string' && /^\d+$/.test(own) ? [own, ...below] : below;
};

/** Entries are ordered by time in seconds, so their order depends on when a second ends. */
const sorted = (entries: readonly unknown[]): readonly unknown[] =>
  [...entries].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

function ordinal(known: Map<string, string>, value: string, noun: string): string {
  const name = known.get(value) ?? `<${noun} ${known.size + 1}>`;
  known.set(value, name);
  return name;
}

/** What is said of a column is upstream's documentation, except where it names the path of a custom column. */
function withoutProse(column: unknown): unknown {
  if (!isMembers(column)) return column;
  const text = String(column['description']);
  return { ...column, description: text.startsWith('Custom resource definition column') ? text : '<prose>' };
}

/** A token is for the server that made it; only the name where the next page starts must be the same. */
function continuation(token: string): unknown {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as Members;
    return { continue: { start: String(start).replace(/^.*\//s, ''), rv: rv === -1 ? rv : '<revision>' } };
  } catch {
    return token;
  }
}
