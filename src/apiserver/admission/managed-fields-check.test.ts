import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../../object/json.ts';
import { managedFieldsProblem } from './managed-fields-check.ts';

const good = { manager: 'm', operation: 'Update', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } };

describe('managedFields after admission', () => {
  for (const [what, fields, problem] of [
    ['absent', undefined, undefined],
    ['empty', [], undefined],
    ['good', [good, { ...good, operation: 'Apply' }], undefined],
    ['without operation', [{}], 'operation must be `Apply` or `Update`'],
    ['without type', [{ operation: 'Apply' }], 'missing fieldsType in managed fields entry 0'],
    [
      'of another type',
      [good, { ...good, fieldsType: 'V2' }],
      'invalid fieldsType "V2" in managed fields entry 1',
    ],
    ['without a set', [{ ...good, fieldsV1: 'x' }], 'fieldsV1 is not an object'],
  ] satisfies [string, Json | undefined, string | undefined][]) {
    it(`apiserver/V4: that are ${what} are ${problem === undefined ? 'kept' : 'refused'}`, () => {
      assert.equal(managedFieldsProblem(fields), problem);
    });
  }
});
