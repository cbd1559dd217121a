import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtins, gadgetSubresources, gadgets } from '../../../test/support/served-resources.ts';
import type { Schema } from '../../api/schema/structural.ts';
import type { Resource } from '../registry/resource.ts';
import { OpenApi } from './openapi.ts';
import { openApiV2Answer, openApiV3Answer, taggedAnswer } from './openapi-answer.ts';

const SCHEMA: Schema = {
  type: 'object',
  description: 'A gadget.',
  properties: {
    metadata: { type: 'object', properties: { name: { type: 'string' } } },
    spec: {
      type: 'object',
      description: 'what is wanted',
      properties: {
        color: {
          type: 'string',
          nullable: true,
          default: 'red',
          enum: ['red', 'blue'],
          description: 'The colour',
        },
        port: { 'x-kubernetes-int-or-string': true },
        big: { type: 'integer', maximum: 5, default: 9_007_199_254_740_993n },
        tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        limits: { type: 'object', additionalProperties: { type: 'integer' } },
        any: { type: 'object', additionalProperties: true },
        object: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
      oneOf: [{ required: ['color'] }, { required: ['port'] }],
    },
  },
};

const gadget = gadgets('v1', SCHEMA, {
  subresources: gadgetSubresources('v1'),
  strategy: {
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    selectableFields: { 'metadata.name': () => '', 'spec.color': () => '' },
  },
});

/** What a registry is to the documents. */
class Served {
  generation = 1;
  #resources: readonly Resource[];
  constructor(...resources: readonly Resource[]) {
    this.#resources = resources;
  }
  all = () => this.#resources;
  change(...resources: readonly Resource[]): void {
    this.#resources = resources;
    this.generation++;
  }
}

const documentOf = (openApi: OpenApi, path: string) => {
  const bytes = openApi.document(path)?.body().bytes ?? assert.fail(`${path} is not there`);
  return JSON.parse(bytes.toString());
};

const GV = 'apis/generated.slipway.dev/v1';
const NAME = 'dev.slipway.generated.v1.Gadget';

describe('the OpenAPI v3 document of a custom resource', () => {
  const document = documentOf(new OpenApi(new Served(...builtins(), gadget)), GV);

  it('apiserver/D7: has PATCH with the kind, dryRun and fieldValidation for every resource', () => {
    const { patch } = document.paths['/apis/generated.slipway.dev/v1/namespaces/{namespace}/gadgets/{name}'];
    assert.deepEqual(patch['x-kubernetes-group-version-kind'], {
      group: 'generated.slipway.dev',
      version: 'v1',
      kind: 'Gadget',
    });
    const names = patch.parameters.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, ['dryRun', 'fieldManager', 'fieldValidation', 'force']);
  });

  it('apiserver/D7: names schemas by the reversed group, those of Kubernetes as upstream', () => {
    const names = Object.keys(document.components.schemas);
    for (const name of [NAME, `${NAME}List`, 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta']) {
      assert.ok(names.includes(name), name);
    }
    assert.ok(names.includes('io.k8s.api.autoscaling.v1.Scale'), 'because of the subresource');
    assert.ok(!names.includes('io.k8s.api.core.v1.Pod'), 'because nothing refers to it');
  });

  it('apiserver/D7: publishes the schema with descriptions and extensions', () => {
    const { properties, description, ...rest } = document.components.schemas[NAME];
    assert.equal(description, 'A gadget.');
    assert.deepEqual(rest, {
      type: 'object',
      'x-kubernetes-group-version-kind': [{ group: 'generated.slipway.dev', kind: 'Gadget', version: 'v1' }],
      'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }],
    });
    assert.deepEqual(properties.metadata.allOf, [
      { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
    ]);
    assert.equal(properties.apiVersion.type, 'string');
    const { spec } = properties;
    assert.deepEqual(spec.oneOf, [{ required: ['color'] }, { required: ['port'] }]);
    assert.deepEqual(spec.properties.port.anyOf, [{ type: 'integer' }, { type: 'string' }]);
    assert.deepEqual(spec.properties.tags, {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      items: { type: 'string' },
    });
    assert.deepEqual(spec.properties.object.required, ['kind', 'apiVersion']);
    assert.equal(spec.properties.color.description, 'The colour');
  });

  it('keeps all digits of a default', () => {
    const served = new OpenApi(new Served(gadget));
    assert.match(String(served.document(GV)?.body().bytes), /"default":9007199254740993/);
  });
});

describe('the OpenAPI v3 document of built-in resources', () => {
  const openApi = new OpenApi(new Served(...builtins()));

  it('apiserver/D7: lists its own group version for options', () => {
    const { schemas } = documentOf(openApi, 'apis/apps/v1').components;
    const options = schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'];
    assert.deepEqual(options['x-kubernetes-group-version-kind'], [
      { group: '', kind: 'DeleteOptions', version: 'v1' },
      { group: 'apps', kind: 'DeleteOptions', version: 'v1' },
    ]);
  });

  it('apiserver/D6: has a head that clients of any language understand', () => {
    const { openapi, info, components } = documentOf(openApi, 'api/v1');
    assert.deepEqual([openapi, info], ['3.0.0', { title: 'Kubernetes', version: '1.36' }]);
    assert.deepEqual(Object.keys(components), ['schemas', 'securitySchemes']);
  });

  it('puts what all operations of a path have in common beside them', () => {
    const { paths } = documentOf(openApi, 'api/v1');
    const names = (list: { name: string }[]) => list.map(({ name }) => name).join();
    const item = paths['/api/v1/namespaces/{namespace}/configmaps/{name}'];
    assert.equal(names(item.parameters), 'name,namespace,pretty');
    assert.equal(item.get.parameters, undefined);
    assert.equal(names(paths['/api/v1/namespaces/{namespace}/bindings'].parameters).startsWith('dryRun'), true);
  });
});

describe('the index of OpenAPI v3', () => {
  it('apiserver/D6: gives every document an address with a hash', () => {
    const { paths } = new OpenApi(new Served(...builtins(), gadget)).index() as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    assert.match(paths['api/v1']?.serverRelativeURL ?? '', /^\/openapi\/v3\/api\/v1\?hash=[0-9A-F]{128}$/);
    assert.ok(Object.hasOwn(paths, GV));
    assert.deepEqual(Object.keys(paths), Object.keys(paths).sort());
  });

  it('apiserver/D6: changes a hash only when the resources behind it change', () => {
    const served = new Served(...builtins(), gadget);
    const openApi = new OpenApi(served);
    const before = [openApi.document('apis/apps/v1'), openApi.document(GV)];
    const kept = before[0]?.body();
    served.change(...builtins(), gadgets('v1', { ...SCHEMA, description: 'Another.' }));
    const after = [openApi.document('apis/apps/v1'), openApi.document(GV)];
    assert.equal(after[0]?.hash, before[0]?.hash);
    assert.notEqual(after[1]?.hash, before[1]?.hash);
    assert.equal(after[0]?.body(), kept, 'the document is not made again');
    served.change(...builtins());
    assert.equal(openApi.document(GV), undefined);
  });
});

describe('a request for an OpenAPI v3 document', () => {
  const openApi = new OpenApi(new Served(gadget));
  const hash = openApi.document(GV)?.hash ?? '';
  const now = new Date('2026-11-15T20:50:00Z');
  const ask = (request: { path?: string; hash?: string; ifNoneMatch?: string }) =>
    openApiV3Answer(openApi, { path: GV, hash: undefined, ifNoneMatch: undefined, now, ...request });

  it('apiserver/D6: with the hash of the document may be kept for ever', () => {
    const { status, headers, bytes } = ask({ hash });
    assert.equal(status, 200);
    assert.equal(headers['cache-control'], 'public, immutable');
    assert.equal(headers['expires'], 'Mon, 15 Nov 2027 20:50:00 UTC');
    assert.equal(headers['etag'], `"${hash}"`);
    assert.equal(JSON.parse(String(bytes)).openapi, '3.0.0');
  });

  it('apiserver/D6: with an old hash is sent to the new one', () => {
    const { status, headers, bytes } = ask({ hash: 'OLD' });
    assert.deepEqual([status, bytes], [301, undefined]);
    assert.equal(headers['location'], `/openapi/v3/${GV}?hash=${hash}`);
  });

  for (const none of [undefined, '']) {
    it(`apiserver/D6: ${none === '' ? 'with an empty' : 'without'} hash is served and not kept`, () => {
      const { status, headers } = ask(none === undefined ? {} : { hash: none });
      assert.deepEqual([status, headers['cache-control']], [200, 'no-cache, private']);
    });
  }

  it('apiserver/D6: from a client that has it already gets 304', () => {
    assert.equal(ask({ ifNoneMatch: `"x", W/"${hash}"` }).status, 304);
    assert.equal(ask({ ifNoneMatch: '"x"' }).status, 200);
  });

  it('apiserver/D6: that does not exist gets 404', () => {
    const headers = { 'cache-control': 'no-cache, private' };
    assert.deepEqual(ask({ path: 'apis/nope.io/v1' }), { status: 404, headers });
  });

  it('apiserver/D4: is like one for a tagged body', () => {
    const body = { bytes: Buffer.from('{}'), etag: '"1"' };
    assert.equal(taggedAnswer(body, 'application/json', '"1"').status, 304);
    const { status, headers } = taggedAnswer(body, 'application/json', undefined);
    assert.deepEqual([status, headers['vary'], headers['etag']], [200, 'Accept', '"1"']);
  });
});

describe('the OpenAPI v2 document', () => {
  const openApi = new OpenApi(new Served(...builtins(), gadget));
  const document = JSON.parse(openApi.swagger().bytes.toString());

  it('apiserver/D8: has all definitions and paths in the older form', () => {
    assert.equal(document.swagger, '2.0');
    assert.deepEqual(document.definitions['io.k8s.api.core.v1.Pod'].properties.spec, {
      $ref: '#/definitions/io.k8s.api.core.v1.PodSpec',
    });
    const { patch } = document.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}'];
    assert.deepEqual(patch.parameters[0], {
      name: 'body',
      in: 'body',
      required: true,
      schema: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch' },
    });
    assert.deepEqual(patch.parameters[1], { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true });
    assert.deepEqual(patch.responses['200'].schema, { $ref: '#/definitions/io.k8s.api.apps.v1.Deployment' });
    assert.deepEqual(patch.responses['401'], { description: 'Unauthorized' });
    assert.ok(patch.consumes.includes('application/strategic-merge-patch+json'));
    assert.doesNotMatch(openApi.swagger().bytes.toString(), /components\/schemas/);
  });

  it('apiserver/D8: says less where the older form cannot say it', () => {
    const { spec } = document.definitions[NAME].properties;
    assert.equal(spec.oneOf, undefined);
    assert.deepEqual(spec.properties.color, { enum: ['red', 'blue'], description: 'The colour' });
    assert.deepEqual(spec.properties.port, { 'x-kubernetes-int-or-string': true });
    assert.deepEqual(spec.properties.object, {
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    });
    const quantity = document.definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'];
    assert.deepEqual(quantity, { type: 'string' });
  });

  it('is made once per form and change', () => {
    const served = new Served(gadget);
    const small = new OpenApi(served);
    const [json, protobuf] = [small.swagger(), small.swagger('protobuf')];
    assert.equal(small.swagger(), json);
    assert.equal(small.swagger('protobuf'), protobuf);
    assert.equal(protobuf.etag, json.etag);
    assert.notDeepEqual(protobuf.bytes, json.bytes);
    served.change(gadgets('v1', { ...SCHEMA, description: 'Another.' }));
    assert.notDeepEqual(small.swagger('protobuf').bytes, protobuf.bytes);
    assert.notEqual(small.swagger('protobuf').etag, protobuf.etag);
  });

  it('apiserver/D8: of a client that has any of it is not sent again', () => {
    const { etag } = openApi.swagger();
    for (const ifNoneMatch of [etag, `W/${etag}`, '*']) {
      assert.equal(openApiV2Answer(openApi, { accept: undefined, ifNoneMatch }).status, 304, ifNoneMatch);
    }
  });
});
