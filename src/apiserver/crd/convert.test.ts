import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloneJson, type Json, type JsonObject } from '../../object/json.ts';
import { StatusError } from '../status.ts';
import { type ConverterOptions, convertObjects } from './convert.ts';
import { type CustomResource, customResources } from './custom-resource.ts';

const text = { type: 'string' };
const schema = (properties: JsonObject): JsonObject => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
});
const CRD: JsonObject = {
  spec: {
    group: 'example.com',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: schema({ a: text, b: { type: 'string', default: 'x' } }),
      },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: schema({ a: text, c: { type: 'string', default: 'y' } }),
      },
    ],
  },
};
const versionOf = (name: string): CustomResource => {
  const found = customResources(CRD).find(({ version }) => version === name);
  assert.ok(found);
  return found;
};
const V2 = versionOf('v2');

const widget = (version: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: `example.com/${version}`,
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'n', uid: 'u', labels: { l: '1' } },
  spec: { a: '1' },
  ...more,
});

interface Review {
  readonly request: { readonly uid: string; readonly objects: JsonObject[] };
}

/** A webhook that answers with what `answer` makes of the request. */
const asking = (answer: (review: Review) => Json | Promise<Json>, reviewVersions = ['v1']): ConverterOptions => ({
  conversion: { strategy: 'Webhook', clientConfig: { url: 'https://w' }, reviewVersions },
  uuid: () => 'uid-1',
  callWebhook: (review) => Promise.resolve(answer(review as unknown as Review)),
});

const converted = (objects: Json, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  response: { uid: 'uid-1', result: { status: 'Success' }, convertedObjects: objects, ...more },
});

/** Only the version changes. */
const honest = ({ request }: Review): Json =>
  converted(request.objects.map((object) => ({ ...object, apiVersion: 'example.com/v2' })));

describe('conversion without a webhook', () => {
  it('apiserver/X33: changes the version, drops what it does not know and fills in its defaults', () => {
    const object = widget('v1', { spec: { a: '1', b: 'x' } });
    const before = cloneJson(object);
    const result = convertObjects([object], V2, { ...asking(honest), conversion: undefined });
    assert.deepEqual(result, [widget('v2', { spec: { a: '1', c: 'y' } })]);
    assert.deepEqual(object, before);
  });

  it('apiserver/X10: fills in defaults of objects in the right version', () => {
    assert.deepEqual(convertObjects([widget('v2')], V2, { ...asking(honest), conversion: undefined }), [
      widget('v2', { spec: { a: '1', c: 'y' } }),
    ]);
  });
});

describe('conversion by a webhook', () => {
  it('apiserver/X34: sends all objects of a list in one review', async () => {
    const reviews: Json[] = [];
    const options = asking((review) => {
      reviews.push(review as unknown as Json);
      return honest(review);
    });
    const result = await convertObjects(
      [widget('v1'), widget('v2', { spec: { a: 'kept' } }), widget('v1', { spec: { a: '3' } })],
      V2,
      options,
    );
    assert.deepEqual(
      result.map((object) => (object['spec'] as JsonObject)['a']),
      ['1', 'kept', '3'],
    );
    assert.equal(reviews.length, 1);
    assert.deepEqual(reviews[0], {
      kind: 'ConversionReview',
      apiVersion: 'apiextensions.k8s.io/v1',
      request: {
        uid: 'uid-1',
        desiredAPIVersion: 'example.com/v2',
        objects: [widget('v1'), widget('v1', { spec: { a: '3' } })],
      },
      response: { uid: '', convertedObjects: null, result: { metadata: {} } },
    });
  });

  it('apiserver/X35: does not ask about objects in the right version', () => {
    const options = asking(() => assert.fail('must not be called'));
    assert.ok(Array.isArray(convertObjects([widget('v2')], V2, options)));
  });

  it('apiserver/X34: takes labels and annotations, and restores other metadata', async () => {
    const options = asking(({ request }) =>
      converted(
        request.objects.map((object) => ({
          ...object,
          apiVersion: 'example.com/v2',
          metadata: { name: 'a', namespace: 'n', uid: 'u', generation: 99, annotations: { x: 'y' } },
        })),
      ),
    );
    const [result] = await convertObjects([widget('v1')], V2, options);
    assert.deepEqual(result?.['metadata'], { name: 'a', namespace: 'n', uid: 'u', annotations: { x: 'y' } });
  });

  it('speaks v1beta1 to old webhooks, without looking at uids', async () => {
    const options = asking(
      ({ request }) => ({
        response: {
          result: { status: 'Success' },
          convertedObjects: request.objects.map((object) => ({ ...object, apiVersion: 'example.com/v2' })),
        },
      }),
      ['v9', 'v1beta1'],
    );
    assert.equal((await convertObjects([widget('v1')], V2, options)).length, 1);
  });

  const META = { name: 'a', namespace: 'n', uid: 'u' };
  const P = 'conversion webhook for example.com/v1, Kind=Widget ';
  const failures: readonly (readonly [name: string, answer: () => Json | Promise<Json>, message: string])[] = [
    ['fails', () => Promise.reject(new Error('no route')), 'failed: no route'],
    [
      'answers with something else',
      () => ({ kind: 'Status' }),
      'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got , Kind=Status',
    ],
    [
      'answers without a response',
      () => ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }),
      'failed: no response provided',
    ],
    [
      'answers another review',
      () => converted([], { uid: 'x' }),
      'failed: expected response.uid="uid-1", got "x"',
    ],
    ['refuses', () => converted([], { result: { status: 'Failure', message: 'sorry' } }), 'failed: sorry'],
    [
      'refuses without a word',
      () => converted([], { result: {} }),
      "failed: response.result.status was '', not 'Success'",
    ],
    ['loses objects', () => converted([]), 'returned 0 objects, expected 1'],
    [
      'answers with no object',
      () => converted(['x']),
      "returned invalid object at index 0: Object 'Kind' is missing",
    ],
    [
      'answers in another version',
      () => converted([widget('v1')]),
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)',
    ],
    [
      'answers with another kind',
      () => converted([widget('v2', { kind: 'X' })]),
      'returned invalid object at index 0: invalid kind (expected Widget, received X)',
    ],
    [
      'renames',
      () => converted([widget('v2', { metadata: { ...META, name: 'b' } })]),
      'returned invalid object: must have the same name: a != b',
    ],
    [
      'changes the uid',
      () => converted([widget('v2', { metadata: { ...META, uid: 'v' } })]),
      'returned invalid object: must have the same UID: u != v',
    ],
    [
      'sends bad labels',
      () => converted([widget('v2', { metadata: { ...META, labels: 'x' } })]),
      'returned invalid metadata: invalid metadata.labels in converted object',
    ],
    [
      'sends labels that are no text',
      () => converted([widget('v2', { metadata: { ...META, labels: { a: 1 } } })]),
      'returned invalid metadata: metadata.labels[a] must be a string in converted object',
    ],
  ];
  for (const [name, answer, message] of failures) {
    it(`apiserver/X34: answers 500 when the webhook ${name}`, async () => {
      await assert.rejects(
        async () => convertObjects([widget('v1')], V2, asking(answer)),
        (error) => error instanceof StatusError && error.code === 500 && error.message === `${P}${message}`,
      );
    });
  }

  it('checks labels that changed', async () => {
    const options = asking(() => converted([widget('v2', { metadata: { ...META, labels: { 'a b': 'c' } } })]));
    await assert.rejects(
      async () => convertObjects([widget('v1')], V2, options),
      /returned invalid metadata: metadata\.labels: Invalid value: "a b"/,
    );
  });

  it('says which object of a list is wrong', async () => {
    const options = asking(() => converted([widget('v2'), widget('v2', { metadata: { ...META, name: 'z' } })]));
    await assert.rejects(
      async () => convertObjects([widget('v1'), widget('v1')], V2, options),
      /returned invalid converted object at index 1: must have the same name: a != z$/,
    );
  });

  it('needs a review version it knows', async () => {
    await assert.rejects(
      async () => convertObjects([widget('v1')], V2, asking(honest, ['v9'])),
      /no supported conversion review versions$/,
    );
  });
});
