import { createHash } from 'node:crypto';
import { CloudError, invalidArgument } from '../cloud-error.ts';
import type { ResourceRecord, Tags } from './resource-record.ts';

/** Which objects a list is about, and which part of it (C2). */
export interface ListQuery {
  readonly tags: Tags;
  readonly name: string | undefined;
  readonly state: string | undefined;
  readonly limit: number;
  /** Only objects after the one with this serial. */
  readonly after: number;
}

const MOST_ITEMS = 100;
const TAG = 'tag.';
const KNOWN = ['name', 'state', 'limit', 'pageToken'];

export interface Page {
  readonly records: readonly ResourceRecord[];
  readonly nextPageToken?: string;
}

/** Refuses what it does not know, and a token that was made for another question. */
export function listQuery(query: URLSearchParams): ListQuery {
  const tags: Record<string, string> = {};
  for (const [key, value] of query) {
    if (key.startsWith(TAG)) tags[key.slice(TAG.length)] = value;
    else if (!KNOWN.includes(key)) throw unknownParameter(key);
  }
  const filter = { tags, name: query.get('name') ?? undefined, state: query.get('state') ?? undefined };
  return { ...filter, limit: limitOf(query.get('limit')), after: afterOf(query.get('pageToken'), filter) };
}

/**
 * One page of the objects that fit. They come in the order of their creation, so that an object that is there all the
 * time is on exactly one page, whatever else comes and goes.
 */
export function pageOf(records: readonly ResourceRecord[], query: ListQuery): Page {
  const left = records.filter((record) => record.serial > query.after && isMeant(record, query));
  const shown = left.slice(0, query.limit);
  const last = shown.at(-1);
  if (last === undefined || left.length === shown.length) return { records: shown };
  return { records: shown, nextPageToken: pageToken(last.serial, query) };
}

const isMeant = (record: ResourceRecord, { tags, name, state }: ListQuery): boolean =>
  (name === undefined || record.name === name) &&
  (state === undefined || record.state === state) &&
  Object.entries(tags).every(([key, value]) => Object.hasOwn(record.tags, key) && record.tags[key] === value);

const unknownParameter = (key: string): CloudError =>
  new CloudError('UnknownField', `there is no parameter ${key}: known are ${KNOWN.join(', ')} and tag.KEY`, {
    target: key,
  });

export function limitOf(text: string | null): number {
  const limit = text === null ? MOST_ITEMS : Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_ITEMS && text !== '') return limit;
  throw invalidArgument('limit', `limit: must be a whole number from 1 to ${MOST_ITEMS}, not "${text}"`);
}

type Filter = Pick<ListQuery, 'tags' | 'name' | 'state'>;

const pageToken = (serial: number, filter: Filter): string =>
  Buffer.from(`${serial} ${filterHash(filter)}`).toString('base64url');

function afterOf(token: string | null, filter: Filter): number {
  if (token === null) return 0;
  const [, serial, hash] = /^(\d{1,15}) (\S+)$/.exec(Buffer.from(token, 'base64url').toString()) ?? [];
  if (serial === undefined) throw invalidArgument('pageToken', 'pageToken: is none of this cloud');
  if (hash !== filterHash(filter))
    throw invalidArgument('pageToken', 'pageToken: belongs to a list with other filters');
  return Number(serial);
}

function filterHash({ tags, name, state }: Filter): string {
  const sorted = Object.entries(tags).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify([sorted, name ?? null, state ?? null]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}
