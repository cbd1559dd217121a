import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { JsonProblem, parseJsonBytes } from '../../object/json-text.ts';
import { goKind } from '../../object/validation/go-text.ts';
import { badRequest, expired, type StatusError } from '../status.ts';

/** Where a paged list goes on (L2). */
export interface Continuation {
  /** -1: at the newest state, after the original revision was compacted (L3). */
  readonly revision: number;
  /** First key that may be on the page, relative to the resource. */
  readonly start: string;
  readonly incarnation: string;
}

const VERSION = 'meta.k8s.io/v1';
const LONGEST_TOKEN = 4096;

export const continueToken = ({ revision, start, incarnation }: Continuation): string =>
  Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start, inc: incarnation })).toString('base64url');

/** Reads a token; one of another server or an older world is expired (reliability P6). */
export function parseContinueToken(token: string, incarnation: string): Continuation {
  const value = decode(token);
  const { v = '', rv = 0, start = '', inc } = value;
  if (v !== VERSION) throw notValid(`: server does not recognize this encoded version ${textOf(v)}`);
  if (rv === 0 || rv === null)
    throw notValid(': incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  const key = textOf(start);
  if (key === '') throw notValid(': encoded start key empty (version meta.k8s.io/v1)');
  const relative = key.startsWith('/') ? key.slice(1) : key;
  if (!isClean(relative)) throw notValid(`: ${key}`);
  if (typeof inc === 'string' && inc !== incarnation) throw listExpired();
  return { revision: Math.max(Number(rv), -1), start: relative, incarnation };
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : '');

/** Nothing in it leads up, or to another spelling of the same place. */
const isClean = (path: string): boolean =>
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');

function decode(token: string): JsonObject {
  if (token.length > LONGEST_TOKEN) throw notValid(': it is too long');
  const wrongAt = notBase64At(token);
  if (wrongAt >= 0) throw notValid(`: illegal base64 data at input byte ${wrongAt}`);
  const value = parsed(Buffer.from(token, 'base64url'));
  const problem = typeProblem(value);
  if (problem !== undefined) throw notValid(`: json: cannot unmarshal ${problem}`);
  return isJsonObject(value) ? value : {};
}

function parsed(bytes: Uint8Array): Json {
  try {
    return parseJsonBytes(bytes).value;
  } catch (error) {
    if (error instanceof JsonProblem) throw notValid(`: ${error.message}`);
    throw error;
  }
}

/** Where a token stops being base64url without padding; -1 when it does not. */
function notBase64At(token: string): number {
  const wrong = token.search(/[^\w-]/);
  if (wrong >= 0) return wrong;
  // One character left over is no byte.
  return token.length % 4 === 1 ? token.length - 1 : -1;
}

const FIELD_TYPES: Readonly<Record<string, string>> = { v: 'string', rv: 'int64', start: 'string' };

/** What Go would say to a part that has another type than it must have; null counts as absent. */
function typeProblem(value: Json): string | undefined {
  if (value === null) return undefined;
  if (!isJsonObject(value)) return `${goKind(value)} into Go value of type storage.continueToken`;
  for (const [name, type] of Object.entries(FIELD_TYPES)) {
    const member = value[name] ?? null;
    const isRight = type === 'string' ? typeof member === 'string' : isInteger(member);
    if (member === null || isRight) continue;
    const shown = type === 'int64' && typeof member === 'number' ? `number ${member}` : goKind(member);
    return `${shown} into Go struct field continueToken.${name} of type ${type}`;
  }
  return undefined;
}

const isInteger = (value: Json): boolean => typeof value === 'bigint' || Number.isSafeInteger(value);

const notValid = (why: string): StatusError =>
  badRequest(`invalid continue token: continue key is not valid${why}`);

/** The list's snapshot is gone (E21); `token` goes on at the newest state (L3). */
export const listExpired = (token?: string): StatusError =>
  token === undefined
    ? expired('The resourceVersion for the provided list is too old.')
    : expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
        token,
      );
