import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../src/api/schema/structural.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';
import { entriesOf, withManagedFields } from '../../src/object/merge/claims.ts';
import { ApplyConflict, applyConfiguration, updateManagedFields } from '../../src/object/merge/managed-fields.ts';

/** One write: by applying a configuration or by storing a whole object. */
interface Write {
  readonly apply?: JsonObject;
  readonly update?: JsonObject;
  readonly by?: string;
  readonly force?: boolean;
  /** The schema from this write on. */
  readonly schema?: Schema;
  readonly version?: string;
  /** The paths of the conflict this write must end in; the object then stays as it is. */
  readonly conflicts?: readonly string[];
  readonly resets?: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly schema?: Schema;
  readonly writes: readonly Write[];
  readonly object: Json;
  /** Manager (an applier unless it says `:Update`) to the fields it owns below spec. */
  readonly owners: Readonly<Record<string, Json>>;
}

export const STRING: Schema = { type: 'string' };
const set: Schema = { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' };
export const struct: Schema = { type: 'object', properties: { name: STRING, value: { type: 'integer' } } };
const listMap = (items: Schema, ...keys: string[]): Schema => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
});
export const map = (of: Schema): Schema => ({ type: 'object', additionalProperties: of });
const recursive: Schema = { type: 'object', properties: {} };
Object.assign(recursive, { additionalProperties: recursive });
const PORT: Schema = {
  type: 'object',
  properties: {
    port: { type: 'integer' },
    protocol: { type: 'string', default: 'TCP' },
    name: STRING,
  },
};
export const SPEC: Schema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    s: STRING,
    b: { type: 'boolean' },
    set,
    items: listMap({ ...struct, properties: { ...struct.properties, set } }, 'name'),
    ports: listMap(PORT, 'port', 'protocol'),
    named: map(struct),
    maps: map(map(STRING)),
    deep: recursive,
    inner: { type: 'object', properties: { n: { type: 'integer' }, m: { type: 'integer' }, map: map(STRING) } },
    atomic: { ...map(STRING), 'x-kubernetes-map-type': 'atomic' },
    whole: { type: 'array', items: STRING },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const schemaOf = (spec: Schema): Schema => ({ type: 'object', properties: { spec, status: map(STRING) } });
export const withProperty = (name: string, property: Schema): Schema => ({
  ...SPEC,
  properties: { ...SPEC.properties, [name]: property },
});
const objectOf = (spec: JsonObject, apiVersion: string): JsonObject => ({
  apiVersion,
  kind: 'Thing',
  metadata: { name: 'thing', uid: 'u' },
  spec,
});

const VERSIONS = ['test/v1', 'test/v2'];

function play(writes: readonly Write[], first: Schema): JsonObject {
  let live: JsonObject | undefined;
  let schema = first;
  for (const [at, write] of writes.entries()) {
    schema = write.schema ?? schema;
    live = written(live, write, schema, at);
  }
  return live ?? {};
}

function written(live: JsonObject | undefined, write: Write, schema: Schema, at: number): JsonObject | undefined {
  const apiVersion = `test/${write.version ?? 'v1'}`;
  const whole = schemaOf(schema);
  const request = {
    live: live && { ...live, apiVersion },
    schema: whole,
    apiVersion,
    manager: write.by ?? 'default',
    subresource: '',
    resetFields: write.resets ?? [],
    now: new Date(at * 1000),
    versions: {
      convert: (object: JsonObject, version: string) => ({ ...object, apiVersion: version }),
      schemaOf: (version: string) => (VERSIONS.includes(version) ? whole : undefined),
    },
  };
  if (write.apply === undefined) {
    const updated = objectOf(write.update ?? {}, apiVersion);
    return withManagedFields(updated, updateManagedFields({ ...request, updated }));
  }
  const config = { ...objectOf(write.apply, apiVersion), metadata: { name: 'thing' } };
  const run = () => applyConfiguration({ ...request, config, force: write.force ?? false }).object;
  if (write.conflicts === undefined) {
    const object = run();
    return { ...object, metadata: { ...(object['metadata'] as JsonObject), uid: 'u' } };
  }
  assert.throws(run, (error) => {
    assert.ok(error instanceof ApplyConflict, String(error));
    assert.deepEqual(
      error.conflicts.map(({ path }) => path),
      write.conflicts,
    );
    return true;
  });
  return live;
}

function ownersOf(object: JsonObject): Record<string, Json> {
  const entries = (entriesOf(object) ?? []) as JsonObject[];
  return Object.fromEntries(entries.map((entry) => [ownerName(entry), specOf(entry['fieldsV1'] ?? null)]));
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function ownerName({ manager, operation, apiVersion }: JsonObject): string {
  const how = operation === 'Update' ? ':Update' : '';
  return `${text(manager)}${how}${apiVersion === 'test/v1' ? '' : `@${text(apiVersion)}`}`;
}

const specOf = (fields: Json): Json => (isJsonObject(fields) ? (fields['f:spec'] ?? fields) : null);

/** A suite of scenarios. */
export function scenarios(title: string, rows: readonly Scenario[]): void {
  describe(title, () => {
    for (const { name, schema = SPEC, writes, object, owners } of rows) {
      it(name, () => {
        const result = play(writes, schema);
        assert.deepEqual(result['spec'] ?? null, object);
        assert.deepEqual(ownersOf(result), owners);
      });
    }
  });
}
