import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldErrorText } from './field-error.ts';
import type { Json, JsonObject } from './json.ts';
import { parseJson } from './json-text.ts';
import {
  builtInFinalizerErrors,
  finalizerWarnings,
  uniqueOwnerReferences,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './metadata.ts';
import { nameRules } from './names.ts';

const rules = { nameRule: nameRules.dnsSubdomain, isNamespaced: true };
const created = (meta: JsonObject) =>
  validateObjectMeta({ name: 'a', namespace: 'ns', ...meta }, rules).map(fieldErrorText);
const owner = (fields: JsonObject = {}): JsonObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  name: 'd',
  uid: 'u1',
  ...fields,
});

describe('validateObjectMeta', () => {
  it('takes metadata without fault', () => {
    assert.deepEqual(
      created({
        generateName: 'a-',
        generation: 3,
        labels: { 'example.com/a': 'b', c: '' },
        annotations: { 'Example.COM/Any': 'any text' },
        ownerReferences: [owner({ controller: true }), owner({ uid: 'u2', controller: false })],
        finalizers: ['example.com/done', 'orphan'],
      }),
      [],
    );
  });

  it('apiserver/M3: wants a name that follows the rule of the kind', () => {
    assert.deepEqual(created({ name: '' }), ['metadata.name: Required value: name or generateName is required']);
    const long = created({ name: 'x'.repeat(254), generateName: 'A' });
    assert.match(long[0] ?? '', /^metadata\.generateName: Invalid value: "A": a lowercase RFC 1123 subdomain/);
    assert.match(long[1] ?? '', /^metadata\.name: Invalid value: "x+": must be no more than 253 characters$/);
  });

  it('apiserver/M3: wants a namespace where the kind has one, and none where not', () => {
    assert.deepEqual(created({ namespace: '' }), ['metadata.namespace: Required value']);
    assert.match(
      created({ namespace: 'a.b' }).join(),
      /^metadata\.namespace: Invalid value: "a\.b": must not contain dots$/,
    );
    const cluster = validateObjectMeta(
      { name: 'a', namespace: 'x' },
      { ...rules, isNamespaced: false, path: 'm' },
    );
    assert.deepEqual(cluster.map(fieldErrorText), ['m.namespace: Forbidden: not allowed on this type']);
  });

  it('refuses a negative generation', () => {
    assert.deepEqual(created({ generation: -1 }), [
      'metadata.generation: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });

  it('apiserver/M4: checks label keys and values, and annotation keys in lower case', () => {
    assert.match(
      created({ labels: { a: 'x'.repeat(64) } }).join(),
      /^metadata\.labels: Invalid value: "x+": must be no more than 63 bytes$/,
    );
    assert.match(
      created({ labels: { '-': 'b' } }).join(),
      /^metadata\.labels: Invalid value: "-": name part must consist/,
    );
    assert.match(
      created({ annotations: { 'A/B/C': '' } }).join(),
      /^metadata\.annotations: Invalid value: "A\/B\/C": a valid label key/,
    );
    assert.deepEqual(created({ annotations: { 'EXAMPLE.com/x': '' } }), []);
  });

  it('apiserver/M4: limits all annotations together to 262,144 bytes', () => {
    assert.deepEqual(created({ annotations: { a: 'x'.repeat(262_143) } }), []);
    assert.deepEqual(created({ annotations: { a: 'é'.repeat(131_072) } }), [
      'metadata.annotations: Too long: may not be more than 262144 bytes',
    ]);
  });

  it('apiserver/M5: wants owner references complete', () => {
    assert.deepEqual(created({ ownerReferences: [{}] }), [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ]);
    assert.match(
      created({ ownerReferences: [owner({ apiVersion: 'a/b/c' })] }).join(),
      /version must not be empty$/,
    );
  });

  it('apiserver/M5: takes one controller only, and no Event as owner', () => {
    const two = [owner({ controller: true }), owner({ controller: true, name: 'e', blockOwnerDeletion: null })];
    assert.deepEqual(created({ ownerReferences: two }), [
      'metadata.ownerReferences: Invalid value: [{"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"u1","controller":true},{"apiVersion":"apps/v1","kind":"Deployment","name":"e","uid":"u1","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Deployment/d and Deployment/e',
    ]);
    assert.deepEqual(
      created({ ownerReferences: [owner({ apiVersion: 'v1', kind: 'Event', blockOwnerDeletion: true })] }),
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"d","uid":"u1","blockOwnerDeletion":true}: /v1, Kind=Event is disallowed from being an owner',
      ],
    );
  });

  it('apiserver/M6: wants qualified finalizers, and not both ways to treat dependents', () => {
    assert.match(
      created({ finalizers: ['a b'] }).join(),
      /^metadata\.finalizers: Invalid value: "a b": name part must consist/,
    );
    assert.deepEqual(created({ finalizers: ['orphan', 'foregroundDeletion'] }), [
      'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });

  it('apiserver/M6: wants a domain in the finalizers of built-in kinds', () => {
    const errors = builtInFinalizerErrors({ finalizers: ['kubernetes', 'x', 'a.io/b'] });
    assert.deepEqual(errors.map(fieldErrorText), [
      'metadata.finalizers[1]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    ]);
  });

  it('reliability/T7.2: judges hostile keys as keys', () => {
    const meta = parseJson('{"labels":{"__proto__":"x","constructor":"y"},"annotations":{"toString":"z"}}').value;
    const errors = created(meta as JsonObject);
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? '', /^metadata\.labels: Invalid value: "__proto__": name part must consist/);
  });
});

describe('validateObjectMetaUpdate', () => {
  const old: JsonObject = {
    name: 'a',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '5',
    generation: 2,
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  const changed = (change: JsonObject, before: JsonObject = old) =>
    validateObjectMetaUpdate({ ...before, ...change }, before).map(fieldErrorText);

  it('takes metadata that stays as it was', () => assert.deepEqual(changed({}), []));

  const cases: { change: JsonObject; want: string }[] = [
    { change: { name: 'b' }, want: 'metadata.name: Invalid value: "b": field is immutable' },
    { change: { namespace: 'b' }, want: 'metadata.namespace: Invalid value: "b": field is immutable' },
    { change: { uid: 'v' }, want: 'metadata.uid: Invalid value: "v": field is immutable' },
    {
      change: { creationTimestamp: null },
      want: 'metadata.creationTimestamp: Invalid value: null: field is immutable',
    },
    {
      change: { deletionTimestamp: '2026-01-02T00:00:00Z' },
      want: 'metadata.deletionTimestamp: Invalid value: "2026-01-02T00:00:00Z": field is immutable',
    },
    {
      change: { deletionGracePeriodSeconds: 5 },
      want: 'metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable',
    },
    {
      change: { resourceVersion: '' },
      want: 'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    },
    { change: { generation: 1 }, want: 'metadata.generation: Invalid value: 1: must not be decremented' },
    {
      change: { ownerReferences: [owner({ uid: '' })] },
      want: 'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    },
  ];
  for (const { change, want } of cases) {
    it(`apiserver/M7: answers ${JSON.stringify(change)} with "${want}"`, () =>
      assert.deepEqual(changed(change), [want]));
  }

  it('apiserver/M6: takes no new finalizers while the object is being deleted', () => {
    const deleted = { ...old, deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: ['a.io/x', 'a.io/y'] };
    assert.deepEqual(changed({ finalizers: ['a.io/y'] }, deleted), []);
    assert.deepEqual(changed({ finalizers: ['a.io/z', 'a.io/y', 'a.io/b'] }, deleted), [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.io/b", "a.io/z"}',
    ]);
    assert.deepEqual(changed({ finalizers: ['a.io/z'] }), []);
  });
});

describe('warnings', () => {
  it('apiserver/M6: asks for finalizers with a domain', () => {
    assert.deepEqual(finalizerWarnings(['plain', 'example.com', 'example.com/x', 'orphan']), [
      'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    ]);
  });

  it('apiserver/M5: removes repeated owner references and says so', () => {
    const other = owner({ name: 'other' });
    const { owners, warning } = uniqueOwnerReferences([owner(), other, owner(), owner({ controller: true })]);
    assert.deepEqual(owners, [owner(), other, owner({ controller: true })]);
    assert.equal(
      warning,
      '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1',
    );
    assert.match(
      uniqueOwnerReferences([owner(), owner()], true).warning ?? '',
      /^\.metadata\.ownerReferences contains duplicate entries after mutating admission happens;/,
    );
    const unique: Json[] = [owner()];
    assert.deepEqual(uniqueOwnerReferences(unique), { owners: unique });
  });

  it('reliability/P9: finds repetitions among very many owners', () => {
    // Comparing each with all others would take minutes.
    const many: Json[] = Array.from({ length: 100_000 }, (_, at) => owner({ uid: `u${at}` }));
    const { owners, warning } = uniqueOwnerReferences([...many, owner({ uid: 'u99999' })]);
    assert.equal(owners.length, 100_000);
    assert.match(warning ?? '', /observed: u99999$/);
  });
});
