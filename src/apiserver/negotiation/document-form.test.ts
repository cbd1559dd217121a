import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DocumentForm, documentForm } from './document-form.ts';

const OLD = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
const NEW = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** What kube-apiserver 1.36 answers. */
const ROWS: readonly [accept: string | undefined, form: DocumentForm | undefined][] = [
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['*', 'json'],
  ['application/*', 'json'],
  ['*/json', 'json'],
  ['application/json', 'json'],
  ['application / json', 'json'],
  ['application/json;q=0', 'json'],
  ['application/json;q=x', 'json'],
  ['application/json;as=Table;v=v1;g=meta.k8s.io', 'json'],
  [OLD, 'protobuf'],
  [NEW, 'protobuf'],
  [`${OLD};as=Foo`, 'protobuf'],
  [`${OLD};q=0`, 'protobuf'],
  [`${NEW}, application/json`, 'protobuf'],
  [`application/json, ${NEW}`, 'json'],
  [`${NEW};q=0.5, application/json`, 'json'],
  [`application/json;q=0.5, ${OLD};q=0.9`, 'protobuf'],
  [`application/json ; q=0.2 , ${OLD} ; q=0.3`, 'protobuf'],
  [`application/json;q=-1, ${OLD};q=0`, 'protobuf'],
  [`application/*, ${OLD}`, 'protobuf'],
  [`*/*, ${OLD};q=0.1`, 'protobuf'],
  ['text/html, */*;q=0.1', 'json'],
  ['application/yaml', undefined],
  ['application/vnd.kubernetes.protobuf', undefined],
  ['APPLICATION/JSON', undefined],
  ['application/com.github.proto-openapi.spec.v2.V1.0+protobuf', undefined],
  ['text/*', undefined],
  ['*/html', undefined],
  ['application', undefined],
  ['application/json/x', undefined],
  [',', undefined],
  [';q=1', undefined],
];

describe('documentForm', () => {
  for (const [accept, form] of ROWS) {
    it(`apiserver/D8: answers ${JSON.stringify(accept) ?? 'no header'} with ${form ?? 'nothing'}`, () => {
      assert.equal(documentForm(accept), form);
    });
  }

  it('reads no more clauses than anybody needs', () => {
    assert.equal(documentForm(`${'text/x,'.repeat(64)}application/json`), undefined);
    assert.equal(documentForm(`${'text/x,'.repeat(63)}application/json`), 'json');
  });
});
