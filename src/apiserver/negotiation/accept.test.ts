import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { negotiate, OBJECT_TYPES, requireProduced, type Transform } from './accept.ts';

const OBJECT: readonly Transform[] = ['Table', 'PartialObjectMetadata'];
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const shown = (accept: string | undefined): string => {
  const { mediaType, transform, transformVersion, isPretty } = negotiate(accept, OBJECT);
  return [mediaType, transform ?? '-', transformVersion, ...(isPretty ? ['pretty'] : [])].join(' ');
};

describe('negotiate', () => {
  const rows: readonly [string | undefined, string][] = [
    [undefined, 'json - v1'],
    ['', 'json - v1'],
    ['*/*', 'json - v1'],
    ['application/json', 'json - v1'],
    ['Application/JSON, application/yaml', 'yaml - v1'],
    ['*/*, application/yaml', 'yaml - v1'],
    ['application/yaml;q=0.5, */*', 'json - v1'],
    ['application/constructor, */*', 'json - v1'],
    ['application/yaml', 'yaml - v1'],
    ['application/vnd.kubernetes.protobuf,application/json', 'json - v1'],
    ['application/yaml;q=0.5,application/json;q=0.9', 'json - v1'],
    ['application/yaml, application/json', 'yaml - v1'],
    ['application/json;q=x, application/yaml;q=0.1', 'yaml - v1'],
    ['text/html, */*;q=0.1', 'json - v1'],
    ['application/json;pretty=1', 'json - v1 pretty'],
    [TABLE, 'json Table v1'],
    ['application/json; as=Table; v=v1beta1; g=meta.k8s.io', 'json Table v1beta1'],
    ['application/yaml;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'yaml PartialObjectMetadata v1'],
    [`application/json;as=Fancy;v=v1;g=meta.k8s.io,${TABLE},application/json`, 'json Table v1'],
    ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', 'json - v1'],
    ['application/json;as=Table;v=v1;g=other.io,application/yaml', 'yaml - v1'],
    ['application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json', 'json - v1'],
    ['application/json;odd', 'json - v1'],
  ];
  for (const [accept, expected] of rows) {
    it(`apiserver/C1: answers ${accept ?? 'no header'} with ${expected}`, () => {
      assert.equal(shown(accept), expected);
      // The second time it comes from the cache.
      assert.equal(shown(accept), expected);
    });
  }

  for (const accept of ['text/html', 'application/json;as=Table;v=v2;g=meta.k8s.io', ',', ';q=1']) {
    it(`apiserver/C2: refuses ${JSON.stringify(accept)} with 406`, () => {
      const message =
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';
      assert.throws(() => negotiate(accept, OBJECT), { code: 406, reason: 'NotAcceptable', message });
    });
  }

  const produced: readonly [string | undefined, boolean][] = [
    [undefined, true],
    ['', true],
    ['*/*', true],
    ['text/html, */*;q=0.1', true],
    ['application/vnd.kubernetes.protobuf', true],
    ['text/html, application/yaml;as=Odd', true],
    ['application/*', false],
    ['APPLICATION/JSON', false],
    ['text/plain', false],
  ];
  for (const [accept, isProduced] of produced) {
    it(`apiserver/C2: ${isProduced ? 'finds' : 'does not find'} a route that produces ${accept ?? 'anything'}`, () => {
      const look = () => requireProduced(accept, OBJECT_TYPES);
      if (isProduced) assert.doesNotThrow(look);
      else {
        const message = `406: Not Acceptable\n\nAvailable representations: ${OBJECT_TYPES.join(', ')}`;
        assert.throws(look, { code: 406, reason: 'NotAcceptable', message, details: {} });
      }
    });
  }

  it('offers a transform only where it is allowed', () => {
    assert.throws(() => negotiate(TABLE, []), { code: 406 });
    assert.equal(negotiate(TABLE, ['Table']).transform, 'Table');
  });

  it('reads no more clauses than anybody needs', () => {
    assert.throws(() => negotiate(`${'text/x,'.repeat(64)}application/json`, []), { code: 406 });
    assert.equal(negotiate(`${'text/x,'.repeat(63)}application/json`, []).mediaType, 'json');
  });

  it('stays right when more headers come than it remembers', () => {
    for (let index = 0; index < 600; index++) {
      assert.equal(negotiate(`text/x-${index}, application/yaml`, []).mediaType, 'yaml');
    }
  });
});
