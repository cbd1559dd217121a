import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { defineKind } from './define-kind.ts';
import { defineVersions } from './define-versions.ts';

const names = { group: 'a.example', kind: 'Boat', plural: 'boats', scope: 'Cluster', shortNames: ['bt'] } as const;
const v1 = defineKind({ ...names, version: 'v1', spec: z.object({ sails: z.int32() }) });
const v1beta1 = defineKind({
  ...names,
  version: 'v1beta1',
  spec: z.object({ masts: z.int32() }),
  deprecationWarning: 'use v1',
  isServed: false,
});

describe('defineVersions', () => {
  it('runtime/K1: combines versions in one definition, of which the first is stored', () => {
    const conversion = {
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
    } as const;
    const boats = defineVersions(v1, [v1beta1], { conversion });
    assert.equal(boats.storage, v1);
    const { spec } = boats.toCRD() as unknown as {
      spec: { versions: readonly Record<string, unknown>[]; conversion: unknown };
    };
    assert.deepEqual(spec.conversion, conversion);
    assert.deepEqual(
      spec.versions.map(({ schema: _schema, ...version }) => version),
      [
        { name: 'v1', served: true, storage: true },
        { name: 'v1beta1', served: false, storage: false, deprecated: true, deprecationWarning: 'use v1' },
      ],
    );
    assert.deepEqual(
      spec.versions.map(({ schema }) => schema),
      [{ openAPIV3Schema: v1.schema }, { openAPIV3Schema: v1beta1.schema }],
    );
  });

  it('refuses versions of different kinds and a version twice', () => {
    const other = defineKind({ ...names, kind: 'Ship', version: 'v2' });
    assert.throws(() => defineVersions(v1, [other]), /kind: version v2 says "Ship", the stored version v1 "Boat"/);
    assert.throws(() => defineVersions(v1, [v1beta1, v1]), /version: v1 is there twice/);
  });
});
