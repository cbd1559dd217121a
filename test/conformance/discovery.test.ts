import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { AGGREGATED_CONTENT_TYPE, aggregatedDiscovery } from '../../src/apiserver/discovery/aggregated.ts';
import { servedGroups } from '../../src/apiserver/discovery/groups.ts';
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../../src/apiserver/discovery/legacy.ts';
import { OpenApi } from '../../src/apiserver/discovery/openapi.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { RawClient } from '../support/raw-client.ts';
import { builtins, gadgetSubresources, gadgets } from '../support/served-resources.ts';

const DEFINITION = parse(readFileSync(new URL('testdata/gadgets.yaml', import.meta.url), 'utf8'));
const GROUP = 'generated.slipway.dev';

/** What our server would serve with the same definition. */
function ownResources() {
  const [beta, stable] = DEFINITION.spec.versions;
  const strategy = {
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    selectableFields: { 'spec.color': () => '' },
  };
  return [
    ...builtins(),
    gadgets('v1beta1', beta.schema.openAPIV3Schema),
    gadgets('v1', stable.schema.openAPIV3Schema, { subresources: gadgetSubresources('v1'), strategy }),
  ];
}

/** Kinds that are not part of the specification. */
const isLeftOut = ({ name, resource }: { name?: string; resource?: string }): boolean =>
  /^resource\.k8s\.io$/.test(name ?? resource ?? '');

/** The JSON without prose; properties of schemas may be called description, too. */
function withoutProse(value: Json, isProperties = false): Json {
  if (Array.isArray(value)) return value.map((item) => withoutProse(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([key]) => isProperties || key !== 'description');
  return Object.fromEntries(
    entries.map(([key, item]) => [key, withoutProse(item, key === 'properties' && !isProperties)]),
  );
}

/** Everything in an OpenAPI document that is not about a kind or subresource we leave out. */
function comparable(document: { paths: JsonObject; components: { schemas: JsonObject } }): Json {
  const paths = Object.entries(document.paths).filter(
    ([path]) => !/\/componentstatuses|\/(attach|exec|log|portforward|proxy)(\/|$)/.test(path),
  );
  return withoutProse({
    ...document,
    paths: Object.fromEntries(paths),
  });
}

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver', { min: '1.36' }));

describe('discovery of the real server', needs, () => {
  const resources = ownResources();
  let cluster: ControlPlane;
  let client: RawClient;
  before(async () => {
    cluster = await startKubernetes();
    client = new RawClient(cluster.admin);
    const body = JSON.stringify(DEFINITION);
    const headers = { 'content-type': 'application/json' };
    await client.json('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      method: 'POST',
      headers,
      body,
    });
    await published();
  });
  after(async () => {
    client[Symbol.dispose]();
    await cluster.stop();
  });

  /** Upstream publishes a definition in several places, one after the other. */
  async function published(): Promise<void> {
    for (const path of [`/openapi/v3/apis/${GROUP}/v1`, `/openapi/v3/apis/${GROUP}/v1beta1`, `/apis/${GROUP}`]) {
      const deadline = performance.now() + 30_000;
      while ((await client.send(path)).status !== 200) {
        assert.ok(performance.now() < deadline, `${path} was not published`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    const index = async () => (await aggregated('/apis')).items.some(({ metadata }) => metadata.name === GROUP);
    const deadline = performance.now() + 30_000;
    while (!(await index())) {
      assert.ok(performance.now() < deadline, `${GROUP} was not published`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  interface Aggregated {
    items: { metadata: { name?: string }; versions: { resources: { resource: string }[] }[] }[];
  }
  const aggregated = (path: string) =>
    client.json<Aggregated>(path, { headers: { accept: AGGREGATED_CONTENT_TYPE } });

  it('apiserver/D1: gives the same versions', async () => {
    assert.deepEqual(apiVersions(new URL(cluster.url).host), await client.json('/api'));
  });

  it('apiserver/D2: gives the same groups in the same order', async () => {
    const { groups, ...rest } = await client.json<{ groups: { name: string }[] }>('/apis');
    assert.deepEqual(apiGroupList(resources), { ...rest, groups: groups.filter((group) => !isLeftOut(group)) });
  });

  for (const { name, versions } of servedGroups(resources)) {
    if (name !== '') {
      it(`apiserver/D3: gives the same versions of ${name}`, async () => {
        assert.deepEqual(apiGroup(resources, name), await client.json(`/apis/${name}`));
      });
    }
    for (const { version } of versions) {
      const path = name === '' ? `/api/${version}` : `/apis/${name}/${version}`;
      it(`apiserver/D2: gives the same resources of ${path}`, async () => {
        const real = await client.json<{ resources: { name: string }[] }>(path);
        const kept = real.resources.filter((resource) => !isLeftOut(resource));
        assert.deepEqual(apiResourceList(resources, name, version), { ...real, resources: kept });
      });
    }
  }

  for (const [path, part] of [
    ['/api', 'core'],
    ['/apis', 'groups'],
  ] as const) {
    it(`apiserver/D4: gives the same aggregated list at ${path}`, async () => {
      const real = await aggregated(path);
      const items = real.items.filter(({ metadata }) => !isLeftOut(metadata));
      for (const { versions } of items) {
        for (const version of versions) version.resources = version.resources.filter((one) => !isLeftOut(one));
      }
      const { bytes } = aggregatedDiscovery(resources, part);
      assert.deepEqual(JSON.parse(bytes.toString()), { ...real, items });
    });
  }

  const openApi = new OpenApi({ generation: 1, all: () => resources });
  type Document = Parameters<typeof comparable>[0];

  for (const path of Object.keys(openApi.index()['paths'] as JsonObject)) {
    it(`apiserver/D7: gives the same OpenAPI v3 document of ${path}, without prose`, async () => {
      const real = await client.json<Document>(`/openapi/v3/${path}`);
      const own: Document = JSON.parse(String(openApi.document(path)?.body().bytes));
      if (path.includes(GROUP)) {
        // Upstream lists every group it was built with, served or not.
        const name = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
        for (const { components } of [real, own]) {
          delete (components.schemas[name] as JsonObject)['x-kubernetes-group-version-kind'];
        }
      }
      assert.deepEqual(comparable(own), comparable(real));
    });
  }

  it('apiserver/D6: has every document of ours in its index', async () => {
    const { paths } = await client.json<{ paths: JsonObject }>('/openapi/v3');
    for (const path of Object.keys(openApi.index()['paths'] as JsonObject))
      assert.ok(Object.hasOwn(paths, path), path);
  });

  it('apiserver/D8: gives the same OpenAPI v2 definitions, without prose', async () => {
    const { definitions: real } = await client.json<{ definitions: JsonObject }>('/openapi/v2');
    const { definitions: own } = JSON.parse(openApi.swagger().bytes.toString()) as { definitions: JsonObject };
    for (const [name, definition] of Object.entries(own)) {
      const [ours, theirs] = [withoutProse(definition), withoutProse(real[name] ?? null)];
      if (/\.(DeleteOptions|WatchEvent)$/.test(name)) {
        for (const one of [ours, theirs]) delete (one as JsonObject)['x-kubernetes-group-version-kind'];
      }
      assert.deepEqual(ours, theirs, name);
    }
  });
});
