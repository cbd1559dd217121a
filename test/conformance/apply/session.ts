import assert from 'node:assert/strict';
import type { Schema } from '../../../src/api/schema/structural.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject, setKey } from '../../../src/object/json.ts';
import {
  ApplyConflict,
  applyConfiguration,
  TypedProblem,
  updateManagedFields,
} from '../../../src/object/merge/managed-fields.ts';
import { restoreTimes } from '../../../src/object/merge/restore-times.ts';
import { applyMergePatch } from '../../../src/object/merge-patch.ts';
import type { Answer, Client } from './client.ts';

export interface Kind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly schema: Schema;
  readonly isCustom: boolean;
  /** Dotted paths that the main endpoint resets, and those that `/status` resets. */
  readonly resetFields: Readonly<Record<string, readonly string[]>>;
  /** A new object as Go has it; built-in kinds only. */
  readonly empty?: JsonObject;
  /** Takes out of a stored object what the server filled in after it had worked out who owns what. */
  readonly unallocated?: (stored: JsonObject, sent: JsonObject) => JsonObject;
}

export interface Step {
  readonly verb: 'apply' | 'put' | 'merge' | 'forget' | 'status-apply' | 'status-merge';
  readonly manager: string;
  readonly force: boolean;
  readonly content: JsonObject;
  /** Which of the versions of the kind is spoken. */
  readonly version: number;
}

export interface Tally {
  objects: number;
  entries: number;
  conflicts: number;
  problems: number;
}

const metadataOf = (object: JsonObject): JsonObject =>
  isJsonObject(object['metadata']) ? object['metadata'] : {};
const entriesOf = (object: JsonObject): JsonObject[] =>
  (metadataOf(object)['managedFields'] ?? []) as JsonObject[];

const versionOf = (object: JsonObject): Json | undefined => metadataOf(object)['resourceVersion'];

/** The time the server stamped on what it just wrote: the latest there is. */
function latestTime(object: JsonObject): Date {
  const times = entriesOf(object).map(({ time }) => (typeof time === 'string' ? Date.parse(time) : 0));
  return new Date(Math.max(0, ...times));
}

/** Defaults of a structural schema, as far as the test kinds use them. */
function defaulted(value: Json, schema: Schema | undefined): Json {
  if (schema === undefined) return value;
  if (Array.isArray(value)) return value.map((item) => defaulted(item, schema.items));
  return isJsonObject(value) ? defaultedMap(value, schema) : value;
}

function defaultedMap(value: JsonObject, { properties = {}, additionalProperties }: Schema): JsonObject {
  const extra = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) setKey(result, key, defaulted(item, properties[key] ?? extra));
  for (const [key, { default: standard }] of Object.entries(properties)) {
    if (standard !== undefined && !Object.hasOwn(result, key)) setKey(result, key, standard);
  }
  return result;
}

/** One object on the real server, and what we make of every step. */
export class Session {
  readonly #client: Client;
  readonly #kinds: readonly Kind[];
  readonly #name: string;
  readonly #tally: Tally;
  #kind: Kind;
  #live: JsonObject | undefined;

  /** The kind in its versions, which must not differ but in schema. */
  constructor(
    client: Client,
    kinds: readonly [Kind, ...Kind[]],
    at: { readonly name: string; readonly tally: Tally },
  ) {
    this.#client = client;
    this.#kinds = kinds;
    this.#kind = kinds[0];
    this.#name = at.name;
    this.#tally = at.tally;
  }

  async run(step: Step): Promise<void> {
    this.#kind = this.#kinds[step.version] ?? this.#kind;
    if (this.#live !== undefined) this.#live = { ...this.#live, apiVersion: this.#kind.apiVersion };
    if (step.verb === 'apply' || step.verb === 'status-apply') await this.#apply(step);
    else await this.#update(step);
  }

  #collection(): string {
    const { apiVersion, plural } = this.#kind;
    return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/namespaces/default/${plural}`;
  }

  #url(step: Step): string {
    const status = step.verb.startsWith('status') ? '/status' : '';
    return `${this.#collection()}/${this.#name}${status}?fieldManager=${step.manager}`;
  }

  #named(content: JsonObject): JsonObject {
    const { apiVersion, kind } = this.#kind;
    return {
      apiVersion,
      kind,
      ...content,
      metadata: { ...metadataOf(content), name: this.#name, namespace: 'default' },
    };
  }

  #writing(step: Step, stored: JsonObject) {
    const { schema, apiVersion, resetFields, empty } = this.#kind;
    const subresource = step.verb.startsWith('status') ? 'status' : '';
    return {
      schema,
      apiVersion,
      manager: step.manager,
      subresource,
      resetFields: resetFields[subresource] ?? [],
      now: latestTime(stored),
      versions: {
        convert: (object: JsonObject, version: string): JsonObject => ({ ...object, apiVersion: version }),
        schemaOf: (version: string) => this.#kinds.find((kind) => kind.apiVersion === version)?.schema,
      },
      ...(empty === undefined ? {} : { empty }),
    };
  }

  async #apply(step: Step): Promise<void> {
    if (step.verb === 'status-apply' && this.#live === undefined) return;
    const config = this.#named(step.content);
    const live = this.#live;
    const answer = await this.#client.send(
      'PATCH',
      `${this.#url(step)}&force=${step.force}`,
      config,
      'application/apply-patch+yaml',
    );
    const run = () => applyConfiguration({ live, config, force: step.force, ...this.#writing(step, answer.body) });
    if (answer.status === 409) return this.#sameConflict(answer, run);
    if (answer.status === 500) return this.#sameProblem(answer, run);
    if (answer.status === 422) return this.#sameNulls(answer, run().object);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    const { object } = run();
    this.#sameEntries(entriesOf(object), answer.body, step);
    this.#sameObject(object, answer.body, step);
    this.#live = answer.body;
  }

  #sameConflict({ body }: Answer, run: () => unknown): void {
    this.#tally.conflicts++;
    assert.throws(run, (error) => {
      assert.ok(error instanceof ApplyConflict, String(error));
      assert.equal(error.message, body['message']);
      const theirs = ((body['details'] as JsonObject)['causes'] as JsonObject[]).map((cause) =>
        JSON.stringify(cause),
      );
      assert.deepEqual(error.causes.map((cause) => JSON.stringify(cause)).sort(), theirs.sort());
      return true;
    });
  }

  /** What loses its last child becomes null, and a schema that does not allow that refuses the whole. */
  #sameNulls({ body }: Answer, { spec }: JsonObject): void {
    const message = JSON.stringify(body['message']);
    const [, field] = /spec\.(\w+): Invalid value: \\"null/.exec(message) ?? [];
    if (field !== undefined) assert.equal(isJsonObject(spec) ? spec[field] : undefined, null, message);
  }

  #sameProblem({ body }: Answer, run: () => unknown): void {
    this.#tally.problems++;
    assert.throws(run, (error) => {
      assert.ok(error instanceof TypedProblem, String(error));
      assert.equal(error.message, body['message']);
      return true;
    });
  }

  #sameEntries(ours: readonly Json[], stored: JsonObject, step: Step): void {
    this.#tally.entries++;
    assert.deepEqual(
      ours.map(comparableEntry),
      entriesOf(stored).map(comparableEntry),
      `managedFields after ${step.verb} by ${step.manager}`,
    );
    // The spelling counts too; custom resources print every map by its keys, built-ins print the bytes they stored.
    if (this.#kind.isCustom) return;
    assert.equal(JSON.stringify(ours.map(fieldsOf)), JSON.stringify(entriesOf(stored).map(fieldsOf)));
  }

  #sameObject(merged: JsonObject, stored: JsonObject, step: Step): void {
    this.#tally.objects++;
    if (!this.#kind.isCustom) {
      assertHolds(stored, withoutMetadata(merged), `after ${step.verb} by ${step.manager}`);
      return;
    }
    // The status endpoint takes only the status of what we merged.
    if (step.verb !== 'apply') return;
    const complete = defaulted(merged, this.#kind.schema) as JsonObject;
    assert.deepEqual(comparable(complete), comparable(stored), `object after ${step.verb}`);
    if (this.#live === undefined || versionOf(stored) !== versionOf(this.#live)) return;
    // Times are whole seconds: a write within the same second looks like none, but none must look like none.
    assert.deepEqual(entriesOf(restoreTimes(this.#live, complete)), entriesOf(this.#live));
  }

  async #update(step: Step): Promise<void> {
    const live = this.#live;
    const sent = this.#sent(step, live);
    if (sent === undefined) return;
    const { method, path, body, type } = sent;
    const answer = await this.#client.send(method, path, body, type);
    if (answer.status === 422) return;
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    const updated = cloneJson(this.#asDecoded(step, answer.body, body));
    const { managedFields: _, ...metadata } = metadataOf(updated);
    updated['metadata'] = step.verb === 'forget' ? { ...metadata, managedFields: [{}] } : metadata;
    const ours = updateManagedFields({ live, updated, ...this.#writing(step, answer.body) });
    this.#sameEntries(ours, answer.body, step);
    this.#live = answer.body;
  }

  /** The object as it was when the server worked out who owns what: decoded and defaulted, not yet reset or allocated. */
  #asDecoded(step: Step, stored: JsonObject, body: JsonObject): JsonObject {
    if (step.verb === 'status-merge' && this.#live !== undefined) {
      return defaulted(applyMergePatch(this.#live, body), this.#kind.schema) as JsonObject;
    }
    if (step.verb !== 'put') return stored;
    return this.#kind.unallocated?.(stored, body) ?? stored;
  }

  #sent(step: Step, live: JsonObject | undefined) {
    const url = this.#url(step);
    if (live === undefined) {
      if (step.verb !== 'put') return undefined;
      const path = `${this.#collection()}?fieldManager=${step.manager}`;
      return { method: 'POST', path, body: this.#named(step.content), type: 'application/json' };
    }
    if (step.verb === 'put') {
      const body = this.#named(step.content);
      body['metadata'] = { ...metadataOf(body), resourceVersion: versionOf(live) ?? null };
      return { method: 'PUT', path: url, body, type: 'application/json' };
    }
    if (step.verb === 'forget') {
      const body = { ...live, metadata: { ...metadataOf(live), managedFields: [{}] } };
      return { method: 'PUT', path: url, body, type: 'application/json' };
    }
    return { method: 'PATCH', path: url, body: step.content, type: 'application/merge-patch+json' };
  }
}

/** The first apply looks at the clock twice, and a second may pass in between. */
function comparableEntry(entry: Json): Json {
  if (!isJsonObject(entry) || entry['manager'] !== 'before-first-apply') return entry;
  return { ...entry, time: typeof entry['time'] };
}

const fieldsOf = (entry: Json): Json => (isJsonObject(entry) ? (entry['fieldsV1'] ?? null) : null);

function withoutMetadata(object: JsonObject): JsonObject {
  const { metadata: _, ...rest } = object;
  return rest;
}

/** Without what only the server knows, and without what was compared by itself. */
function comparable(object: JsonObject): JsonObject {
  const known = new Set(['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields']);
  // Metadata is a Go structure: what is empty is not there.
  const entries = Object.entries(metadataOf(object)).filter(([key, value]) => !known.has(key) && !isEmpty(value));
  const metadata = Object.fromEntries(entries);
  return { ...object, metadata };
}

/** Every field of `part` is in `whole`; defaults may add more, and what is empty need not be there. */
function assertHolds(whole: Json | undefined, part: Json, path: string): void {
  if (part === null || (whole === undefined && isEmpty(part))) return;
  if (typeof part !== 'object') {
    assert.deepEqual(whole, part, path);
    return;
  }
  assert.equal(Array.isArray(whole), Array.isArray(part), `${path}: ${JSON.stringify({ whole, part })}`);
  const there = whole as JsonObject;
  if (Array.isArray(part))
    assert.equal(there['length'], part.length, `${path}: ${JSON.stringify({ whole, part })}`);
  for (const [key, item] of Object.entries(part)) assertHolds(there[key], item, `${path}.${key}`);
}

const isEmpty = (value: Json): boolean => typeof value === 'object' && Object.keys(value ?? {}).length === 0;
