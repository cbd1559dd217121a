import { z } from 'zod';
import { jsonEqual } from '../../../object/json.ts';
import { CloudError } from '../cloud-error.ts';
import { defineKind } from '../resources/kind-definition.ts';
import type { CloudReader, DefinedKind, KindFactory, Transaction } from '../resources/resource-kind.ts';
import type { KindName, ResourceRecord, ShelfName } from '../resources/resource-record.ts';
import type { RecordSet, StoredType } from './record-set.ts';
import {
  domainSchema,
  recordShape,
  requireRoom,
  requireValues,
  typeSchema,
  zoneNameSchema,
} from './record-set-rules.ts';
import { type Zone, zoneOf } from './zone.ts';

interface RecordSetFields {
  readonly zoneId: string;
  readonly type: StoredType;
  readonly ttl: number;
  readonly values: readonly string[];
}

const DNS_ZONES: KindName<object> = { plural: 'dns-zones' };
const RECORD_SETS: KindName<RecordSetFields> = { plural: 'record-sets' };

/** What the name server tells of a record set: its last form that has spread. By record set. */
const PUBLISHED: ShelfName<RecordSet & { readonly zoneId: string }> = { shelf: 'dns-published' };
/** How often a zone has changed. By zone, from its publication to its end. */
const SERIALS: ShelfName<{ readonly serial: number }> = { shelf: 'dns-serials' };

/** Until a change has spread there is nothing to see of it. */
const CHANGING = ['pending', 'deleting'] as const;

/** How long changes take to spread, as durations of the cloud; no time at all unless told otherwise (C27). */
export const propagationDurations = (ms: number): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [DNS_ZONES, RECORD_SETS].flatMap(({ plural }) => CHANGING.map((state) => [`${plural}.${state}`, ms])),
  );

/** The DNS of the cloud: what clients write, and what the name server tells of it. */
export class CloudZones {
  #state: CloudReader | undefined;
  /** Undefined after a change. */
  #zones: readonly Zone[] | undefined;

  /** For `kinds` of the cloud. */
  readonly kinds: readonly KindFactory[] = [
    ({ state }) => {
      this.#state = state;
      return this.#zoneKind(state);
    },
    () => this.#recordSetKind(),
  ];

  /** What has spread; nothing before the cloud has started. */
  list(): readonly Zone[] {
    this.#zones ??= this.#state === undefined ? [] : publishedZones(this.#state);
    return this.#zones;
  }

  readonly #changed = (): void => {
    this.#zones = undefined;
  };

  #zoneKind(state: CloudReader): DefinedKind {
    return defineKind(DNS_ZONES, {
      singular: 'DNS zone',
      idPrefix: 'zone',
      states: ['pending', 'insync', 'deleting'],
      name: { schema: zoneNameSchema, isUnique: true, isFixed: true },
      quotas: { 'dns-zones': 100 },
      deletion: { during: ['deleting'] },
      input: {},
      changes: {},
      create: () => ({ state: 'pending', fields: {} }),
      remove: ({ id, name }, transaction) => {
        const used = transaction.list(RECORD_SETS).find(({ fields }) => fields.zoneId === id);
        if (used === undefined) return { state: 'deleting' };
        throw new CloudError('InUse', `zone ${name} has record sets, such as ${used.id}; delete them first`, {
          details: { id: used.id },
        });
      },
      transitions: {
        pending: {
          durationMs: 0,
          finish: ({ id }, transaction) => {
            countChange(id, transaction);
            return { state: 'insync' };
          },
        },
        deleting: {
          durationMs: 0,
          finish: ({ id }, transaction) => {
            transaction.take(SERIALS, id);
            return 'gone';
          },
        },
      },
      view: ({ id }) => ({ serial: state.peek(SERIALS, id)?.serial ?? 0 }),
      changed: this.#changed,
    });
  }

  #recordSetKind(): DefinedKind {
    return defineKind(RECORD_SETS, {
      singular: 'record set',
      idPrefix: 'rec',
      states: ['pending', 'insync', 'deleting'],
      name: { schema: domainSchema, isFixed: true },
      quotas: { 'record-sets': 5000 },
      deletion: { during: ['deleting'] },
      input: { ...recordShape, zoneId: z.string(), type: typeSchema },
      changes: recordShape,
      create: ({ name, input }, transaction) => {
        const zone = liveZone(input.zoneId, transaction);
        requireValues(input.type, input.values);
        requireRoom(zone.name, name, input.type, neighbours(input.zoneId, name, transaction));
        return { state: 'pending', fields: input };
      },
      update: (record, { ttl, values }) => {
        const { fields } = record;
        const isTaggedOnly = ttl === fields.ttl && jsonEqual([...values], [...fields.values]);
        if (isTaggedOnly) return {};
        requireSettled(record);
        requireValues(fields.type, values);
        return { state: 'pending', fields: { ttl, values } };
      },
      remove: () => ({ state: 'deleting' }),
      transitions: {
        pending: { durationMs: 0, finish: publish },
        deleting: { durationMs: 0, finish: withdraw },
      },
      changed: this.#changed,
    });
  }
}

function publish({ id, name, fields }: ResourceRecord<RecordSetFields>, transaction: Transaction) {
  transaction.place(PUBLISHED, id, { ...fields, name });
  countChange(fields.zoneId, transaction);
  return { state: 'insync' };
}

function withdraw({ id, fields }: ResourceRecord<RecordSetFields>, transaction: Transaction): 'gone' {
  // One that never was in sync has changed nothing.
  if (transaction.peek(PUBLISHED, id) !== undefined) countChange(fields.zoneId, transaction);
  transaction.take(PUBLISHED, id);
  return 'gone';
}

function countChange(zoneId: string, transaction: Transaction): void {
  transaction.place(SERIALS, zoneId, { serial: (transaction.peek(SERIALS, zoneId)?.serial ?? 0) + 1 });
}

/** Zones that have spread, with the records that have. */
function publishedZones(state: CloudReader): readonly Zone[] {
  const sets = Map.groupBy(state.entries(PUBLISHED), ([, { zoneId }]) => zoneId);
  return state.list(DNS_ZONES).flatMap(({ id, name }) => {
    const serial = state.peek(SERIALS, id)?.serial;
    if (serial === undefined) return [];
    return [zoneOf({ name, serial, recordSets: (sets.get(id) ?? []).map(([, set]) => set) })];
  });
}

function liveZone(id: string, transaction: Transaction): ResourceRecord {
  const zone = transaction.demand(DNS_ZONES, id, 'zoneId');
  if (zone.state !== 'deleting') return zone;
  throw new CloudError('IncorrectState', `zone ${zone.name} is being deleted`, { target: 'zoneId' });
}

/** Those being deleted are told until they are gone, so they count. */
const neighbours = (zoneId: string, name: string, transaction: Transaction) =>
  transaction
    .list(RECORD_SETS)
    .filter((other) => other.fields.zoneId === zoneId && other.name === name)
    .map(({ id, state, fields: { type } }) => ({ id, type, isGoing: state === 'deleting' }));

/** Changes spread one after the other: the next one waits until everybody knows the last one. */
function requireSettled({ id, state }: ResourceRecord): void {
  if (state === 'insync') return;
  throw new CloudError('IncorrectState', `record set ${id} is ${state}: try again`, { isRetryable: true });
}
