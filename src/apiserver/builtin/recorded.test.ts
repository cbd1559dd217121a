import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CONVERTED,
  type ConvertedRow,
  CREATED,
  type CreatedRow,
  causeLines,
  convertOurs,
  createOurs,
  masked,
  UPDATED,
  type UpdatedRow,
  ungenerated,
  updateOurs,
  withReadAnnotations,
} from '../../../test/conformance/builtin-cases.ts';
import { recorded } from '../../../test/conformance/recording.ts';

describe('strategies, against answers recorded from the real server', () => {
  for (const { name, sent, stored, causes } of recorded<CreatedRow>(CREATED)) {
    it(`apiserver/W10: ${stored === undefined ? 'refuses' : 'stores'} as upstream does: ${name}`, () => {
      const ours = createOurs(sent);
      assert.deepEqual(causeLines(ours.causes), causes);
      if (stored !== undefined) assert.deepEqual(masked(ours.object), stored);
    });
  }

  for (const { name, stored, sent, subresource, isShort, causes, after } of recorded<UpdatedRow>(UPDATED)) {
    it(`apiserver/W10: ${after === undefined ? 'refuses' : 'takes'} a change as upstream does: ${name}`, () => {
      const ours = updateOurs(stored, sent, subresource);
      assert.deepEqual(causeLines(ours.causes, isShort), causes);
      if (after !== undefined) assert.deepEqual(ungenerated(ours.object), after);
    });
  }

  for (const { name, as, from, to } of recorded<ConvertedRow>(CONVERTED)) {
    it(`apiserver/G12: shows an object in ${as} as upstream does: ${name}`, () => {
      assert.deepEqual(withReadAnnotations(convertOurs(from, as)), withReadAnnotations(to));
    });
  }
});
