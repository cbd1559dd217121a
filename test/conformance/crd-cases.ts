import type { Json, JsonObject } from '../../src/object/json.ts';

export interface CrdCase {
  readonly name: string;
  readonly crd: JsonObject;
}

const GROUP = 'crdcases.slipway.dev';

interface Parts {
  readonly schema?: JsonObject;
  readonly version?: JsonObject;
  readonly spec?: JsonObject;
  readonly metadata?: JsonObject;
}

const widget = ({ schema, version, spec, metadata }: Parts): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${GROUP}`, ...metadata },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema ?? { type: 'object' } },
        ...version,
      },
    ],
    ...spec,
  },
});

const other = (name: string, parts: Parts): CrdCase => ({ name, crd: widget(parts) });
/** A property `a` of the object. */
const field = (name: string, a: JsonObject): CrdCase =>
  other(name, { schema: { type: 'object', properties: { a } } });
const root = (name: string, schema: JsonObject): CrdCase => other(name, { schema });
const list = (name: string, a: JsonObject, items: JsonObject = { type: 'string' }): CrdCase =>
  field(name, { type: 'array', items, ...a });
const version = (name: string, parts: JsonObject): CrdCase => other(name, { version: parts });
const withStatus = { subresources: { status: {} } };
const two = (name: string, first: JsonObject, second: JsonObject): CrdCase =>
  other(name, {
    spec: {
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } }, ...first },
        { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } }, ...second },
      ],
    },
  });
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
});
const webhook = (clientConfig: Json, more: JsonObject = {}): JsonObject => ({
  conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'], ...more } },
});

const names: readonly CrdCase[] = [
  other('a name that is not plural.group', { metadata: { name: 'things.example.com' } }),
  other('a group without a dot', { spec: { group: 'single' }, metadata: { name: 'widgets.single' } }),
  other('no group', { spec: { group: '' } }),
  other('a group in capitals', { spec: { group: 'A.example.com' } }),
  other('an unknown scope', { spec: { scope: 'Galaxy' } }),
  other('no scope', { spec: { scope: '' } }),
  other('no versions', { spec: { versions: [] } }),
  other('bad names', {
    spec: {
      names: {
        plural: 'widgets',
        kind: 'Wid_get',
        singular: 'Wid',
        shortNames: ['ok', 'N_o'],
        categories: ['All'],
      },
    },
  }),
  other('no kind', { spec: { names: { plural: 'widgets', kind: '' } } }),
  other('kind equal to listKind', { spec: { names: { plural: 'widgets', kind: 'Widget', listKind: 'Widget' } } }),
  other('a kind that is too long', { spec: { names: { plural: 'widgets', kind: `W${'x'.repeat(63)}` } } }),
  version('a version name in capitals', { name: 'V1' }),
  version('no storage version', { storage: false }),
  two('two storage versions', {}, { storage: true }),
  two(
    'two storage versions with different parts',
    { ...withStatus },
    { storage: true, schema: { openAPIV3Schema: object({ a: { type: 'string', description: 'x' } }) } },
  ),
  two('the same version twice', {}, { name: 'v1', storage: false }),
  version('no schema', { schema: null }),
  two('one version without a schema', {}, { schema: null }),
  other('preserveUnknownFields', { spec: { preserveUnknownFields: true } }),
  other('a protected group', { spec: { group: 'x.k8s.io' }, metadata: { name: 'widgets.x.k8s.io' } }),
  other('a protected group with a bad approval', {
    spec: { group: 'x.k8s.io' },
    metadata: { name: 'widgets.x.k8s.io', annotations: { 'api-approved.kubernetes.io': 'yes' } },
  }),
  other('a protected group without approval on purpose', {
    spec: { group: 'x.kubernetes.io' },
    metadata: {
      name: 'widgets.x.kubernetes.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, test' },
    },
  }),
  version('a warning of a version that is not deprecated', { deprecationWarning: 'old' }),
  version('an empty deprecation warning', { deprecated: true, deprecationWarning: '' }),
  version('a deprecation warning with a line break', { deprecated: true, deprecationWarning: 'a\nb' }),
  version('a long deprecation warning', { deprecated: true, deprecationWarning: 'x'.repeat(257) }),
];

const columns: readonly CrdCase[] = [
  version('columns with everything wrong', {
    additionalPrinterColumns: [
      { name: '', type: 'x', jsonPath: 'a', format: 'b' },
      { name: 'ok', type: '', jsonPath: '' },
    ],
  }),
  two(
    'bad columns in one version',
    {},
    { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] },
  ),
  version('scale paths elsewhere', {
    subresources: { scale: { specReplicasPath: '.a', statusReplicasPath: 'b', labelSelectorPath: '.x' } },
  }),
  version('no scale paths', { subresources: { scale: { specReplicasPath: '', statusReplicasPath: '' } } }),
  version('selectable fields', {
    schema: { openAPIV3Schema: object({ spec: object({ a: { type: 'string' }, o: { type: 'object' } }) }) },
    selectableFields: [
      { jsonPath: '.spec.a' },
      { jsonPath: '.spec.a' },
      { jsonPath: '.spec.b' },
      { jsonPath: '.spec.o' },
      { jsonPath: '.metadata.name' },
      { jsonPath: ".spec['a']" },
      { jsonPath: 'spec' },
      { jsonPath: '' },
    ],
  }),
];

const conversion: readonly CrdCase[] = [
  other('an unknown conversion', { spec: { conversion: { strategy: 'Magic' } } }),
  other('a webhook without a client', { spec: { conversion: { strategy: 'Webhook' } } }),
  other('a webhook with neither url nor service', { spec: webhook({}) }),
  other('a webhook with both', {
    spec: webhook({ url: 'https://a', service: { name: 'a', namespace: 'b' } }),
  }),
  other('a webhook over http', { spec: webhook({ url: 'http://user@host/path?a=b#c' }) }),
  other('a webhook without a host', { spec: webhook({ url: 'https:///path' }) }),
  other('a webhook service with a bad path', {
    spec: webhook({ service: { name: '', namespace: 'b', path: 'a//B/', port: 70_000 } }),
  }),
  other('unknown review versions', {
    spec: webhook({ url: 'https://a' }, { conversionReviewVersions: ['v2', 'v2', 'V3'] }),
  }),
  other('no review versions', { spec: webhook({ url: 'https://a' }, { conversionReviewVersions: [] }) }),
  other('webhook settings without a webhook', {
    spec: {
      conversion: {
        strategy: 'None',
        webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] },
      },
    },
  }),
];

const structure: readonly CrdCase[] = [
  root('no type at the root', {}),
  root('another type at the root', { type: 'string' }),
  root('a nullable root', { type: 'object', nullable: true }),
  root('additionalProperties at the root', { type: 'object', additionalProperties: { type: 'string' } }),
  field('a property without a type', {}),
  field('an unknown type', { type: 'text' }),
  field('the type null', { type: 'null' }),
  field('a list without items', { type: 'array' }),
  field('items without a type', { type: 'array', items: {} }),
  field('items as a list', { type: 'array', items: [{ type: 'string' }] }),
  field(
    'properties and additionalProperties',
    object({ b: { type: 'string' } }, { additionalProperties: { type: 'string' } }),
  ),
  field('additionalProperties false', object({ b: { type: 'string' } }, { additionalProperties: false })),
  field('map values without a type', { type: 'object', additionalProperties: {} }),
  root('everything in branches that may not be there', {
    type: 'object',
    properties: { a: { type: 'string' }, m: { type: 'object' } },
    anyOf: [
      {
        type: 'object',
        title: 't',
        description: 'd',
        nullable: true,
        default: {},
        additionalProperties: { type: 'string' },
        'x-kubernetes-preserve-unknown-fields': true,
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-int-or-string': true,
        'x-kubernetes-list-type': 'atomic',
        'x-kubernetes-map-type': 'atomic',
        'x-kubernetes-list-map-keys': ['a'],
        'x-kubernetes-validations': [{ rule: 'true' }],
        properties: { a: { type: 'string' }, metadata: { maxProperties: 1 } },
      },
    ],
  }),
  root('branches about unknown properties', {
    type: 'object',
    properties: { a: { type: 'object', properties: { b: { type: 'array', items: { type: 'string' } } } } },
    not: { required: ['z'], properties: { z: { maxLength: 1 } } },
    allOf: [{ properties: { a: { properties: { c: { minLength: 1 } } } } }],
    oneOf: [
      { properties: { a: { properties: { b: { items: { minLength: 1 } } } } } },
      { items: { minLength: 1 } },
    ],
  }),
  field('int-or-string in its two forms', {
    type: 'object',
    properties: {
      a: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      b: {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'a' }],
      },
      c: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
    },
  }),
  field('int-or-string with everything', {
    'x-kubernetes-int-or-string': true,
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-embedded-resource': true,
  }),
  field('an embedded resource that is no object', { type: 'string', 'x-kubernetes-embedded-resource': true }),
  field('an embedded resource without anything', { type: 'object', 'x-kubernetes-embedded-resource': true }),
  field('an embedded map', {
    type: 'object',
    additionalProperties: { type: 'string' },
    'x-kubernetes-embedded-resource': true,
  }),
  root('metadata with labels', object({ metadata: object({ labels: { type: 'object' } }) })),
  root('metadata with a description', object({ metadata: { type: 'object', description: 'x' } })),
  root(
    'metadata as text',
    object({ metadata: { type: 'string' }, kind: { type: 'integer' }, apiVersion: { type: 'object' } }),
  ),
  root('metadata with a name', object({ metadata: object({ name: { type: 'string', maxLength: 5 } }) })),
  root('unsupported fields', {
    type: 'object',
    id: 'x',
    $ref: '#/a',
    properties: {
      a: { type: 'object', patternProperties: { a: { type: 'string' } }, definitions: { a: { type: 'string' } } },
    },
  }),
  root('another schema dialect', { type: 'object', $schema: 'http://json-schema.org/draft-04/schema#' }),
  field('dependencies and additionalItems', {
    type: 'array',
    items: { type: 'string' },
    additionalItems: false,
    dependencies: { a: ['b'] },
  }),
  field('unique items', { type: 'array', items: { type: 'string' }, uniqueItems: true }),
  field('a pattern that is none', { type: 'string', pattern: '(' }),
  field('a pattern of JavaScript', { type: 'string', pattern: '(?=a)' }),
  field('preserve false', { type: 'object', 'x-kubernetes-preserve-unknown-fields': false }),
  version('a status subresource with more at the root', {
    ...withStatus,
    schema: { openAPIV3Schema: { type: 'object', maxProperties: 3, properties: { status: { type: 'object' } } } },
  }),
  version('a status subresource with another type', {
    ...withStatus,
    schema: { openAPIV3Schema: { type: 'array', items: { type: 'string' } } },
  }),
];

const lists: readonly CrdCase[] = [
  field('a list type without a type', {
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-list-type': 'set',
  }),
  field('a list type of an object', { type: 'object', 'x-kubernetes-list-type': 'set' }),
  field('a map type of a string', { type: 'string', 'x-kubernetes-map-type': 'granular' }),
  field('an unknown map type', { type: 'object', 'x-kubernetes-map-type': 'both' }),
  list('an unknown list type', { 'x-kubernetes-list-type': 'bag' }),
  list('a set of objects', { 'x-kubernetes-list-type': 'set' }, { type: 'object' }),
  list(
    'a set of sets',
    { 'x-kubernetes-list-type': 'set' },
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  ),
  list('a set of nullable strings', { 'x-kubernetes-list-type': 'set' }, { type: 'string', nullable: true }),
  list('a map without keys', { 'x-kubernetes-list-type': 'map' }, { type: 'object' }),
  list('a map of strings', { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] }),
  list('keys without a map', { 'x-kubernetes-list-map-keys': ['a'] }),
  list('keys of a set', { 'x-kubernetes-list-type': 'set', 'x-kubernetes-list-map-keys': ['a'] }),
  list(
    'keys that are not usable',
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b', 'c', 'c', 'z'] },
    object(
      { a: { type: 'object' }, b: { type: 'string', nullable: true }, c: { type: 'string' } },
      { nullable: true, required: ['b'] },
    ),
  ),
];

const defaults: readonly CrdCase[] = [
  field('a default of the wrong type', { type: 'string', default: 1 }),
  field('a default outside of its limits', { type: 'integer', minimum: 3, default: 1 }),
  field(
    'a default with unknown fields',
    object({ b: { type: 'string' } }, { default: { b: 'x', c: 1, d: { e: 2 } } }),
  ),
  field('a default that lacks a field', object({ b: { type: 'string' } }, { required: ['b'], default: {} })),
  field('a default below a list', { type: 'array', items: object({ b: { type: 'string', default: 5 } }) }),
  field('a default null', { type: 'string', default: null }),
  field('a default with a null', object({ b: { type: 'string' } }, { default: { b: null } })),
  root('a default in metadata', object({ metadata: object({ name: { type: 'string', default: 'x' } }) })),
  root('a default of kind', object({ kind: { type: 'string', default: 'Widget' } })),
  root('a default at the root', { type: 'object', default: {} }),
  field(
    'a default in embedded metadata',
    object(
      {
        metadata: object({
          name: { type: 'string', default: 'a/b' },
          labels: { type: 'object', additionalProperties: { type: 'string', default: 'x' } },
        }),
      },
      { 'x-kubernetes-embedded-resource': true },
    ),
  ),
  field('an embedded default without kind', {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    default: { apiVersion: 'v1' },
  }),
  field('an embedded default with bad metadata', {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    default: { apiVersion: 'v1', kind: 'X', metadata: { name: 5 } },
  }),
  field('a good default', object({ b: { type: 'string', default: 'x' } }, { default: {} })),
];

/** Definitions, most of them bad; the answers of the real server are the expectation. */
export const CRD_CASES: readonly CrdCase[] = [
  ...names,
  ...columns,
  ...conversion,
  ...structure,
  ...lists,
  ...defaults,
];
