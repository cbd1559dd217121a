import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import type { JsonObject } from '../json.ts';
import { ConversionProblem, TypedProblem } from './typed-problem.ts';
import { VersionConverter, type Versions } from './versions.ts';

const SCHEMA: Schema = { type: 'object', properties: { apiVersion: { type: 'string' } } };

/** The way from the first version is the list of those it went through. */
function converter(convert: Versions['convert']): VersionConverter {
  return new VersionConverter('v2', SCHEMA, {
    schemaOf: (apiVersion) => (apiVersion === 'gone' ? undefined : SCHEMA),
    convert,
  });
}

const relabel = (object: JsonObject, apiVersion: string): JsonObject => ({
  apiVersion: `${JSON.stringify(object['apiVersion']).slice(1, -1)} ${apiVersion}`,
});

describe('VersionConverter', () => {
  for (const { to, way } of [
    { to: 'v2', way: 'v2' },
    { to: 'v1', way: 'v2 v1' },
    { to: 'gone', way: undefined },
  ]) {
    it(`converts to ${to} from the version of the request`, () => {
      const versions = converter(relabel);
      assert.equal(versions.convert(versions.home({ apiVersion: 'v2' }), to)?.object['apiVersion'], way);
    });
  }

  it('goes through the version of the request between two others', () => {
    const versions = converter(relabel);
    const home = versions.home({ apiVersion: 'v1' });
    const converted = versions.convert({ ...home, apiVersion: 'v1' }, 'v3');
    assert.deepEqual([converted?.apiVersion, converted?.object['apiVersion']], ['v3', 'v1 v2 v3']);
  });

  for (const Problem of [TypedProblem, ConversionProblem]) {
    it(`says what was being done when there is a ${Problem.name}`, () => {
      const versions = converter(() => {
        throw new Problem('no way');
      });
      const convert = (doing?: string) => () => versions.convert(versions.home({}), 'v1', doing);
      assert.throws(convert('looking'), new Problem('looking: no way'));
      assert.throws(convert(), new Problem('no way'));
    });
  }

  it('adds nothing to other errors', () => {
    const versions = converter(() => {
      throw new RangeError('broken');
    });
    assert.throws(() => versions.convert(versions.home({}), 'v1', 'looking'), new RangeError('broken'));
  });
});
