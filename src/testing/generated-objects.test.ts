import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../api/schema/structural.ts';
import { VirtualClock } from '../base/clock.ts';
import { validateSchema } from '../object/validation/validate.ts';
import { generatedValue } from './generated-objects.ts';

const RICH: Schema = {
  type: 'object',
  required: ['name', 'ports', 'mode', 'size'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 8 },
    host: { type: 'string', pattern: '^[a-z]+\\.[a-z]+$' },
    address: { type: 'string', format: 'ipv4' },
    mode: { type: 'string', enum: ['Fast', 'Slow'] },
    size: { type: 'integer', minimum: 3, maximum: 10, exclusiveMinimum: true, exclusiveMaximum: true },
    even: { type: 'integer', minimum: 1, maximum: 9, multipleOf: 2 },
    share: { type: 'number', minimum: 0, maximum: 1 },
    isOn: { type: 'boolean' },
    limit: { 'x-kubernetes-int-or-string': true },
    maybe: { type: 'string', nullable: true, maxLength: 3 },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 5 }, minProperties: 1 },
    any: { 'x-kubernetes-preserve-unknown-fields': true },
    template: { type: 'object', 'x-kubernetes-embedded-resource': true },
    zones: {
      type: 'array',
      items: { type: 'string', enum: ['a', 'b', 'c'] },
      'x-kubernetes-list-type': 'set',
      minItems: 1,
      maxItems: 3,
    },
    ports: {
      type: 'array',
      minItems: 2,
      items: {
        type: 'object',
        required: ['port'],
        properties: {
          port: { type: 'integer', minimum: 1, maximum: 65535 },
          protocol: { type: 'string', enum: ['TCP', 'UDP'], default: 'TCP' },
        },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    },
  },
};

function values(schema: Schema, count: number, seed = 1) {
  const clock = new VirtualClock({ seed });
  return Array.from({ length: count }, () => generatedValue(schema, { random: () => clock.random() }));
}

describe('generatedValue', () => {
  it('runtime/T6: makes only values that the schema admits', () => {
    for (const value of values(RICH, 500)) {
      const problems = validateSchema(value, RICH);
      assert.deepEqual(problems, [], JSON.stringify(value));
    }
  });

  it('runtime/T6: leaves out what is optional, and goes to the edges', () => {
    const all = values(RICH, 300) as readonly Record<string, unknown>[];
    const sizes = new Set(all.map(({ size }) => size));
    assert.ok(sizes.has(4) && sizes.has(9) && sizes.size > 3, [...sizes].join());
    const lengths = new Set(all.map(({ name }) => Array.from(String(name)).length));
    assert.ok(lengths.has(1) && lengths.has(8));
    for (const field of Object.keys(RICH.properties ?? {}).filter((name) => !RICH.required?.includes(name))) {
      const present = all.filter((value) => Object.hasOwn(value, field)).length;
      assert.ok(present > 0 && present < all.length, field);
    }
  });

  it('runtime/T6: the same numbers give the same values', () => {
    assert.deepEqual(values(RICH, 20, 5), values(RICH, 20, 5));
    assert.notDeepEqual(values(RICH, 20, 5), values(RICH, 20, 6));
  });

  it('runtime/T6: asks for samples where it cannot make a text, and takes them', () => {
    const schema: Schema = {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'string', pattern: '^q[0-9]{7}$' } },
    };
    assert.throws(
      () => values(schema, 1),
      /^Error: id: no text is known that fits \^q\[0-9\]\{7\}\$; give samples/,
    );
    const value = generatedValue(schema, { random: () => 0.5, samples: { id: ['q1234567'] } });
    assert.deepEqual(value, { id: 'q1234567' });
    assert.throws(() => generatedValue(schema, { random: () => 0.5, samples: { id: [] } }), /no value to choose/);
  });
});
