import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../object/json.ts';
import { swaggerProtobuf } from './openapi-protobuf.ts';

const reference = { $ref: '#/definitions/X' };

const DOCUMENT: JsonObject = {
  swagger: '2.0',
  info: { title: 'Kubernetes', version: '1.36' },
  paths: {
    '/apis/x.io/v1/{name}': {
      get: {
        tags: ['x_v1'],
        description: 'reads',
        operationId: 'readX',
        consumes: ['*/*'],
        produces: ['application/json', 'application/yaml'],
        schemes: ['https'],
        deprecated: true,
        parameters: [
          { name: 'limit', in: 'query', type: 'integer', format: 'int64', uniqueItems: true },
          { name: 'body', in: 'body', required: true, schema: reference },
          { $ref: '#/parameters/p' },
        ],
        responses: { 200: { description: 'OK', schema: reference }, 401: { description: 'Unauthorized' } },
        'x-kubernetes-action': 'get',
        'x-kubernetes-group-version-kind': { group: '', kind: 'X', version: 'v1' },
      },
      patch: { responses: {} },
      parameters: [{ name: 'name', in: 'path', required: true, type: 'string', uniqueItems: true }],
    },
  },
  definitions: {
    X: {
      description: 'Ein é.',
      type: 'object',
      required: ['a', 'b'],
      properties: {
        'x-odd': { type: 'string', default: '', enum: ['', '1', 2] },
        n: {
          type: 'number',
          minimum: 0,
          maximum: -1.5,
          exclusiveMaximum: true,
          exclusiveMinimum: false,
          multipleOf: 9007199254740993n,
        },
        s: { maxLength: 300, minLength: 0, pattern: '^a$', format: 'date', title: 't' },
        list: {
          type: 'array',
          items: { type: 'integer' },
          maxItems: 9007199254740993n,
          minItems: 1,
          uniqueItems: true,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
        },
        map: { additionalProperties: reference, maxProperties: 2, minProperties: 1 },
        open: { additionalProperties: true },
        shut: { additionalProperties: false },
        docs: {
          externalDocs: { description: 'd', url: 'u' },
          example: { a: [1] },
          readOnly: true,
          allOf: [{ type: 'object' }, {}],
        },
        empty: { 'x-kubernetes-preserve-unknown-fields': true, properties: {} },
      },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'X', version: 'v1' }],
      'x-kubernetes-validations': [{ rule: 'self.a\n|| self.b' }],
    },
  },
  parameters: { p: { name: 'dryRun', in: 'query', type: 'string' } },
  securityDefinitions: {
    BearerToken: {
      description: 'Bearer Token authentication',
      type: 'apiKey',
      name: 'authorization',
      in: 'header',
    },
  },
  security: [{ BearerToken: [] }, { Other: ['a', 'b'] }],
};

/** What gnostic 0.7.0 makes of the JSON of the document. */
const MESSAGE = [
  'CgMyLjASEgoKS3ViZXJuZXRlcxIEMS4zNkKRAxKOAwoUL2FwaXMveC5pby92MS97bmFtZX0S9QISzQIKBHhfdjEaBXJlYWRzKgVy',
  'ZWFkWDIQYXBwbGljYXRpb24vanNvbjIQYXBwbGljYXRpb24veWFtbDoDKi8qQicKJRIjGiESBXF1ZXJ5IgVsaW1pdDIHaW50ZWdl',
  'cjoFaW50NjSgAQFCJQojCiESBGJvZHkaBGJvZHkgASoRCg8jL2RlZmluaXRpb25zL1hCEhIQCg4jL3BhcmFtZXRlcnMvcEo9CiIK',
  'AzIwMBIbChkKAk9LEhMKEQoPIy9kZWZpbml0aW9ucy9YChcKAzQwMRIQCg4KDFVuYXV0aG9yaXplZFIFaHR0cHNYAWodChN4LWt1',
  'YmVybmV0ZXMtYWN0aW9uEgYSBGdldApqQwofeC1rdWJlcm5ldGVzLWdyb3VwLXZlcnNpb24ta2luZBIgEh5ncm91cDogIiIKa2lu',
  'ZDogWAp2ZXJzaW9uOiB2MQpCAkoASh8KHRIbIhkIARIEcGF0aCIEbmFtZSoGc3RyaW5nmAEBSuQECuEECgFYEtsEIgdFaW4gw6ku',
  'mgEBYZoBAWKyAQgKBm9iamVjdMoBqgMKMwoFeC1vZGQSKioFEgMiIgqiAQUSAyIiCqIBBhIEIjEiCqIBBBICMgqyAQgKBnN0cmlu',
  'ZwokCgFuEh8xAAAAAAAAQEM5AAAAAAAA+L9AAbIBCAoGbnVtYmVyChYKAXMSERIEZGF0ZRoBdFisAmoDXmEkCnsKBGxpc3QSc3CB',
  'gICAgICAEHgBgAEBsgEHCgVhcnJheboBDgoMsgEJCgdpbnRlZ2Vy+gEgChZ4LWt1YmVybmV0ZXMtbGlzdC10eXBlEgYSBG1hcAr6',
  'ASQKGngta3ViZXJuZXRlcy1saXN0LW1hcC1rZXlzEgYSBC0gYQoKIwoDbWFwEhyIAQKQAQGqARMKEQoPIy9kZWZpbml0aW9ucy9Y',
  'Cg0KBG9wZW4SBaoBAhABCg0KBHNodXQSBaoBAhAACjUKBGRvY3MSLcIBC7IBCAoGb2JqZWN0wgEA2AEB6gEGCgFkEgF18gENEgth',
  'OgogICAgLSAxCgo+CgVlbXB0eRI1ygEA+gEvCiR4LWt1YmVybmV0ZXMtcHJlc2VydmUtdW5rbm93bi1maWVsZHMSBxIFdHJ1ZQr6',
  'AUkKH3gta3ViZXJuZXRlcy1ncm91cC12ZXJzaW9uLWtpbmQSJhIkLSBncm91cDogIiIKICBraW5kOiBYCiAgdmVyc2lvbjogdjEK',
  '+gFCChh4LWt1YmVybmV0ZXMtdmFsaWRhdGlvbnMSJhIkLSBydWxlOiB8LQogICAgc2VsZi5hCiAgICB8fCBzZWxmLmIKUiIKIAoB',
  'cBIbEhkaFxIFcXVlcnkiBmRyeVJ1bjIGc3RyaW5nYhEKDwoLQmVhcmVyVG9rZW4SAGIRCg8KBU90aGVyEgYKAWEKAWJqTwpNCgtC',
  'ZWFyZXJUb2tlbhI+EjwKBmFwaUtleRINYXV0aG9yaXphdGlvbhoGaGVhZGVyIhtCZWFyZXIgVG9rZW4gYXV0aGVudGljYXRpb24=',
].join('');

describe('a document of OpenAPI v2 in protobuf', () => {
  it('apiserver/D8: is byte for byte what upstream makes of the same JSON', () => {
    assert.equal(swaggerProtobuf(DOCUMENT).toString('base64'), MESSAGE);
  });

  it('leaves out what the message has no place for', () => {
    const odd: JsonObject = { swagger: '2.0', unknown: 1, info: [], definitions: 3, security: 'no', paths: null };
    assert.equal(swaggerProtobuf(odd).toString('hex'), '0a03322e3012004200' + '4a00');
    const wrong = { X: { type: 'string', maxLength: 'long', maximum: 'high', readOnly: 'yes', title: 7 } };
    const right = { X: { type: 'string' } };
    assert.deepEqual(swaggerProtobuf({ definitions: wrong }), swaggerProtobuf({ definitions: right }));
  });
});
