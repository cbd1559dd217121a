import { z } from 'zod';
import { CloudError, invalidArgument } from '../cloud-error.ts';
import { canonicalName, isWithin, nameProblem } from './domain-name.ts';
import { STORED_TYPES, type StoredType, valueProblem } from './record-set.ts';
import { DEFAULT_TTL_SECONDS } from './zone.ts';

const [MOST_VALUES, MOST_BYTES, LONGEST_TTL_SECONDS] = [100, 16_384, 86_400];

/** A name as it is kept, whatever the spelling of the client. */
export const domainSchema = z
  .string()
  .max(255)
  .transform(canonicalName)
  .superRefine((name, context) => {
    const message = nameProblem(name);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

export const zoneNameSchema = domainSchema.refine((name) => !name.startsWith('*'), 'must not be a wildcard');

export const typeSchema = z.enum(STORED_TYPES);

/** What of a record set can be changed. */
export const recordShape = {
  ttl: z.int().min(0).max(LONGEST_TTL_SECONDS).default(DEFAULT_TTL_SECONDS),
  values: z.array(z.string()).min(1, 'there must be at least one').max(MOST_VALUES),
};

/** Refuses values that cannot be records of the type. */
export function requireValues(type: StoredType, values: readonly string[]): void {
  for (const [at, value] of values.entries()) {
    const problem = valueProblem(type, value) ?? (values.indexOf(value) < at ? 'is there already' : undefined);
    if (problem !== undefined) throw invalidArgument(`values.${at}`, `values.${at}: ${problem}`);
  }
  if (type === 'CNAME' && values.length > 1)
    throw invalidArgument('values', 'values: a name is another name of one thing only');
  // All records of a set are told at once.
  if (values.reduce((sum, value) => sum + Buffer.byteLength(value), 0) > MOST_BYTES)
    throw invalidArgument('values', `values: are longer than ${MOST_BYTES} bytes together`);
}

/** Another record set, for who wants to stand beside it. */
export interface Neighbour {
  readonly id: string;
  readonly type: StoredType;
  /** It goes, but is still told. */
  readonly isGoing: boolean;
}

/** Whether a set may be at a name of a zone where there are others already (C24). */
export function requireRoom(zone: string, name: string, type: StoredType, others: readonly Neighbour[]): void {
  if (!isWithin(name, zone)) throw invalidArgument('name', `name: ${name} is not in the zone ${zone}`);
  if (type === 'CNAME' && name === zone)
    throw taken(`${name} is a zone with SOA and NS records: it cannot be another name of something else`);
  const isRival = (other: Neighbour) => other.type === type || type === 'CNAME' || other.type === 'CNAME';
  const rival = others.find(isRival);
  if (rival === undefined) return;
  if (rival.isGoing)
    throw new CloudError('IncorrectState', `${rival.id} at ${name} is being deleted: try again`, {
      target: 'name',
      isRetryable: true,
    });
  throw rival.type === type
    ? taken(`${name} has ${type} records already: ${rival.id}; change that record set`, rival.id)
    : taken(`${name} has ${rival.type} records, and nothing can stand beside a CNAME: ${rival.id}`, rival.id);
}

const taken = (message: string, id?: string): CloudError =>
  new CloudError('AlreadyExists', message, { target: 'name', ...(id !== undefined && { details: { id } }) });
