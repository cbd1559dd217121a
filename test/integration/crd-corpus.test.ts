import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { crdStrategy } from '../../src/apiserver/crd/crd-strategy.ts';
import { customResources } from '../../src/apiserver/crd/custom-resource.ts';
import { decodeCustomResource } from '../../src/apiserver/crd/decoding.ts';
import type { WriteContext } from '../../src/apiserver/registry/resource.ts';
import { fieldErrorText } from '../../src/object/field-error.ts';
import { isJsonObject, type JsonObject } from '../../src/object/json.ts';
import { parseYaml } from '../../src/object/yaml.ts';

const CORPUS = join(import.meta.dirname, '../../../shared/crds');
const skip = existsSync(CORPUS) ? false : `${CORPUS} is not there`;
const context: WriteContext = {
  now: new Date(0),
  isDryRun: false,
  subresource: '',
  user: { name: 'admin', groups: [] },
};

const documents = (file: string): readonly JsonObject[] =>
  readFileSync(file, 'utf8')
    .split(/^---\s*$/m)
    .filter((text) => text.trim() !== '')
    .map((text) => parseYaml(text))
    .filter(isJsonObject);

/** As a client installs it: without what a server wrote. */
function installed(crd: JsonObject): readonly string[] {
  crdStrategy.setDefaults?.(crd);
  crdStrategy.prepareForCreate?.(crd, context);
  return (crdStrategy.validate?.(crd, context) ?? []).map(fieldErrorText);
}

describe('the CRDs of the ecosystem', { skip }, () => {
  const files = skip === false ? globSync('**/*.yaml', { cwd: CORPUS }).toSorted() : [];

  for (const file of files) {
    for (const [index, crd] of documents(join(CORPUS, file)).entries()) {
      it(`apiserver/X2: accepts ${relative('.', file)} #${index + 1} and serves it`, () => {
        assert.deepEqual(installed(crd), []);
        const resources = customResources(crd);
        assert.notEqual(resources.length, 0);
        for (const { userSchema, strategy, kind, group, version } of resources) {
          const object: JsonObject = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'a' }, zzz: 1 };
          const { unknown, problem } = decodeCustomResource(object, userSchema);
          assert.equal(problem, undefined);
          assert.deepEqual(unknown, ['zzz']);
          strategy.setDefaults?.(object);
          // An empty object may lack required fields, but must be judged.
          assert.ok(Array.isArray(strategy.validate?.(object, context)));
        }
      });
    }
  }
});
