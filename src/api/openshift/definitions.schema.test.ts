import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { parseYaml } from '../../object/yaml.ts';
import type { Schema } from '../schema/structural.ts';
import { fieldPath } from '../schema/visit.ts';
import { openshiftDefinitions } from './definitions.schema.ts';

const CORPUS = join(import.meta.dirname, '../../../../shared/crds/openshift');
const skip = existsSync(CORPUS) ? false : `${CORPUS} is not there`;

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: JsonObject;
    readonly versions: readonly Version[];
  };
}

interface Version {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly subresources?: JsonObject;
  readonly additionalPrinterColumns?: readonly JsonObject[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

const asDefinition = (crd: JsonObject): Definition => crd as unknown as Definition;
const OURS = openshiftDefinitions().map(asDefinition);

/** Not in the corpus, which has no CRDs of operator.openshift.io but those of storage, DNS and ingress. */
const ABSENT = ['kubecontrollermanagers.operator.openshift.io'];
/** Not in the corpus, which has what every cluster serves: this one is behind a feature gate. */
const GATED = ['spec.tlsAdherence'];

const originals = (): ReadonlyMap<string, Definition> =>
  new Map(
    globSync('*.yaml', { cwd: CORPUS })
      .map((file) => parseYaml(readFileSync(join(CORPUS, file), 'utf8')))
      .filter(isJsonObject)
      .map(asDefinition)
      .map((crd) => [crd.metadata.name, crd]),
  );

/** Without what people read. */
const columns = ({ additionalPrinterColumns = [] }: Version) =>
  additionalPrinterColumns.map(({ name, type, jsonPath }) => ({ name, type, jsonPath }));

const outline = ({ metadata: { name }, spec: { group, scope, names, versions } }: Definition) => ({
  name,
  group,
  scope,
  names,
  versions: versions.map((version) => ({
    name: version.name,
    served: version.served,
    storage: version.storage,
    subresources: version.subresources ?? {},
    columns: columns(version),
  })),
});

const SAME = [
  'type',
  'nullable',
  'enum',
  'default',
  'minimum',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
] as const;

/** Where a field that ours names is another one in the original. */
function differences(ours: Schema, original: Schema, path = ''): readonly string[] {
  const own = SAME.filter((key) => JSON.stringify(ours[key]) !== JSON.stringify(original[key])).map(
    (key) => `${path}: ${key} is ${JSON.stringify(ours[key])}, not ${JSON.stringify(original[key])}`,
  );
  const fields = Object.entries(ours.properties ?? {}).flatMap(([name, field]) => {
    const [at, there] = [fieldPath(path, name), original.properties?.[name]];
    return there === undefined ? [`${at}: is not in the original`] : differences(field, there, at);
  });
  const items = ours.items === undefined ? [] : differences(ours.items, original.items ?? {}, `${path}[]`);
  return [...own, ...requiredDifferences(ours, original, path), ...fields, ...items];
}

/** What the original requires and ours does not name is not asked for: everybody may leave it out here. */
function requiredDifferences(ours: Schema, original: Schema, path: string): readonly string[] {
  const want = (original.required ?? []).filter((name) => ours.properties?.[name] !== undefined).toSorted();
  const got = ours.required ?? [];
  return want.join() === got.join() ? [] : [`${path}: requires ${got.join()}, not ${want.join()}`];
}

const schemaOf = ({ spec }: Definition): Schema => spec.versions[0]?.schema.openAPIV3Schema ?? {};

/** Objects of a schema that would drop what they do not name. Of the metadata the server takes care itself. */
function closedObjects(schema: Schema, path = ''): readonly string[] {
  if (path === 'metadata') return [];
  const { properties = {}, items, type } = schema;
  const isClosed = type === 'object' && schema['x-kubernetes-preserve-unknown-fields'] !== true;
  return [
    ...(isClosed ? [path] : []),
    ...Object.entries(properties).flatMap(([name, field]) => closedObjects(field, fieldPath(path, name))),
    ...(items === undefined ? [] : closedObjects(items, `${path}[]`)),
  ];
}

describe('openshiftDefinitions', () => {
  it('has each kind once, and new definitions each time', () => {
    assert.deepEqual(
      OURS.map(({ metadata }) => metadata.name),
      [
        'infrastructures.config.openshift.io',
        'clusteroperators.config.openshift.io',
        'clusterversions.config.openshift.io',
        'featuregates.config.openshift.io',
        'proxies.config.openshift.io',
        'networks.config.openshift.io',
        'apiservers.config.openshift.io',
        'kubecontrollermanagers.operator.openshift.io',
        'credentialsrequests.cloudcredential.openshift.io',
      ],
    );
    assert.notEqual(openshiftDefinitions()[0], openshiftDefinitions()[0]);
    assert.deepEqual(openshiftDefinitions(), openshiftDefinitions());
  });

  for (const crd of OURS) {
    it(`keeps every field that ${crd.metadata.name} does not name`, () => {
      assert.deepEqual(closedObjects(schemaOf(crd)), []);
    });
  }

  it('serves KubeControllerManager as OpenShift does', () => {
    const crd = OURS.find(({ metadata }) => ABSENT.includes(metadata.name));
    assert.ok(crd);
    assert.deepEqual(outline(crd), {
      name: 'kubecontrollermanagers.operator.openshift.io',
      group: 'operator.openshift.io',
      scope: 'Cluster',
      names: {
        kind: 'KubeControllerManager',
        listKind: 'KubeControllerManagerList',
        plural: 'kubecontrollermanagers',
        singular: 'kubecontrollermanager',
        categories: ['coreoperators'],
      },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, columns: [] }],
    });
  });
});

describe('openshiftDefinitions beside those of OpenShift', { skip }, () => {
  const theirs = skip === false ? originals() : new Map<string, Definition>();
  const compared = OURS.filter(({ metadata }) => !ABSENT.includes(metadata.name));

  for (const crd of compared) {
    const { name } = crd.metadata;
    const original = theirs.get(name);

    it(`operator/E6: ${name} has the same names, scope, versions, subresources and columns`, () => {
      assert.ok(original);
      assert.deepEqual(outline(crd), outline(original));
    });

    it(`operator/E7: ${name} has the same types, enums, defaults, keys of lists and needed fields`, () => {
      assert.ok(original);
      const found = differences(schemaOf(crd), schemaOf(original));
      assert.deepEqual(
        found.filter((text) => !GATED.some((path) => text === `${path}: is not in the original`)),
        [],
      );
    });
  }

  it('notices a field of another type, another default and another key', () => {
    const original: Schema = {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'array', 'x-kubernetes-list-type': 'map' } },
      required: ['a'],
    };
    const ours: Schema = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'array' }, c: {} } };
    assert.deepEqual(differences(ours, original), [
      ': requires , not a',
      'a: type is "integer", not "string"',
      'a: default is undefined, not "x"',
      'b: x-kubernetes-list-type is undefined, not "map"',
      'c: is not in the original',
    ]);
  });
});
