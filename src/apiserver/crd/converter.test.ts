import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { customDefinition } from '../../../test/support/served-api.ts';
import { gadgets } from '../../../test/support/served-resources.ts';
import type { JsonObject } from '../../object/json.ts';
import { createConverter } from './converter.ts';
import { customResources } from './custom-resource.ts';

describe('createConverter', () => {
  const asked: string[] = [];
  const converter = createConverter({
    conversionOf: (name) => {
      asked.push(name);
      return undefined;
    },
    callWebhook: () => Promise.reject(new Error('not asked')),
    uuid: () => 'uuid',
    builtin: (object, to) => ({ ...object, apiVersion: `converted to ${to.version}` }),
  });

  it('apiserver/X35: leaves alone what has the version already', () => {
    const to = gadgets('v1', {}, { isCustom: false });
    const [same, other]: readonly JsonObject[] = [
      { apiVersion: 'generated.slipway.dev/v1' },
      { apiVersion: 'v0' },
    ];
    assert.ok(same !== undefined && other !== undefined);
    const converted = converter.convert([same, other], to);
    assert.ok(!(converted instanceof Promise));
    assert.equal(converted[0], same);
    assert.deepEqual(converted[1], { apiVersion: 'converted to v1' });
  });

  it('asks the definition of a custom resource how it converts', () => {
    const [to] = customResources(customDefinition('things', 'Thing'));
    assert.ok(to !== undefined);
    const converted = converter.convert([{ apiVersion: 't.io/v0', kind: 'Thing', metadata: {} }], to);
    assert.ok(!(converted instanceof Promise));
    assert.deepEqual([asked, converted[0]?.['apiVersion']], [['things.t.io'], 't.io/v1']);
  });
});
