import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { builtinSchema, builtinTypeOf } from '../../src/apiserver/builtin-data/builtin-schema.ts';
import { crdStrategy } from '../../src/apiserver/crd/crd-strategy.ts';
import { type CustomResource, customResources } from '../../src/apiserver/crd/custom-resource.ts';
import { decodeCustomResource } from '../../src/apiserver/crd/decoding.ts';
import { objectAt, textAt } from '../../src/apiserver/crd/definition.ts';
import type { WriteContext } from '../../src/apiserver/registry/resource.ts';
import type { FieldError } from '../../src/object/field-error.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject, jsonEqual } from '../../src/object/json.ts';
import { validateObjectMeta } from '../../src/object/metadata.ts';
import { nameRules } from '../../src/object/names.ts';
import { checkTypes } from '../../src/object/validation/type-check.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { CRD_CASES } from './crd-cases.ts';
import { RESOURCE_KINDS, type ResourceKind } from './custom-resource-cases.ts';
import { DECODE_CASES } from './decode-cases.ts';
import { type Answer, OracleRequests } from './oracle-requests.ts';
import { RATCHET } from './ratchet-cases.ts';

const GROUP = 'differential.slipway.dev';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const DEADLINE_MS = 30_000;
const POLL_MS = 100;

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver'));
const context: WriteContext = {
  now: new Date(0),
  isDryRun: true,
  subresource: '',
  user: { name: 'admin', groups: [] },
};

/** What both answer: a code, and for refusals the set of causes or the text. */
interface Outcome {
  readonly code: number;
  readonly causes: readonly string[];
}

const causeText = (reason: string, field: string, message: string): string => `${reason} ${field}: ${message}`;
const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted();

const ours = (errors: readonly FieldError[]): Outcome => ({
  code: errors.length === 0 ? 201 : 422,
  causes: unique(errors.map(({ reason, field, message }) => causeText(reason, field, message))),
});

function theirs({ status, body }: Answer): Outcome {
  const details = isJsonObject(body['details']) ? body['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isJsonObject) : [];
  const texts = causes.map((cause) =>
    causeText(textAt(cause, 'reason'), textAt(cause, 'field'), textAt(cause, 'message')),
  );
  return { code: status, causes: unique(status === 400 ? [textAt(body, 'message')] : texts) };
}

const definition = (kind: string, version: JsonObject): JsonObject => {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, ...version }],
    },
  };
};

const collection = (kind: string): string => `/apis/${GROUP}/v1/namespaces/default/${kind.toLowerCase()}s`;

/** Asks until the answer is right; the server learns of definitions in the background. */
async function eventually(ask: () => Promise<Answer>, isRight: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    assert.ok(
      performance.now() < deadline,
      `still ${answer.status}: ${JSON.stringify(answer.body).slice(0, 300)}`,
    );
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, POLL_MS);
    await promise;
  }
}

async function install(requests: OracleRequests, kind: string, version: JsonObject): Promise<CustomResource> {
  const crd = definition(kind, version);
  const { status, body } = await requests.send('POST', CRDS, crd);
  assert.equal(status, 201, JSON.stringify(body));
  // Other paths of a group that is not there yet are not answered in JSON.
  await eventually(
    () => requests.send('GET', '/apis'),
    (answer) => JSON.stringify(answer.body).includes(`"${GROUP}"`),
  );
  await eventually(
    () => requests.send('GET', `/apis/${GROUP}/v1`),
    (answer) => JSON.stringify(answer.body).includes(`"${kind}"`),
  );
  return resourceOf(crd);
}

function resourceOf(crd: JsonObject): CustomResource {
  const [resource] = customResources(crd);
  assert.ok(resource);
  return resource;
}

const metaErrors = (object: JsonObject, isNamespaced: boolean): readonly FieldError[] =>
  isJsonObject(object['metadata'])
    ? validateObjectMeta(object['metadata'], { nameRule: nameRules.dnsSubdomain, isNamespaced })
    : [];

/** Nulls that a typed decoder would have dropped, apart from those inside free-form values. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([key, item]) => item !== null && key !== 'default');
  const kept = Object.fromEntries(entries.map(([key, item]) => [key, withoutNulls(item)]));
  return 'default' in value ? { ...kept, default: value['default'] ?? null } : kept;
}

function createdDefinition(body: JsonObject): Outcome {
  const crd = withoutNulls(body);
  assert.ok(isJsonObject(crd));
  crdStrategy.setDefaults?.(crd);
  crdStrategy.prepareForCreate?.(crd, context);
  return ours([...metaErrors(crd, false), ...(crdStrategy.validate?.(crd, context) ?? [])]);
}

interface Created {
  readonly outcome: Outcome;
  readonly object: JsonObject;
}

function createdObject(resource: CustomResource, body: JsonObject): Created {
  const object = cloneJson(body);
  const isSameKind = object['kind'] === resource.kind;
  const { problem } = decodeCustomResource(object, isSameKind ? resource.userSchema : undefined);
  if (problem !== undefined) {
    const text = `${resource.kind} in version "v1" cannot be handled as a ${resource.kind}: ${problem}`;
    return { outcome: { code: 400, causes: [text] }, object };
  }
  resource.strategy.setDefaults?.(object);
  resource.strategy.prepareForCreate?.(object, context);
  if (isJsonObject(object['metadata'])) object['metadata']['namespace'] = 'default';
  const errors = [...metaErrors(object, true), ...(resource.strategy.validate?.(object, context) ?? [])];
  return { outcome: ours(errors), object };
}

const withoutMetadata = (object: JsonObject): JsonObject => ({ ...object, metadata: {} });

describe('definitions and custom resources beside kube-apiserver', needs, () => {
  let cluster: ControlPlane;
  let requests: OracleRequests;
  before(async () => {
    cluster = await startKubernetes();
    requests = new OracleRequests(cluster.admin);
  });
  after(async () => {
    requests[Symbol.dispose]();
    await cluster.stop();
  });

  for (const { name, crd } of CRD_CASES) {
    it(`apiserver/X2: judges a definition alike: ${name}`, async () => {
      const answer = await requests.send('POST', `${CRDS}?dryRun=All`, crd);
      assert.deepEqual(createdDefinition(crd), theirs(answer));
    });
  }

  for (const kind of RESOURCE_KINDS) describeKind(kind, () => requests);

  for (const { name, path, type, body } of DECODE_CASES) {
    it(`apiserver/W3: decodes a built-in alike: ${name}`, async () => {
      const { body: answer } = await requests.send('POST', `${path}?dryRun=All`, body);
      const { problem } = checkTypes(cloneJson(body), builtinSchema(type), builtinTypeOf);
      const [, text] = textAt(answer, 'message').split(/ cannot be handled as a \w+: /);
      assert.equal(problem, text);
    });
  }

  describe('ratcheting', () => {
    const { kind, loose, tight, cases } = RATCHET;
    const path = collection(kind);
    let resource: CustomResource;
    const bodyOf = (index: number, object: JsonObject): JsonObject => ({
      apiVersion: `${GROUP}/v1`,
      kind,
      metadata: { name: `case-${index}` },
      ...object,
    });
    before(async () => {
      await install(requests, kind, loose);
      for (const [index, { old }] of cases.entries()) await store(requests, path, bodyOf(index, old));
      resource = await tighten(requests, kind, tight);
    });
    for (const [index, { name, object, isStatus = false }] of cases.entries()) {
      it(`apiserver/X21: forgives the same: ${name}`, async () => {
        const item = `${path}/case-${index}`;
        const { body: old } = await requests.send('GET', item);
        const body = { ...bodyOf(index, object), metadata: cloneJson(old['metadata'] ?? {}) };
        const answer = await requests.send('PUT', `${item}${isStatus ? '/status' : ''}?dryRun=All`, body);
        const updated = cloneJson(body);
        const update = { ...context, subresource: isStatus ? 'status' : '' };
        resource.strategy.prepareForUpdate?.(updated, old, update);
        const { code, causes } = ours(resource.strategy.validateUpdate?.(updated, old, update) ?? []);
        assert.deepEqual({ code: code === 201 ? 200 : code, causes }, theirs(answer));
      });
    }
  });
});

async function store(requests: OracleRequests, path: string, body: JsonObject): Promise<void> {
  const { status, body: created } = await requests.send('POST', path, body);
  assert.equal(status, 201, JSON.stringify(created));
  if (body['status'] === undefined) return;
  const name = textAt(objectAt(body, 'metadata'), 'name');
  const answer = await requests.send('PUT', `${path}/${name}/status`, { ...created, status: body['status'] });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}

/** Puts the stricter schema in place and waits until the server uses it. */
async function tighten(requests: OracleRequests, kind: string, version: JsonObject): Promise<CustomResource> {
  const crd = definition(kind, version);
  const at = `${CRDS}/${kind.toLowerCase()}s.${GROUP}`;
  const headers = { 'content-type': 'application/merge-patch+json' };
  const { status, body } = await requests.send('PATCH', at, { spec: crd['spec'] ?? {} }, headers);
  assert.equal(status, 200, JSON.stringify(body));
  const probe = { apiVersion: `${GROUP}/v1`, kind, metadata: { name: 'probe' }, spec: { a: 'too long' } };
  await eventually(
    () => requests.send('POST', `${collection(kind)}?dryRun=All`, probe),
    (answer) => answer.status === 422,
  );
  return resourceOf(crd);
}

function describeKind({ kind, version, cases }: ResourceKind, requestsOf: () => OracleRequests): void {
  describe(`objects of kind ${kind}`, () => {
    let resource: CustomResource;
    before(async () => {
      resource = await install(requestsOf(), kind, version);
    });
    for (const { name, object } of cases) {
      it(`apiserver/X15: judges an object alike: ${name}`, async () => {
        const body = { apiVersion: `${GROUP}/v1`, kind, metadata: { name: 'case' }, ...object };
        const answer = await requestsOf().send('POST', `${collection(kind)}?dryRun=All`, body);
        const created = createdObject(resource, body);
        assert.deepEqual(created.outcome, theirs(answer));
        if (answer.status !== 201) return;
        const [mine, real] = [withoutMetadata(created.object), withoutMetadata(answer.body)];
        assert.ok(jsonEqual(mine, real), `ours ${JSON.stringify(mine)} theirs ${JSON.stringify(real)}`);
      });
    }
  });
}
