import type { ApiClient } from '../../support/api-client.ts';

/** One collection that traffic goes to. */
export interface Collection {
  readonly name: string;
  readonly hasStatus: boolean;
  /** Path of all its objects, or of those in one namespace. */
  path(namespace?: string): string;
  object(name: string, content: Content): Record<string, unknown>;
  /** What a merge patch sends to change the content. */
  change(content: Content): Record<string, unknown>;
}

export interface Content {
  readonly mark: string;
  readonly isOn: boolean;
}

export interface World extends AsyncDisposable {
  readonly namespaces: readonly string[];
  readonly collections: readonly Collection[];
}

const GROUP = 'consistency.slipway.dev';
const labelsOf = ({ isOn }: Content) => ({ toggle: isOn ? 'on' : 'off' });

const CONFIG_MAPS: Collection = {
  name: 'configmaps',
  hasStatus: false,
  path: (namespace) =>
    namespace === undefined ? '/api/v1/configmaps' : `/api/v1/namespaces/${namespace}/configmaps`,
  object: (name, content) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: labelsOf(content) },
    data: { mark: content.mark },
  }),
  change: (content) => ({ metadata: { labels: labelsOf(content) }, data: { mark: content.mark } }),
};

const gadgets = (plural: string): Collection => ({
  name: plural,
  hasStatus: true,
  path: (namespace) =>
    namespace === undefined
      ? `/apis/${GROUP}/v1/${plural}`
      : `/apis/${GROUP}/v1/namespaces/${namespace}/${plural}`,
  object: (name, content) => ({
    apiVersion: `${GROUP}/v1`,
    kind: kindOf(plural),
    metadata: { name, labels: labelsOf(content) },
    spec: { mark: content.mark },
  }),
  change: (content) => ({ metadata: { labels: labelsOf(content) }, spec: { mark: content.mark } }),
});

const kindOf = (plural: string): string => `G${plural.slice(1, -1)}`;

const definition = (plural: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural, singular: plural.slice(0, -1), kind: kindOf(plural), listKind: `${kindOf(plural)}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const JSON_TYPE = { 'content-type': 'application/json' };
const POLL_MS = 50;

/** Namespaces and a definition of its own, removed afterwards: others may use the server at the same time. */
export async function makeWorld(client: ApiClient, id: string): Promise<World> {
  const plural = `gadget${id}s`;
  const namespaces = ['a', 'b', 'c'].map((letter) => `consistency-${id}-${letter}`);
  const post = (path: string, body: object) =>
    client.send({ method: 'POST', path, headers: JSON_TYPE, body: JSON.stringify(body) });
  for (const name of namespaces) await post('/api/v1/namespaces', { metadata: { name } });
  await post(CRDS, definition(plural));
  const collections = [CONFIG_MAPS, gadgets(plural)];
  const isServed = async () =>
    (
      await post(
        `${gadgets(plural).path(namespaces[0])}?dryRun=All`,
        gadgets(plural).object('probe', { mark: '', isOn: true }),
      )
    ).status === 201;
  while (!(await isServed())) await new Promise((done) => setTimeout(done, POLL_MS));
  return {
    namespaces,
    collections,
    [Symbol.asyncDispose]: async () => {
      await client.send({ method: 'DELETE', path: `${CRDS}/${plural}.${GROUP}` });
      for (const name of namespaces) await client.send({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
    },
  };
}
