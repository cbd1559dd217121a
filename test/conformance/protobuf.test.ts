import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { type BuiltinResource, builtinResources } from '../../src/apiserver/builtin-data/builtin-resources.ts';
import { decodeProtobufBody } from '../../src/apiserver/protobuf/decode-body.ts';
import { apiVersionOf } from '../../src/apiserver/registry/resource.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';
import { parseJsonBytes, stringifyJson } from '../../src/object/json-text.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { RawClient } from '../support/raw-client.ts';

interface Manifest extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
}

const FILE = new URL('testdata/objects.yaml', import.meta.url);
const PROTOBUF = { accept: 'application/vnd.kubernetes.protobuf' };

const manifests = parseAllDocuments(readFileSync(FILE, 'utf8'), { intAsBigInt: true }).map(
  (document) => numbers(document.toJS()) as Manifest,
);

/** Only integers that need it are bigints. */
function numbers(value: Json): Json {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(numbers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, numbers(item)]));
}

const resourceOf = ({ apiVersion, kind }: Manifest): BuiltinResource =>
  builtinResources().find((resource) => apiVersionOf(resource) === apiVersion && resource.kind === kind) ??
  assert.fail(`${apiVersion} ${kind} is not built in`);

const basePath = ({ group, version }: BuiltinResource): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

function collectionPath(manifest: Manifest): string {
  const resource = resourceOf(manifest);
  const { namespace } = manifest.metadata;
  return `${basePath(resource)}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${resource.plural}`;
}

interface StatefulSet {
  spec: { volumeClaimTemplates: { kind?: string; apiVersion?: string }[] };
}

/** The server adds them to JSON after reading; they have no place in protobuf. */
function dropTemplateTypes({ spec }: StatefulSet): void {
  for (const template of spec.volumeClaimTemplates) {
    delete template.kind;
    delete template.apiVersion;
  }
}

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver', { min: '1.36' }));

describe('protobuf of the real server', needs, () => {
  let cluster: ControlPlane;
  let client: RawClient;
  before(async () => {
    cluster = await startKubernetes();
    client = new RawClient(cluster.admin);
  });
  after(async () => {
    client[Symbol.dispose]();
    await cluster.stop();
  });

  /** The same answer twice; again while a controller of the server is still changing the object. */
  async function bothForms(path: string, tries = 20): Promise<{ json: Json; protobuf: JsonObject }> {
    const { body: before } = await client.send(path);
    const { headers, body } = await client.send(path, { headers: PROTOBUF });
    const { body: after } = await client.send(path);
    if (!before.equals(after) && tries > 0) return bothForms(path, tries - 1);
    assert.match(String(headers['content-type']), /^application\/vnd\.kubernetes\.protobuf/, path);
    return { json: parseJsonBytes(after).value, protobuf: decodeProtobufBody(body, undefined).object };
  }

  for (const manifest of manifests) {
    const { apiVersion, kind, metadata } = manifest;
    it(`apiserver/C5: decodes ${apiVersion} ${kind} ${metadata.name} to the very JSON`, async () => {
      const body = stringifyJson(manifest);
      const headers = { 'content-type': 'application/json' };
      const made = await client.send(collectionPath(manifest), { method: 'POST', headers, body });
      assert.equal(made.status, 201, made.body.toString());
      const { json, protobuf } = await bothForms(`${collectionPath(manifest)}/${metadata.name}`);
      if (kind === 'StatefulSet') dropTemplateTypes(json as unknown as StatefulSet);
      assert.deepEqual(protobuf, json);
      // The order of keys is the same, too: both are that of the Go structs.
      assert.equal(stringifyJson(protobuf), stringifyJson(json));
    });
  }

  for (const kind of [
    'Namespace',
    'ClusterRole',
    'ClusterRoleBinding',
    'APIService',
    'FlowSchema',
    'ServiceCIDR',
  ]) {
    it(`apiserver/C5: decodes every ${kind} the server makes itself`, async () => {
      const resource = builtinResources().find((one) => one.kind === kind) ?? assert.fail();
      const { json, protobuf } = await bothForms(`${basePath(resource)}/${resource.plural}`);
      assert.deepEqual(protobuf['items'], (json as JsonObject)['items']);
    });
  }

  it('apiserver/C5: decodes reviews, scales and failures', async () => {
    const scale = await bothForms('/apis/apps/v1/namespaces/default/deployments/full/scale');
    assert.deepEqual(scale.protobuf, scale.json);
    const missing = await client.send('/api/v1/namespaces/default/pods/none', { headers: PROTOBUF });
    const status = decodeProtobufBody(missing.body, undefined).object;
    assert.deepEqual([status['kind'], status['code'], status['reason']], ['Status', 404, 'NotFound']);
    const body = '{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1"}';
    const headers = { ...PROTOBUF, 'content-type': 'application/json' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const review = await client.send(path, { method: 'POST', headers, body });
    const answer = decodeProtobufBody(review.body, undefined).object['status'] as {
      userInfo: { groups: string[]; extra: Record<string, string[]> };
    };
    assert.ok(answer.userInfo.groups.includes('system:masters'));
    assert.ok(Array.isArray(Object.values(answer.userInfo.extra)[0]));
  });
});
