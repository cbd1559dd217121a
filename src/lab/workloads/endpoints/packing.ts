import type { Endpoint } from '../../../api/generated/discovery-v1-types.ts';
import type { JsonObject } from '../../../api/json.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';

/** Endpoints in one slice at most (W31). */
export const MOST_ENDPOINTS = 100;

/** A slice that is there. */
export interface Packed {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  /** Its labels are to be written anyway. */
  readonly isChanged?: boolean;
}

export interface Packing {
  /** By name; what else is there stays as it is. */
  readonly update: ReadonlyMap<string, readonly Endpoint[]>;
  readonly create: readonly (readonly Endpoint[])[];
  readonly remove: readonly string[];
}

/**
 * Pure: brings endpoints into slices with as few writes as can be. What is in a slice stays there; new ones go to slices
 * that are written anyway, the fullest first, then together into one that has room for all of them, then into new ones.
 */
export function packing(desired: readonly Endpoint[], slices: readonly Packed[], most = MOST_ENDPOINTS): Packing {
  const waiting = new Map(desired.map((endpoint) => [keyOf(endpoint), endpoint]));
  const kept = slices.map((slice) => keptIn(slice, waiting));
  const update = new Map(kept.filter(({ isWritten, endpoints }) => isWritten && endpoints.length > 0).map(entry));
  const unchanged = new Map(kept.filter(({ isWritten }) => !isWritten).map(entry));
  const left = [...waiting.values()];
  for (const [name, endpoints] of [...update].toSorted(([, a], [, b]) => b.length - a.length)) {
    update.set(name, [...endpoints, ...left.splice(0, Math.max(0, most - endpoints.length))]);
  }
  const create: (readonly Endpoint[])[] = [];
  while (left.length >= most) create.push(left.splice(0, most));
  if (left.length > 0) {
    const roomy = tightest(unchanged, left.length, most);
    if (roomy === undefined) create.push(left);
    else update.set(roomy, [...(unchanged.get(roomy) ?? []), ...left]);
  }
  const remove = kept.filter(({ isWritten, endpoints }) => isWritten && endpoints.length === 0);
  return { update, create, remove: remove.map(({ name }) => name) };
}

interface Kept {
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  readonly isWritten: boolean;
}

const entry = ({ name, endpoints }: Kept) => [name, endpoints] as const;

/** What stays in a slice, as it is to be now; it does not wait for a place any more. */
function keptIn({ name, endpoints, isChanged = false }: Packed, waiting: Map<string, Endpoint>): Kept {
  let isWritten = isChanged;
  const kept = endpoints.flatMap((endpoint) => {
    const key = keyOf(endpoint);
    const wanted = waiting.get(key);
    if (wanted === undefined || !semanticEqual(jsonOf(wanted), jsonOf(endpoint))) isWritten = true;
    waiting.delete(key);
    return wanted === undefined ? [] : [wanted];
  });
  return { name, endpoints: kept, isWritten };
}

/** The slice that is fullest once so many more are in it. */
function tightest(slices: ReadonlyMap<string, readonly Endpoint[]>, more: number, most: number) {
  const roomy = [...slices].filter(([, endpoints]) => endpoints.length + more <= most);
  return roomy.toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0];
}

/** A pod that comes again under its old name is another one. */
const keyOf = ({ targetRef, addresses }: Endpoint): string => `${targetRef?.uid ?? ''} ${addresses.join(' ')}`;

// Plain JSON that came from the server, or goes there.
const jsonOf = (endpoint: Endpoint): JsonObject => endpoint as unknown as JsonObject;
