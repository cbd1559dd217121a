import type fc from 'fast-check';

/** One hostile request. */
export interface FuzzRequest {
  /** What it tries, for the report. */
  readonly attack: string;
  readonly method: string;
  /** Path and query, sent as they are. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Bytes for a connection of its own, instead of everything above. */
  readonly raw?: Buffer;
  /** Without the administrator's certificate. */
  readonly isAnonymous?: boolean;
}

export type Requests = fc.Arbitrary<FuzzRequest>;

/** Where attacks go. The canaries live elsewhere and must never change. */
export const FUZZED = 'fuzzed';
export const KEPT = 'kept';

export const JSON_TYPE = { 'content-type': 'application/json' };

/** Kinds that bodies are sent to: built-in ones with strict types, and custom ones with a schema and rules. */
export const COLLECTIONS = {
  ConfigMap: `/api/v1/namespaces/${FUZZED}/configmaps`,
  Secret: `/api/v1/namespaces/${FUZZED}/secrets`,
  Pod: `/api/v1/namespaces/${FUZZED}/pods`,
  Service: `/api/v1/namespaces/${FUZZED}/services`,
  Deployment: `/apis/apps/v1/namespaces/${FUZZED}/deployments`,
  Role: `/apis/rbac.authorization.k8s.io/v1/namespaces/${FUZZED}/roles`,
  Target: `/apis/fuzz.example.com/v1/namespaces/${FUZZED}/targets`,
} as const;

/** What those collections hold from the start, under the name `target`. */
const OBJECTS: Readonly<Record<keyof typeof COLLECTIONS, Readonly<Record<string, unknown>>>> = {
  ConfigMap: { apiVersion: 'v1', data: { a: '1', b: '2' } },
  Secret: { apiVersion: 'v1', data: { a: 'MQ==' } },
  Pod: { apiVersion: 'v1', spec: { containers: [{ name: 'a', image: 'a', ports: [{ containerPort: 80 }] }] } },
  Service: { apiVersion: 'v1', spec: { ports: [{ port: 80, name: 'a' }], selector: { a: 'b' } } },
  Deployment: {
    apiVersion: 'apps/v1',
    spec: {
      replicas: 0,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
    },
  },
  Role: {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  },
  Target: {
    apiVersion: 'fuzz.example.com/v1',
    spec: { count: 1, text: 'a', items: [{ name: 'a', size: 1 }], free: { anything: true } },
  },
};
export const KINDS = Object.keys(COLLECTIONS) as readonly (keyof typeof COLLECTIONS)[];

export const objectNamed = (kind: keyof typeof COLLECTIONS, name: string): Record<string, unknown> => ({
  kind,
  ...structuredClone(OBJECTS[kind]),
  metadata: { name, namespace: FUZZED },
});

/** The custom kind that rules, patterns and keyed lists are tried on. */
export const TARGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'targets.fuzz.example.com' },
  spec: {
    group: 'fuzz.example.com',
    scope: 'Namespaced',
    names: { plural: 'targets', singular: 'target', kind: 'Target', listKind: 'TargetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                'x-kubernetes-validations': [
                  { rule: "!has(self.count) || self.count >= 0 || self.text == 'negative'" },
                  { rule: '!has(self.items) || self.items.all(i, !has(i.size) || i.size < 1000000)' },
                  { rule: "!has(self.text) || !self.text.matches('^(a+)+$') || self.text.size() < 100" },
                ],
                properties: {
                  count: { type: 'integer', format: 'int64' },
                  text: { type: 'string', maxLength: 4000, pattern: '^(([a-z])+.)*[A-Za-z0-9 ]*$' },
                  when: { type: 'string', format: 'date-time' },
                  ratio: { type: 'number' },
                  either: { 'x-kubernetes-int-or-string': true },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  map: { type: 'object', additionalProperties: { type: 'string' } },
                  items: {
                    type: 'array',
                    maxItems: 200,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string', maxLength: 200 }, size: { type: 'integer' } },
                    },
                  },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
} as const;
