import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json, JsonObject } from '../../object/json.ts';
import { CallProblem, denial, type Expected, verdictOf } from './admission-response.ts';

const base64 = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64');
const EXPECTED: Expected = { uid: 'u', version: 'v1', isMutating: true };
const review = (response: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response: { uid: 'u', allowed: true, ...response },
  ...more,
});

describe('the answer of a webhook', () => {
  const invalid = 'received invalid webhook response: ';
  const failed = 'failed to call webhook: ';
  for (const [what, answer, message, isMutating] of [
    [
      'nothing',
      { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' },
      `${invalid}webhook response was absent`,
      true,
    ],
    ['another uid', review({ uid: 'x' }), `${invalid}expected response.uid="u", got "x"`, true],
    [
      'no kind',
      review({}, { kind: '' }),
      `${invalid}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=`,
      true,
    ],
    [
      'another kind',
      review({}, { kind: 'Pod', apiVersion: 'v1' }),
      `${failed}no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"`,
      true,
    ],
    [
      'another version',
      review({}, { apiVersion: 'admission.k8s.io/v1beta1' }),
      `${failed}converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion`,
      true,
    ],
    [
      'a text for a response',
      { response: 'x' },
      `${failed}json: cannot unmarshal string into Go struct field AdmissionReview.response of type v1.AdmissionResponse`,
      true,
    ],
    [
      'a text for allowed',
      review({ allowed: 'yes' }),
      `${failed}json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool`,
      true,
    ],
    ['no base64', review({ patch: '%%' }), `${failed}illegal base64 data at input byte 0`, true],
    [
      'a patch without type',
      review({ patch: base64([{}]) }),
      `${invalid}webhook returned response.patch but not response.patchType`,
      true,
    ],
    [
      'a type without patch',
      review({ patchType: 'JSONPatch' }),
      `${invalid}webhook returned response.patchType but not response.patch`,
      true,
    ],
    [
      'an empty type',
      review({ patchType: '', patch: base64([{}]) }),
      `${invalid}webhook returned invalid response.patchType of ""`,
      true,
    ],
    [
      'an unknown type',
      review({ patchType: 'Merge', patch: base64([{}]) }),
      'unsupported patch type "Merge"',
      true,
    ],
    [
      'an object for a patch',
      review({ patchType: 'JSONPatch', patch: base64({}) }),
      'received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
      true,
    ],
    [
      'half a patch',
      review({ patchType: 'JSONPatch', patch: Buffer.from('[').toString('base64') }),
      'received undecodable patch in webhook response: unexpected end of JSON input',
      true,
    ],
    [
      'a patch of a judge',
      review({ patch: base64([]) }),
      `${invalid}validating webhook may not return response.patch`,
      false,
    ],
    [
      'a patch type of a judge',
      review({ patchType: 'JSONPatch' }),
      `${invalid}validating webhook may not return response.patchType`,
      false,
    ],
  ] as const) {
    it(`apiserver/V4: with ${what} is none`, () => {
      assert.throws(
        () => verdictOf(answer, { ...EXPECTED, isMutating }),
        (error) => {
          assert.ok(error instanceof CallProblem);
          assert.equal(error.message, message);
          return true;
        },
      );
    });
  }

  it('apiserver/V4: of the old version is taken as it is', () => {
    const answer = { response: { allowed: true, patch: base64([{ op: 'add' }]) } };
    const verdict = verdictOf(answer, { ...EXPECTED, version: 'v1beta1' });
    assert.deepEqual(verdict, { isAllowed: true, patch: [{ op: 'add' }], warnings: [], status: {} });
  });

  for (const [status, code, text] of [
    [{}, 400, ' without explanation'],
    [{ message: 'm', reason: 'R' }, 400, ': m'],
    [{ reason: 'R', code: 403 }, 403, ': R'],
    [{ code: 200, message: 'low' }, 400, ': low'],
    [{ code: 5000, message: 'high' }, 400, ': high'],
  ] as const) {
    it(`apiserver/V4: that denies with ${JSON.stringify(status)} becomes ${code}`, () => {
      const error = denial('w', status);
      assert.equal(error.code, code);
      assert.equal(error.message, `admission webhook "w" denied the request${text}`);
    });
  }
});
