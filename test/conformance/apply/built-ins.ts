import fc from 'fast-check';
import type { Schema } from '../../../src/api/schema/structural.ts';
import { emptyAsGo } from '../../../src/apiserver/builtin/go-shape.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/object/json.ts';
import type { Kind } from './session.ts';

const PREFIX = '#/components/schemas/';

/** The schemas of an OpenAPI v3 document with every reference replaced by what it names. */
export class Definitions {
  readonly #definitions: JsonObject;
  readonly #resolved = new Map<string, Schema>();

  constructor(document: JsonObject) {
    this.#definitions = (document['components'] as JsonObject)['schemas'] as JsonObject;
  }

  named(name: string): Schema {
    const known = this.#resolved.get(name);
    if (known !== undefined) return known;
    // First an empty node, for the definition may refer to itself.
    const node: Schema = {};
    this.#resolved.set(name, node);
    Object.assign(node, this.#resolve(this.#definitions[name] as JsonObject));
    return node;
  }

  #resolve(node: JsonObject): Schema {
    const { allOf, $ref, ...own } = node;
    const [target] = Array.isArray(allOf) ? allOf : [node];
    const reference = $ref ?? (isJsonObject(target) ? target['$ref'] : undefined);
    // What stands beside a reference goes before what it names.
    if (typeof reference === 'string')
      return { ...this.named(reference.slice(PREFIX.length)), ...this.#children(own) };
    return this.#children(node);
  }

  #children(node: JsonObject): Schema {
    const result: JsonObject = { ...node };
    const resolved = (child: Json): Json => (isJsonObject(child) ? (this.#resolve(child) as JsonObject) : child);
    for (const key of ['items', 'additionalProperties']) {
      if (node[key] !== undefined) result[key] = resolved(node[key]);
    }
    if (isJsonObject(node['properties'])) {
      result['properties'] = Object.fromEntries(
        Object.entries(node['properties']).map(([name, child]) => [name, resolved(child)]),
      );
    }
    return result as Schema;
  }
}

type BuiltIn = Omit<Kind, 'schema' | 'isCustom' | 'empty'>;

/** `type` is as in the tables: `core.v1.ConfigMap`. */
const builtIn = (definitions: Definitions, type: string, kind: BuiltIn): Kind => ({
  ...kind,
  schema: definitions.named(`io.k8s.api.${type}`),
  isCustom: false,
  empty: emptyAsGo(type),
});

export const configMapKind = (core: Definitions): Kind =>
  builtIn(core, 'core.v1.ConfigMap', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    resetFields: {},
  });

const ALLOCATED = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'];

export const serviceKind = (core: Definitions): Kind =>
  builtIn(core, 'core.v1.Service', {
    apiVersion: 'v1',
    kind: 'Service',
    plural: 'services',
    resetFields: { '': ['status'], status: ['spec'] },
    unallocated: (stored, sent) => {
      const given = isJsonObject(sent['spec']) ? sent['spec'] : {};
      const all = isJsonObject(stored['spec']) ? stored['spec'] : {};
      const kept = Object.entries(all).filter(([key]) => !ALLOCATED.includes(key) || Object.hasOwn(given, key));
      return { ...stored, spec: Object.fromEntries(kept) };
    },
  });

export const deploymentKind = (apps: Definitions): Kind =>
  builtIn(apps, 'apps.v1.Deployment', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    resetFields: { '': ['status'], status: ['spec', 'metadata.labels'] },
  });

const word = fc.constantFrom('x', 'y');
const strings = (...keys: readonly string[]): fc.Arbitrary<JsonObject> =>
  fc.dictionary(fc.constantFrom(...keys), word, { maxKeys: 2, noNullPrototype: true });
const some = (model: Record<string, fc.Arbitrary<Json>>, requiredKeys: string[] = []): fc.Arbitrary<JsonObject> =>
  fc.record(model, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
const unique = (item: fc.Arbitrary<JsonObject>, selector: (item: JsonObject) => unknown, minLength = 0) =>
  fc.uniqueArray(item, { selector, minLength, maxLength: 3 }) as fc.Arbitrary<Json>;

const metadata = some({ labels: strings('app', 'tier'), annotations: strings('note') });

export const configMaps = some({ metadata, data: strings('a', 'b', 'c'), immutable: fc.constant(false) });

const servicePort = some(
  {
    port: fc.constantFrom(80, 81),
    protocol: fc.constantFrom('TCP', 'UDP'),
    name: word,
    targetPort: fc.constantFrom<Json>(8080, 'http'),
  },
  ['port', 'name'],
);

/** Ports need names of their own, so most random lists are refused; two fixed shapes keep the others busy. */
export const services = some({
  metadata,
  spec: some(
    {
      ports: fc.oneof(
        fc.constantFrom<Json>(
          [{ port: 80 }],
          [
            { port: 80, name: 'x' },
            { port: 81, name: 'y' },
          ],
          [
            { port: 81, name: 'y' },
            { port: 80, name: 'x', targetPort: 'http' },
          ],
        ),
        unique(servicePort, ({ name }) => name, 1),
      ),
      selector: strings('app', 'tier'),
      sessionAffinity: fc.constant('None'),
    },
    ['ports'],
  ),
});

const environment = unique(
  some({ name: fc.constantFrom('A', 'B', 'C'), value: word }, ['name']),
  ({ name }) => name,
);
const containerPorts = unique(
  some({ containerPort: fc.constantFrom(80, 81), protocol: fc.constantFrom('TCP', 'UDP') }, ['containerPort']),
  ({ containerPort, protocol = 'TCP' }) => JSON.stringify([containerPort, protocol]),
);
const container = some(
  {
    name: fc.constantFrom('one', 'two'),
    image: word,
    args: fc.constantFrom<Json>(['a'], ['a', 'b']),
    env: environment,
    ports: containerPorts,
    resources: some({ limits: some({ cpu: fc.constantFrom('1', '500m'), memory: fc.constant('1Gi') }) }),
  },
  ['name', 'image'],
);
const volume = some(
  { name: fc.constantFrom('v', 'w'), emptyDir: fc.constantFrom<JsonObject>({}, { medium: 'Memory' }) },
  ['name', 'emptyDir'],
);

export const deployments: fc.Arbitrary<JsonObject> = some(
  {
    metadata,
    spec: some(
      {
        replicas: fc.constantFrom(1, 2),
        selector: fc.constant({ matchLabels: { app: 'x' } }),
        strategy: fc.constantFrom<JsonObject>(
          { type: 'Recreate' },
          { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
          {},
        ),
        template: fc.record({
          metadata: fc.constantFrom<JsonObject>({ labels: { app: 'x' } }, { labels: { app: 'x', tier: 'y' } }),
          spec: some(
            {
              containers: unique(container, ({ name }) => name, 1),
              volumes: unique(volume, ({ name }) => name),
              nodeSelector: strings('disk', 'zone'),
              tolerations: fc.constantFrom<Json>([{ key: 'k', operator: 'Exists' }], []),
            },
            ['containers'],
          ),
        }),
      },
      ['selector', 'template'],
    ),
  },
  ['spec'],
);
