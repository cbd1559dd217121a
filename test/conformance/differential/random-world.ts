import fc from 'fast-check';
import type { Step } from './case-file.ts';

/** The custom resource of the random world: one field of each kind that merging treats differently. */
export const TOY_DEFINITION: Step = {
  do: 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  body: {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'toys.${group}' },
    spec: {
      group: '${group}',
      scope: 'Namespaced',
      names: { plural: 'toys', kind: 'Toy' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: toySchema() },
        },
      ],
    },
  },
};

function toySchema() {
  const text = { type: 'string' };
  const port = {
    type: 'object',
    required: ['port'],
    properties: { port: { type: 'integer' }, proto: { ...text, default: 'TCP' }, name: text },
  };
  const spec = {
    color: { ...text, enum: ['red', 'blue'] },
    size: { type: 'integer', minimum: 0, maximum: 9, default: 3 },
    note: { ...text, nullable: true },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'proto'],
      items: port,
    },
    plain: { type: 'array', items: text },
    atom: {
      type: 'object',
      'x-kubernetes-map-type': 'atomic',
      properties: { a: text, b: { ...text, default: 'bb' } },
    },
    dict: { type: 'object', additionalProperties: text },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    any: { 'x-kubernetes-int-or-string': true },
  };
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return { type: 'object', properties: { spec: { type: 'object', properties: spec }, status } };
}

const name = fc.constantFrom('a', 'b', 'c');
const word = fc.constantFrom('x', 'y', 'z');
/** Now and then something that does not fit. */
const mostly = <T>(value: fc.Arbitrary<T>, odd: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: value as fc.Arbitrary<unknown>, weight: 9 }, { arbitrary: odd, weight: 1 });
const odd: fc.Arbitrary<unknown> = fc.constantFrom(null, 5, 'odd value!', [], {}, true);
const some = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(fields, { requiredKeys: [] });

const labels = some({ l: mostly(word, odd), m: word });
const data = some({ k1: mostly(word, odd), k2: word, 'bad key': fc.constant('x') });
const port = some({ port: fc.constantFrom(80, 81), proto: fc.constantFrom('TCP', 'UDP'), name: word });
const spec = some({
  color: mostly(fc.constantFrom('red', 'blue'), odd),
  size: mostly(fc.integer({ min: 0, max: 9 }), fc.constantFrom(-1, 10, 1.5, 'big', null)),
  note: fc.option(word),
  tags: fc.uniqueArray(word, { maxLength: 3 }),
  ports: fc.array(port, { maxLength: 3 }),
  plain: fc.array(word, { maxLength: 2 }),
  atom: some({ a: word, b: word }),
  dict: some({ p: word, q: mostly(word, odd) }),
  free: some({ deep: some({ u: word, v: odd }), list: fc.array(word, { maxLength: 2 }) }),
  any: fc.constantFrom(1, 'one'),
  nosuch: word,
});

type Kind = 'configmaps' | 'toys';
interface Target {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}
const target: fc.Arbitrary<Target> = fc.record({
  kind: fc.constantFrom('configmaps', 'toys'),
  namespace: fc.constantFrom('${ns}', '${ns}-2'),
  name,
});

const collection = ({ kind, namespace }: Target): string =>
  kind === 'configmaps'
    ? `/api/v1/namespaces/${namespace}/configmaps`
    : `/apis/\${group}/v1/namespaces/${namespace}/toys`;
const item = (of: Target): string => `${collection(of)}/${of.name}`;
/** Where the runner keeps the newest revision it saw of an object. */
export const revisionVariable = ({ kind, namespace, name: of }: Target): string =>
  `rv_${kind}_${namespace.endsWith('2') ? 2 : 1}_${of}`;

const head = ({ kind }: Target): Record<string, unknown> =>
  kind === 'configmaps' ? { apiVersion: 'v1', kind: 'ConfigMap' } : { apiVersion: '${group}/v1', kind: 'Toy' };

/** What goes beside the metadata. */
const content = ({ kind }: Target): fc.Arbitrary<Record<string, unknown>> =>
  kind === 'configmaps' ? some({ data }) : some({ spec: mostly(spec, odd), status: some({ s: word }) });

const metadata = (of: Target): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(fc.option(labels), fc.option(fc.constantFrom(['ex.io/f'], []), { freq: 4 }))
    .map(([given, finalizers]) => ({
      name: of.name,
      ...(given !== null && { labels: given }),
      ...(finalizers !== null && { finalizers }),
    }));

const object = (of: Target): fc.Arbitrary<Record<string, unknown>> =>
  fc.tuple(metadata(of), content(of)).map(([given, rest]) => ({ ...head(of), metadata: given, ...rest }));

const options = fc
  .record({
    dryRun: fc.option(fc.constant('All'), { freq: 6 }),
    fieldValidation: fc.option(fc.constantFrom('Strict', 'Ignore', 'Warn'), { freq: 3 }),
    fieldManager: fc.option(fc.constantFrom('m1', 'm2'), { freq: 2 }),
  })
  .map((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)));

type Query = Record<string, string>;
const stepsFor = (of: Target): fc.Arbitrary<Step> =>
  fc.oneof(create(of), replace(of), merge(of), jsonPatch(of), apply(of), remove(of), read(of));

const create = (of: Target): fc.Arbitrary<Step> =>
  fc
    .tuple(object(of), options)
    .map(([body, query]) => ({ do: `POST ${collection(of)}`, query: query as Query, body }));

const replace = (of: Target): fc.Arbitrary<Step> =>
  fc
    .tuple(object(of), options, fc.constantFrom('none', 'newest', 'stale'), fc.boolean())
    .map(([body, query, revision, isStatus]) => {
      const resourceVersion = revision === 'newest' ? `\${${revisionVariable(of)}}` : '1';
      const given = body['metadata'] as Record<string, unknown>;
      const conditional = revision === 'none' ? given : { ...given, resourceVersion };
      const path = isStatus && of.kind === 'toys' ? `${item(of)}/status` : item(of);
      return { do: `PUT ${path}`, query: query as Query, body: { ...body, metadata: conditional } };
    });

const merge = (of: Target): fc.Arbitrary<Step> =>
  fc
    .tuple(content(of), fc.option(labels), options, fc.constantFrom('merge', 'strategic'), fc.boolean())
    .map(([rest, given, query, type, isStatus]): Step => {
      const body = { ...rest, ...(given !== null && { metadata: { labels: given } }) };
      const path = isStatus && of.kind === 'toys' ? `${item(of)}/status` : item(of);
      return { do: `PATCH ${path}`, query: query as Query, type: of.kind === 'toys' ? 'merge' : type, body };
    });

const pointer = fc.constantFrom(
  '/metadata/labels',
  '/metadata/labels/l',
  '/data/k1',
  '/spec/color',
  '/spec/plain/0',
);
const operation = fc.record({
  op: fc.constantFrom('add', 'remove', 'replace', 'test', 'copy', 'move'),
  path: pointer,
  from: pointer,
  value: fc.oneof(word, fc.constantFrom(null, { l: 'x' })),
});
const jsonPatch = (of: Target): fc.Arbitrary<Step> =>
  fc
    .tuple(fc.array(operation, { maxLength: 3 }), options)
    .map(([body, query]) => ({ do: `PATCH ${item(of)}`, query: query as Query, type: 'json', body }));

const apply = (of: Target): fc.Arbitrary<Step> =>
  fc
    .tuple(object(of), fc.constantFrom('m1', 'm2'), fc.boolean(), fc.option(fc.constant('All'), { freq: 6 }))
    .map(([body, fieldManager, isForced, dryRun]) => ({
      do: `PATCH ${item(of)}`,
      query: { fieldManager, ...(isForced && { force: 'true' }), ...(dryRun !== null && { dryRun }) },
      type: 'apply' as const,
      body,
    }));

const policy = fc.constantFrom<Query>({}, {}, { propagationPolicy: 'Background' }, { dryRun: 'All' });
const remove = (of: Target): fc.Arbitrary<Step> =>
  fc.oneof(
    { arbitrary: policy.map((query): Step => ({ do: `DELETE ${item(of)}`, query })), weight: 4 },
    {
      arbitrary: word.map((l): Step => ({ do: `DELETE ${collection(of)}`, query: { labelSelector: `l=${l}` } })),
      weight: 1,
    },
  );

const listing = fc.constantFrom<Query>(
  {},
  { limit: '1' },
  { limit: '2' },
  { limit: '1', continue: '${next}' },
  { labelSelector: 'l' },
  { labelSelector: 'l!=x' },
  { labelSelector: 'l in (x,y),m' },
  { labelSelector: 'l in (' },
  { fieldSelector: 'metadata.name=a' },
  { fieldSelector: 'metadata.name!=a' },
  { fieldSelector: 'spec.color=red' },
  { resourceVersion: '1', resourceVersionMatch: 'NotOlderThan' },
  { resourceVersionMatch: 'Exact' },
);
const accept = fc.constantFrom<Query>(
  {},
  { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json' },
);
const read = (of: Target): fc.Arbitrary<Step> =>
  fc.oneof(
    fc.constant<Step>({ do: `GET ${item(of)}` }),
    fc.tuple(listing, accept).map(([query, headers]): Step => ({ do: `GET ${collection(of)}`, query, headers })),
  );

/** Requests over a world so small that they meet each other's objects. */
export const randomSteps: fc.Arbitrary<readonly Step[]> = fc.array(target.chain(stepsFor), {
  minLength: 1,
  maxLength: 24,
  size: 'max',
});
