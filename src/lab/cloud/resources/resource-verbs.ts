import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../../../object/json.ts';
import { applyMergePatch } from '../../../object/merge-patch.ts';
import { nearestWord } from '../../../object/nearest-word.ts';
import { CloudError, invalidArgument, notFound } from '../cloud-error.ts';
import type { CloudAnswer } from '../http/cloud-answer.ts';
import type { LiveTransaction } from '../state/live-transaction.ts';
import { checked } from './request-schema.ts';
import type { DefinedKind } from './resource-kind.ts';
import type { ResourceRecord } from './resource-record.ts';
import { etagOf, fieldsOf, resourceView } from './resource-view.ts';

/** What a client asks of one object that is there. */
export interface ItemWish {
  readonly kind: DefinedKind;
  readonly id: string;
  readonly body: JsonObject;
  /** `If-Match`. */
  readonly ifMatch: string | undefined;
}

/** `POST /v1/<plural>`: tags and all at once. */
export function createResource(kind: DefinedKind, body: JsonObject, transaction: LiveTransaction): CloudAnswer {
  const { createSchema } = kind;
  if (createSchema === undefined || kind.create === undefined)
    throw invalidArgument('method', `${kind.plural} cannot be created by clients`);
  const { name, tags, ...input } = checked(createSchema, body);
  const wish = { id: transaction.newId(kind.idPrefix), name: String(name), tags: tagsOf(tags), input };
  const draft = kind.create(wish, transaction);
  const record = transaction.add(kind, { ...draft, id: wish.id, name: wish.name, tags: wish.tags });
  return objectAnswer(record.transition === undefined ? 201 : 202, kind, record, transaction.now);
}

/** `PATCH`: a merge patch of what may change. The same again changes nothing. */
export function updateResource({ kind, id, body, ifMatch }: ItemWish, transaction: LiveTransaction): CloudAnswer {
  const record = demanded(kind, id, ifMatch, transaction);
  const { changeSchema } = kind;
  if (changeSchema === undefined) throw invalidArgument('method', `${kind.plural} cannot be changed`);
  refuseFixed(kind, body);
  const changeable = Object.keys(changeSchema.shape);
  const current = picked({ ...fieldsOf(record), name: record.name, tags: { ...record.tags } }, changeable);
  const wanted = checked(changeSchema, applyMergePatch(current, body));
  const { name, tags, ...fields } = wanted;
  const after = picked(JSON.parse(JSON.stringify({ ...wanted, tags: tags ?? {} })), changeable);
  if (jsonEqual(current, after)) return objectAnswer(200, kind, record, transaction.now);
  requireLive(kind, record);
  const change = kind.update?.(record, fields, transaction) ?? { fields: withAbsent(fields, changeable) };
  const changed = transaction.change(record, {
    ...change,
    ...(typeof name === 'string' && { name }),
    tags: tagsOf(tags),
  });
  const hasBegun = changed.transition?.operationId !== record.transition?.operationId;
  return objectAnswer(hasBegun && changed.transition !== undefined ? 202 : 200, kind, changed, transaction.now);
}

/** `DELETE`: again is the same as once until the object is gone. */
export function deleteResource({ kind, id, ifMatch }: ItemWish, transaction: LiveTransaction): CloudAnswer {
  const record = demanded(kind, id, ifMatch, transaction);
  if (record.state === kind.deletion?.rest?.state)
    throw notFound(`${kind.singular} ${id} any more: it is ${record.state}`);
  if (isBeingDeleted(kind, record)) return objectAnswer(202, kind, record, transaction.now);
  if (kind.remove === undefined) throw invalidArgument('method', `${kind.plural} cannot be deleted`);
  const change = kind.remove(record, transaction);
  if (change !== 'gone') return objectAnswer(202, kind, transaction.change(record, change), transaction.now);
  transaction.remove(record);
  return { status: 202, body: { ...resourceView(kind, record, transaction.now), state: 'deleted' } };
}

/** `POST …/actions`. */
export function actOnResource({ kind, id, body, ifMatch }: ItemWish, transaction: LiveTransaction): CloudAnswer {
  const record = demanded(kind, id, ifMatch, transaction);
  const actions = kind.actions ?? {};
  const name = body['action'];
  const action = typeof name === 'string' && Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) throw unknownAction(kind, name);
  const input = checked(action.schema, body);
  requireLive(kind, record);
  const change = action.run(record, input, transaction);
  const changed = change === undefined ? record : transaction.change(record, change);
  return objectAnswer(202, kind, changed, transaction.now);
}

/** One object, with its generation as the tag of its form. */
export function objectAnswer(status: number, kind: DefinedKind, record: ResourceRecord, now: Date): CloudAnswer {
  const operation = record.transition?.operationId;
  return {
    status,
    headers: { etag: etagOf(record), ...(operation !== undefined && { 'lab-operation': operation }) },
    body: resourceView(kind, record, now),
  };
}

/** What it was when the client looked is what it is now. */
function demanded(
  kind: DefinedKind,
  id: string,
  ifMatch: string | undefined,
  transaction: LiveTransaction,
): ResourceRecord {
  const record = transaction.demand(kind, id);
  const wanted = ifMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? ['*'];
  const { generation } = record;
  if (wanted.some((tag) => tag === '*' || tag === etagOf(record) || tag === String(generation))) return record;
  const message = `${id} has generation ${generation}, not ${ifMatch}: read it again`;
  throw new CloudError('PreconditionFailed', message, { details: { generation } });
}

const isBeingDeleted = ({ deletion }: DefinedKind, { state }: ResourceRecord): boolean =>
  deletion?.during.includes(state) === true;

function requireLive(kind: DefinedKind, record: ResourceRecord): void {
  if (!isBeingDeleted(kind, record) && record.state !== kind.deletion?.rest?.state) return;
  throw new CloudError('IncorrectState', `${record.id} is ${record.state} and cannot be changed any more`);
}

/** What can be set only at the beginning is known, but not here. */
function refuseFixed({ plural, createSchema, changeSchema }: DefinedKind, body: JsonObject): void {
  const isFixed = (key: string) => Object.hasOwn(createSchema?.shape ?? {}, key);
  const fixed = Object.keys(body).find((key) => !Object.hasOwn(changeSchema?.shape ?? {}, key) && isFixed(key));
  if (fixed === undefined) return;
  const changeable = Object.keys(changeSchema?.shape ?? {}).toSorted();
  throw invalidArgument(
    fixed,
    `${fixed}: of ${plural} it cannot be changed later; what can be is ${changeable.join(', ')}`,
  );
}

function unknownAction({ plural, actions = {} }: DefinedKind, name: Json | undefined): CloudError {
  const known = Object.keys(actions).toSorted();
  if (known.length === 0) return invalidArgument('action', `${plural} have no actions`);
  const meant = typeof name === 'string' ? nearestWord(name, known) : undefined;
  const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
  return invalidArgument('action', `action: ${plural} have no action ${JSON.stringify(name ?? null)}: ${hint}`);
}

const picked = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key, value]) => keys.includes(key) && value !== undefined));

/** A field that the patch took away goes: a change without it would leave it as it is. */
const withAbsent = (fields: object, keys: readonly string[]): object => ({
  ...Object.fromEntries(keys.filter((key) => key !== 'name' && key !== 'tags').map((key) => [key, undefined])),
  ...fields,
});

/** Checked by the schema of the kind. */
const tagsOf = (tags: unknown): Readonly<Record<string, string>> =>
  isJsonObject(tags) ? (tags as Record<string, string>) : {};
