import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { template } from '../../../../test/support/workload-objects.ts';
import type { PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { templateHash } from './template-hash.ts';

const EVERY_LETTER = /^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/;

describe('the hash of a template', () => {
  it('lab/W4: is up to ten letters without vowels', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.nat(1000), { nil: undefined }), (image, count) => {
        assert.match(templateHash(template(image), count), EVERY_LETTER);
      }),
    );
  });

  it('lab/W4: is FNV-1a of JSON with sorted keys, each digit spelled by its code', () => {
    assert.equal(templateHash({}), spelled(fnv('{}')));
    assert.equal(
      templateHash({ spec: { containers: [] }, metadata: {} }),
      spelled(fnv('{"metadata":{},"spec":{"containers":[]}}')),
    );
    assert.equal(templateHash({}, 1), spelled(fnv('{}\u0001\0\0\0\0\0\0\0')));
    assert.equal(templateHash({}, 0x0102), spelled(fnv('{}\u0002\u0001\0\0\0\0\0\0')));
  });

  it('lab/W4: does not depend on the order of keys, nor on what is null', () => {
    const one: PodTemplateSpec = { metadata: { labels: { a: '1', b: '2' } }, spec: { containers: [] } };
    const other: PodTemplateSpec = {
      spec: { containers: [] },
      metadata: { creationTimestamp: null, labels: { b: '2', a: '1' } },
    };
    assert.equal(templateHash(one), templateHash(other));
  });

  it('lab/W4: differs by template and by the number of collisions', () => {
    const hashes = [
      templateHash(template('web:1')),
      templateHash(template('web:2')),
      ...[0, 1, 2, 256].map((count) => templateHash(template('web:1'), count)),
    ];
    assert.equal(new Set(hashes).size, hashes.length);
  });
});

/** The textbook, with big integers. */
const fnv = (text: string): string => {
  let hash = 2166136261n;
  for (const byte of Buffer.from(text)) hash = ((hash ^ BigInt(byte)) * 16777619n) & 0xffffffffn;
  return String(hash);
};

// Codes of the digits, 48 to 57, modulo 27: '0' is letter 21.
const spelled = (digits: string): string =>
  Array.from(digits, (digit) => '456789bcdf'[Number(digit)] ?? '').join('');
