import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlPlaneNameValue } from './labels.ts';

describe('the label with the name of a control plane', () => {
  for (const { name, value } of [
    { name: 'ocp-cp', value: 'ocp-cp' },
    { name: 'a.b', value: 'a.b' },
    { name: 'x'.repeat(63), value: 'x'.repeat(63) },
    // FNV-1a of 32 bits, the big end first, as Go's hash/fnv has it.
    { name: 'a'.repeat(64), value: 'hash_2W8PhQ_z' },
    { name: 'foo/bar', value: 'hash_x6cb7Q_z' },
  ])
    it(`agent/C19: ${name} is ${value}`, () => assert.equal(controlPlaneNameValue(name), value));
});
