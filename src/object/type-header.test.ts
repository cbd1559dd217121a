import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from './json.ts';
import { typeHeaderProblem } from './type-header.ts';

describe('apiVersion and kind of a body', () => {
  const readable: readonly Json[] = [{}, { kind: 'A', apiVersion: 'v1' }, { kind: null }, { spec: { kind: 5 } }];
  for (const body of readable) {
    it(`can be read in ${JSON.stringify(body)}`, () => assert.equal(typeHeaderProblem(body), undefined));
  }

  const refused: readonly [Json, string][] = [
    [[], 'cannot unmarshal array into Go value of type struct { APIVersion'],
    [null, 'cannot unmarshal null into Go value of type struct { APIVersion'],
    [{ kind: 5 }, 'cannot unmarshal number into Go struct field .kind of type string'],
    [{ apiVersion: {}, kind: 5 }, 'cannot unmarshal object into Go struct field .apiVersion of type string'],
    [{ kind: ['x'], apiVersion: true }, 'cannot unmarshal array into Go struct field .kind of type string'],
  ];
  for (const [body, why] of refused) {
    it(`apiserver/E11: ${JSON.stringify(body)}: ${why}`, () => {
      const start = `couldn't get version/kind; json parse error: json: ${why}`;
      assert.equal(typeHeaderProblem(body)?.slice(0, start.length), start);
    });
  }
});
