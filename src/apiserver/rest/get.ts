import { goQuote } from '../../object/validation/go-text.ts';
import type { ApiResponse } from '../request.ts';
import { badRequest, notFound } from '../status.ts';
import { negotiateObject, presentEntry } from './present.ts';
import { waitForRevision } from './revisions.ts';
import { keyOf, type Scope } from './services.ts';

/** GET of one object: straight from the stored bytes. */
export async function get(scope: Scope): Promise<ApiResponse> {
  const { resource, info, store, request } = scope;
  const as = negotiateObject(scope);
  const wanted = request.query.get('resourceVersion');
  if (wanted !== null && wanted !== '' && wanted !== '0') await waitForRevision(scope, parseRevision(wanted));
  const entry = store.get(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound({ group: resource.group, resource: resource.plural }, info.name);
  return presentEntry(scope, 200, entry, as);
}

const MOST_REVISION = 2n ** 64n - 1n;
// More digits than any number of 64 bits has, leading zeros aside.
const LONGEST_REVISION = 100;

/** A resourceVersion of the query; refused when it is no revision. `where` begins the text of the refusal. */
export function parseRevision(text: string, where = ''): number {
  const isNumber = /^\d+$/.test(text);
  if (isNumber && text.length <= LONGEST_REVISION && BigInt(text) <= MOST_REVISION) return Number(text);
  const quoted = goQuote(text);
  const why = `strconv.ParseUint: parsing ${quoted}: ${isNumber ? 'value out of range' : 'invalid syntax'}`;
  throw badRequest(`${where}resourceVersion: Invalid value: ${quoted}: ${why}`);
}
