import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { CloudError } from '../cloud-error.ts';
import { checked } from './request-schema.ts';

const schema = z.strictObject({
  name: z.string().min(2, 'is too short'),
  sizeGiB: z.int().optional(),
  placement: z.strictObject({ group: z.string() }).optional(),
  listeners: z.array(z.strictObject({ port: z.int(), targetPort: z.int().optional() })).default([]),
  labels: z.record(z.string(), z.strictObject({ value: z.string() })).optional(),
});

const problem = (value: unknown): CloudError => {
  try {
    checked(schema, value);
  } catch (error) {
    if (error instanceof CloudError) return error;
  }
  throw new Error('nothing was refused');
};

describe('what clients send', () => {
  it('is given as the schema makes it', () => {
    assert.deepEqual(checked(schema, { name: 'ab', sizeGiB: 3 }), { name: 'ab', sizeGiB: 3, listeners: [] });
  });

  const unknown = [
    { given: { name: 'ab', sizeGib: 1 }, target: 'sizeGib', says: 'did you mean sizeGiB?' },
    { given: { name: 'ab', placement: { gruop: '' } }, target: 'placement.gruop', says: 'did you mean group?' },
    {
      given: { name: 'ab', listeners: [{ port: 1, targetport: 2 }] },
      target: 'listeners.0.targetport',
      says: 'did you mean targetPort?',
    },
    { given: { name: 'ab', labels: { x: { vlaue: '' } } }, target: 'labels.x.vlaue', says: 'did you mean value?' },
    {
      given: { name: 'ab', colour: 1 },
      target: 'colour',
      says: 'known are labels, listeners, name, placement, sizeGiB',
    },
    { given: { nmae: 'ab' }, target: 'nmae', says: 'did you mean name?' },
  ];
  for (const { given, target, says } of unknown) {
    it(`lab/C12: must not hold the unknown field ${target}`, () => {
      const { code, status, message, options } = problem(given);
      assert.deepEqual({ code, status, target: options.target }, { code: 'UnknownField', status: 400, target });
      assert.ok(message.endsWith(says), message);
    });
  }

  const wrong = [
    { given: { name: 'a' }, target: 'name', says: 'name: is too short' },
    { given: { name: 'ab', sizeGiB: 1.5 }, target: 'sizeGiB', says: /^sizeGiB: / },
    {
      given: { name: 'ab', listeners: [{ port: 'x' }] },
      target: 'listeners.0.port',
      says: /^listeners\.0\.port: /,
    },
    { given: {}, target: 'name', says: 'name: is missing' },
    { given: 'text', target: undefined, says: /^the body cannot be used: / },
  ];
  for (const { given, target, says } of wrong) {
    it(`lab/C3: is refused at ${target ?? 'the whole'} with the reason`, () => {
      const { code, message, options } = problem(given);
      assert.deepEqual({ code, target: options.target }, { code: 'InvalidArgument', target });
      if (typeof says === 'string') assert.equal(message, says);
      else assert.match(message, says);
    });
  }
});
