import { z } from 'zod';
import { nearestWord } from '../../../object/nearest-word.ts';
import { CloudError, invalidArgument } from '../cloud-error.ts';

/** The checked form of what a client sent. Typos surface: a field that nobody knows is refused by name (C12). */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw problemOf(schema, result.error.issues);
}

function problemOf(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): CloudError {
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) return unknownField(schema, unknown.path.map(String), unknown.keys[0] ?? '');
  const [first] = issues;
  const target = (first?.path ?? []).map(String).join('.');
  return target === ''
    ? new CloudError('InvalidArgument', `the body cannot be used: ${first?.message}`)
    : invalidArgument(target, `${target}: ${textOf(first)}`);
}

const textOf = (issue: z.core.$ZodIssue | undefined): string | undefined =>
  issue?.code === 'invalid_type' && issue.message.endsWith('received undefined') ? 'is missing' : issue?.message;

function unknownField(schema: z.ZodType, path: readonly string[], key: string): CloudError {
  const known = keysAt(schema, path).toSorted();
  const meant = nearestWord(key, known);
  const hint = meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
  const target = [...path, key].join('.');
  return new CloudError('UnknownField', `there is no field ${target}: ${hint}`, { target });
}

/** The fields of the object at a place of the schema; none when that is no object. */
function keysAt(schema: unknown, path: readonly string[]): readonly string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable)
    return keysAt(schema.unwrap(), path);
  if (schema instanceof z.ZodPipe) return keysAt(schema.in, path);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => keysAt(option, path));
  if (schema instanceof z.ZodArray) return keysAt(schema.element, path.slice(1));
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, path.slice(1));
  if (!(schema instanceof z.ZodObject)) return [];
  const [first, ...rest] = path;
  return first === undefined ? Object.keys(schema.shape) : keysAt(schema.shape[first], rest);
}
