import type { Json, JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import { kubernetesVersion } from '../builtin-data/builtin-resources.ts';
import type { DocumentForm } from '../negotiation/document-form.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import { contentHash, type TaggedBody } from './aggregated.ts';
import { servedGroups } from './groups.ts';
import { openApiPaths } from './openapi-paths.ts';
import { swaggerProtobuf } from './openapi-protobuf.ts';
import { componentSchemas, referencesIn } from './openapi-schemas.ts';
import { swaggerDocument } from './openapi-v2.ts';

/** Counts changes of how documents are made, so that clients do not keep old ones for ever. */
const LAYOUT = 1;

/** What is served, as the registry knows it. */
export interface ServedResources {
  /** Goes up with every change. */
  readonly generation: number;
  all(): readonly Resource[];
}

interface Entry {
  readonly hash: string;
  readonly resources: readonly Resource[];
  body?: TaggedBody;
}

/**
 * The OpenAPI documents (D6-D8). Each is made when it is first asked for and kept until what it describes changes; the
 * hash in its address is made from what goes into it, so the index costs no documents.
 */
export class OpenApi {
  readonly #source: ServedResources;
  #generation = -1;
  #entries = new Map<string, Entry>();
  readonly #swagger = new Map<DocumentForm, TaggedBody>();

  constructor(source: ServedResources) {
    this.#source = source;
  }

  /** `GET /openapi/v3`. */
  index(): JsonObject {
    const paths: JsonObject = {};
    for (const [path, { hash }] of this.#current()) {
      paths[path] = { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` };
    }
    return { paths };
  }

  /** `GET /openapi/v3/<path>`, with path as in the index: `api/v1`, `apis/apps/v1`. */
  document(path: string): { readonly hash: string; readonly body: () => TaggedBody } | undefined {
    const entry = this.#current().get(path);
    if (entry === undefined) return undefined;
    return {
      hash: entry.hash,
      body: () => {
        entry.body ??= tagged(documentOf(entry.resources), entry.hash);
        return entry.body;
      },
    };
  }

  /** `GET /openapi/v2`. Only the forms that were asked for are kept, and nothing they were made from. */
  swagger(form: DocumentForm = 'json'): TaggedBody {
    const entries = [...this.#current().values()];
    const known = this.#swagger.get(form);
    if (known !== undefined) return known;
    const document = swaggerDocument(
      builtinInfo(),
      entries.map(({ resources }) => documentOf(resources)),
    );
    const bytes = form === 'json' ? Buffer.from(stringifyJson(document)) : swaggerProtobuf(document);
    const made = { bytes, etag: `"${contentHash(entries.map(({ hash }) => hash).join())}"` };
    this.#swagger.set(form, made);
    return made;
  }

  #current(): ReadonlyMap<string, Entry> {
    const { generation } = this.#source;
    if (generation !== this.#generation) {
      this.#entries = this.#refreshed();
      this.#swagger.clear();
      this.#generation = generation;
    }
    return this.#entries;
  }

  #refreshed(): Map<string, Entry> {
    const versions = servedGroups(this.#source.all()).flatMap(({ name, versions: list }) =>
      list.map((one) => ({ ...one, path: documentPath(name, one.version) })),
    );
    const entries = versions.map(({ path, resources }): [string, Entry] => {
      const hash = inputHash(resources);
      const known = this.#entries.get(path);
      return [path, known?.hash === hash ? known : { hash, resources }];
    });
    return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

const documentPath = (group: string, version: string): string =>
  group === '' ? `api/${version}` : `apis/${apiVersionOf({ group, version })}`;

const inputHash = (resources: readonly Resource[]): string =>
  contentHash(JSON.stringify([LAYOUT, kubernetesVersion(), resources.map(hashOfResource)]));

/** Resources are never changed in place: a new definition makes new ones. */
const resourceHashes = new WeakMap<Resource, string>();

/** Built-in resources change only with the tables; of custom ones the schema counts as well. */
function hashOfResource(resource: Resource): string {
  const known = resourceHashes.get(resource);
  if (known !== undefined) return known;
  const { group, version, plural, kind, isNamespaced, verbs, subresources, isCustom } = resource;
  const own = [group, version, plural, kind, isNamespaced, ...verbs, ...subresources.keys()].join();
  const custom = isCustom
    ? `${stringifyJson(resource.schema as Json)}${Object.keys(resource.strategy.selectableFields ?? {}).join()}`
    : '';
  const hash = contentHash(`${own}\n${custom}`);
  resourceHashes.set(resource, hash);
  return hash;
}

function documentOf(resources: readonly Resource[]): JsonObject {
  const [first] = resources;
  const paths = openApiPaths(resources);
  const custom = resources.filter(({ isCustom }) => isCustom);
  const schemas = componentSchemas(referencesIn(paths), custom, first ?? { group: '', version: 'v1' });
  return first?.isCustom === true
    ? { openapi: '3.0.0', info: CUSTOM_INFO, paths, components: { schemas } }
    : { openapi: '3.0.0', info: builtinInfo(), paths, components: { schemas, securitySchemes: SECURITY_SCHEMES } };
}

/** Upstream makes the documents of custom resources in another place, and it shows. */
const CUSTOM_INFO: JsonObject = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };

const SECURITY_SCHEMES: JsonObject = {
  BearerToken: { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' },
};

/** Upstream gives major and minor version only. */
const builtinInfo = (): JsonObject => ({
  title: 'Kubernetes',
  version: kubernetesVersion().slice(1).split('.').slice(0, 2).join('.'),
});

const tagged = (document: JsonObject, hash: string): TaggedBody => ({
  bytes: Buffer.from(stringifyJson(document)),
  etag: `"${hash}"`,
});
