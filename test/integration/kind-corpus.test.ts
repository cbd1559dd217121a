import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { DefinedKind } from '../../src/api/schema/define-kind.ts';
import { type FromCrdOptions, kindFromCrd } from '../../src/api/schema/kind-from-crd.ts';
import type { Schema } from '../../src/api/schema/structural.ts';
import { crdStrategy } from '../../src/apiserver/crd/crd-strategy.ts';
import type { WriteContext } from '../../src/apiserver/registry/resource.ts';
import { fieldErrorText } from '../../src/object/field-error.ts';
import { isJsonObject, type JsonObject } from '../../src/object/json.ts';
import { parseYaml } from '../../src/object/yaml.ts';
import { subsetProblems } from '../support/schema-subset.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { at, metaOf } from '../support/served-api.ts';
import { Widget } from '../support/widget-kind.ts';

const CORPUS = join(import.meta.dirname, '../../../shared/crds');
const SCHEMA_FOLDER = pathToFileURL(join(import.meta.dirname, '../../src/api/schema')).href;
const context: WriteContext = {
  now: new Date(0),
  isDryRun: false,
  subresource: '',
  user: { name: 'admin', groups: [] },
};

const documents = (file: string): readonly JsonObject[] =>
  readFileSync(file, 'utf8')
    .split(/^---\s*$/m)
    .filter((text) => text.trim() !== '')
    .map((text) => parseYaml(text))
    .filter(isJsonObject);

interface Version {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: Schema };
}

const versionsOf = (crd: JsonObject): readonly Version[] => at(crd, 'spec', 'versions') as readonly Version[];

function installProblems(crd: JsonObject): readonly string[] {
  const copy = structuredClone(crd);
  crdStrategy.setDefaults?.(copy);
  crdStrategy.prepareForCreate?.(copy, context);
  return (crdStrategy.validate?.(copy, context) ?? []).map(fieldErrorText);
}

/** What a definition does not repeat, or says in another way that means the same. */
const SAID_OTHERWISE = new Set('allOf anyOf oneOf not title example externalDocs uniqueItems'.split(' '));
/** The slash is escaped or not; both are the same pattern. */
const spelled = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll('\\/', '/') : value);

/** Where a schema made from another one says something else. */
function differences(want: Schema, got: Schema, path: string): readonly string[] {
  const keys = [...new Set([...Object.keys(want), ...Object.keys(got)])] as (keyof Schema)[];
  return keys
    .filter((key) => !SAID_OTHERWISE.has(key) && !isEquivalent(key, want, got))
    .flatMap((key) => memberDifferences(key, want, got, path));
}

/** Two ways to say the same, by keyword. */
const EQUIVALENT: { readonly [Key in keyof Schema]?: (want: Schema, got: Schema) => boolean } = {
  type: (want) => want['x-kubernetes-int-or-string'] === true,
  pattern: (want) => want['x-kubernetes-int-or-string'] === true && want.pattern?.includes('[numkMGTPE]') === true,
  format: (want, got) =>
    want.type === 'array' || (want.type === 'integer' && want.format === undefined && got.format === 'int64'),
  maximum: (want, got) => got.format === 'int32' && want.maximum === 2_147_483_647,
  enum: (want) => want.type === 'boolean',
  // What has a default is there when it is checked (K6).
  required: (want, got) => neededOf(want) === neededOf(got),
};

const neededOf = ({ required = [], properties = {} }: Schema): string =>
  required
    .filter((name) => properties[name]?.default === undefined)
    .toSorted()
    .join();

const isEquivalent = (key: keyof Schema, want: Schema, got: Schema): boolean =>
  EQUIVALENT[key]?.(want, got) === true;

function memberDifferences(key: keyof Schema, want: Schema, got: Schema, path: string): readonly string[] {
  if (key === 'properties') return propertyDifferences(want.properties, got.properties, path);
  const [a, b] = [want[key], got[key]];
  const isBelow = key === 'items' || key === 'additionalProperties';
  if (isBelow && typeof a === 'object' && typeof b === 'object')
    return differences(a as Schema, b as Schema, `${path}[]`);
  return JSON.stringify(spelled(a)) === JSON.stringify(spelled(b))
    ? []
    : [`${path}: ${key} is ${JSON.stringify(b)}, in the original ${JSON.stringify(a)}`];
}

type Properties = Readonly<Record<string, Schema>>;

const propertyDifferences = (want: Properties = {}, got: Properties = {}, path = ''): readonly string[] =>
  [...new Set([...Object.keys(want), ...Object.keys(got)])].flatMap((name) =>
    differences(want[name] ?? {}, got[name] ?? {}, `${path}.${name}`),
  );

/** Without what the server says itself about every kind. */
const ownParts = ({ required, ...schema }: Schema): Schema => ({
  ...schema,
  ...(required !== undefined && { required: required.filter((name) => name !== 'metadata') }),
  properties: {
    ...schema.properties,
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
  },
});

describe('kindFromCrd with definitions that exist', () => {
  const files = existsSync(CORPUS) ? globSync('**/*.yaml', { cwd: CORPUS }).toSorted() : [];
  let scratch: Awaited<ReturnType<typeof scratchDirectory>>;

  before(async () => {
    scratch = await scratchDirectory();
  });
  after(() => scratch[Symbol.asyncDispose]());

  let written = 0;
  /** Runs what was written, as a file of a project would. */
  async function kindOf(crd: JsonObject, options: FromCrdOptions): Promise<DefinedKind> {
    const { source } = kindFromCrd(crd, { ...options, schemaFolder: SCHEMA_FOLDER });
    const file = join(scratch.path, `${++written}.ts`);
    await writeFile(file, source.replace("'zod'", `'${import.meta.resolve('zod')}'`));
    const module: Readonly<Record<string, DefinedKind>> = await import(pathToFileURL(file).href);
    const [kind] = Object.values(module);
    assert.ok(kind);
    return kind;
  }

  it('runtime/K2: gives a definition of ours back', async () => {
    const Again = await kindOf(Widget.toCRD(), { version: 'v1' });
    const { size: _size, ...want } = Widget.schema.properties?.['spec']?.properties ?? {};
    const { size: _again, ...got } = Again.schema.properties?.['spec']?.properties ?? {};
    assert.deepEqual(got, want);
    assert.deepEqual({ ...Again.toCRD(), spec: null }, { ...Widget.toCRD(), spec: null });
  });

  const skip = files.length > 0 ? false : `${CORPUS} is not there`;
  for (const file of files) {
    it(`runtime/K2: writes ${file} so that it says the same and a server accepts it`, { skip }, async () => {
      for (const crd of documents(join(CORPUS, file))) {
        for (const { name, schema } of versionsOf(crd)) {
          const kind = await kindOf(crd, { version: name });
          assert.deepEqual(differences(ownParts(schema.openAPIV3Schema), kind.schema, name), []);
          assert.deepEqual(installProblems(withApproval(kind.toCRD(), crd)), []);
          const foreign = await kindOf(crd, {
            version: name,
            isForeign: true,
            hasDescriptions: false,
            hasRules: false,
          });
          assert.deepEqual(installProblems(withApproval(foreign.toCRD(), crd)), []);
          assert.deepEqual(subsetProblems(foreign.schema, schema.openAPIV3Schema), []);
        }
      }
    });
  }
});

describe('subsetProblems', () => {
  it('tells what a subset says that the original does not', () => {
    const original: Schema = {
      type: 'object',
      properties: {
        color: { type: 'string', enum: ['red', 'green'], default: 'red' },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } } },
        open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    };
    const subset: Schema = {
      type: 'object',
      properties: {
        color: { type: 'string', enum: ['red', 'blue'], default: 'blue' },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        open: { type: 'object', properties: { x: { type: 'string' } } },
        shape: { type: 'string' },
      },
    };
    assert.deepEqual(subsetProblems(original, original), []);
    assert.deepEqual(subsetProblems(subset, original), [
      'color: default is "blue", not "red"',
      'color: "blue" is not allowed in the original',
      'list[].a: type is "string", not "integer"',
      'shape: is not in the original',
    ]);
  });
});

/** Groups of the Kubernetes project need a word of approval. */
const withApproval = (crd: JsonObject, original: JsonObject): JsonObject => ({
  ...crd,
  metadata: { ...metaOf(crd), annotations: metaOf(original)['annotations'] ?? {} },
});
