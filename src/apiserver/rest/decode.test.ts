import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
  assertStatus,
  configMap,
  customDefinition,
  type Sent,
  type ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';
import { textOf } from './object-meta.ts';

const UNREADABLE = 'the object provided is unrecognized (must be of type ConfigMap): ';

describe('the body of a write', () => {
  let api: ServedApi;
  let maps: string;
  let decoys: string;
  before(async () => {
    api = await sharedApi();
    const namespace = await api.namespace();
    maps = `${namespace}/configmaps`;
    decoys = `/apis/t.io/v1/${namespace.slice('/api/v1/'.length)}/decoys`;
    await api.define(customDefinition('decoys', 'Decoy'));
  });
  const post = (sent: Sent) => api.send('POST', `${maps}?dryRun=All`, sent);
  const custom = (sent: Sent) => api.send('POST', `${decoys}?dryRun=All`, sent);

  it('apiserver/C3: is JSON without a type, or YAML', async () => {
    const bare = await api.send('POST', `${maps}?dryRun=All`, { body: configMap('a'), type: '' });
    assert.equal(bare.status, 201, bare.text);
    const yaml = 'metadata:\n  name: a\ndata:\n  k: v\n';
    const read = await post({ body: yaml, type: 'application/yaml; charset=utf-8' });
    assert.partialDeepStrictEqual(read.body, { metadata: { name: 'a' }, data: { k: 'v' } });
  });

  it('apiserver/C3, E28: is refused with 415 in any other type', async () => {
    const json = 'application/json, application/yaml';
    const message = `the body of the request was in an unknown format - accepted media types include: ${json}`;
    const plain = await post({ body: '{}', type: 'text/plain' });
    assertStatus(plain, 415, 'UnsupportedMediaType', `${message}, application/vnd.kubernetes.protobuf`);
    const protobuf = await custom({ body: 'k8s\0', type: 'application/vnd.kubernetes.protobuf' });
    assertStatus(protobuf, 415, 'UnsupportedMediaType', new RegExp(`^${message}`));
  });

  const unreadable: readonly [string, string, string | RegExp][] = [
    ['broken JSON', '{bad', /invalid character 'b' looking for beginning of object key string/],
    ['nothing', '', /unexpected end of JSON input/],
    ['a list', '[]', /cannot unmarshal array into Go value/],
    ['a number', '1', /cannot unmarshal number into Go value/],
    ['a truth', 'true', /cannot unmarshal bool into Go value/],
  ];
  for (const [what, body, text] of unreadable) {
    it(`apiserver/E11: refuses ${what}`, async () => {
      const answer = await post({ body });
      assertStatus(answer, 400, 'BadRequest', text);
      assert.ok(textOf(answer.body['message']).startsWith(UNREADABLE), answer.text);
    });
  }

  it('apiserver/E11: refuses broken protobuf', async () => {
    const answer = await post({ body: 'no protobuf', type: 'application/vnd.kubernetes.protobuf' });
    assertStatus(answer, 400, 'BadRequest', /./);
  });

  it('apiserver/E11: refuses a value of the wrong type in the words of Go', async () => {
    const answer = await post({ body: { metadata: { name: 'a' }, data: { k: 1 } } });
    assertStatus(
      answer,
      400,
      'BadRequest',
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
  });

  it('refuses nesting without end', async () => {
    const answer = await post({ body: `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}` });
    assert.equal(answer.status, 400);
  });

  it('apiserver/E11, E14: refuses another kind or version', async () => {
    assertStatus(
      await post({ body: { kind: 'Secret', apiVersion: 'v1' } }),
      400,
      'BadRequest',
      /unknown conversion$/,
    );
    assertStatus(await post({ body: { apiVersion: 'v2' } }), 400, 'BadRequest', /v2/);
    const version = 'the API version in the data (t.io/v2) does not match the expected API version (t.io/v1)';
    assertStatus(await custom({ body: { kind: 'Decoy', apiVersion: 't.io/v2' } }), 400, 'BadRequest', version);
  });

  it('apiserver/E12: refuses another namespace than that of the URL', async () => {
    const message = 'the namespace of the provided object does not match the namespace sent on the request';
    assertStatus(await post({ body: { metadata: { name: 'a', namespace: 'b' } } }), 400, 'BadRequest', message);
  });

  it('apiserver/E13: refuses another name than that of the URL', async () => {
    await api.create(maps, configMap('named'));
    const answer = await api.send('PUT', `${maps}/named`, { body: configMap('other') });
    const message = 'the name of the object (other) does not match the name on the URL (named)';
    assertStatus(answer, 400, 'BadRequest', message);
  });

  it('apiserver/X14: needs kind and apiVersion of a custom resource', async () => {
    assertStatus(
      await custom({ body: { metadata: { name: 'a' } } }),
      400,
      'BadRequest',
      /Object 'Kind' is missing in/,
    );
    assertStatus(await custom({ body: { kind: 'Decoy' } }), 400, 'BadRequest', /./);
    const other = await custom({ body: { kind: 'Gadget', apiVersion: 't.io/v1', metadata: { name: 'a' } } });
    assertStatus(other, 422, 'Invalid', /is invalid: kind: Invalid value: "Gadget": must be Decoy$/);
  });

  it('apiserver/E11: names a custom resource whose metadata cannot be read', async () => {
    const answer = await custom({ body: { kind: 'Decoy', apiVersion: 't.io/v1', metadata: { labels: 'x' } } });
    assertStatus(answer, 400, 'BadRequest', /cannot be handled as a Decoy: /);
  });
});
