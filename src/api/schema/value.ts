import * as z from 'zod';
import { apiVersionOf, type KubeObject, type Scope } from '../object.ts';
import { type FieldProblem, KindValueError } from './kind-error.ts';

/** The part of a definition that objects are checked with. */
interface Parts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly scope: Scope;
  readonly spec?: z.ZodType | undefined;
  readonly status?: z.ZodType | undefined;
  readonly fields?: Readonly<Record<string, z.ZodType>>;
  readonly isForeign?: boolean;
}

/** Checks and completes objects of a kind (K8); the checker is made when the first object comes. */
export function valueParser(parts: Parts): (value: unknown) => KubeObject {
  let checker: z.ZodType | undefined;
  return (value) => {
    checker ??= checkerOf(parts);
    const { success, data, error } = checker.safeParse(value);
    if (!success) throw new KindValueError(parts.kind, error.issues.map(problemOf));
    // What is checked is apiVersion, kind and metadata, which is all that the type claims here.
    const object = data as KubeObject;
    return parts.isForeign === true ? (withUnknown(value, object) as KubeObject) : object;
  };
}

function checkerOf({ group, version, kind, spec, status, fields = {} }: Parts): z.ZodType {
  return z.object({
    apiVersion: z.literal(apiVersionOf({ group, version })),
    kind: z.literal(kind),
    metadata: z.looseObject({ name: z.string().min(1) }),
    ...fields,
    ...(spec && { spec }),
    ...(status && { status: status.optional() }),
  });
}

const problemOf = ({ path, message }: z.core.$ZodIssue): FieldProblem => ({
  path: path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : `${text}${text === '' ? '' : '.'}${String(part)}`,
    '',
  ),
  problem: message,
});

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The checked value and what only the given one has. */
function withUnknown(given: unknown, checked: unknown): unknown {
  if (Array.isArray(given) && Array.isArray(checked)) {
    return checked.map((item, at) => withUnknown(given[at], item));
  }
  if (!isRecord(given) || !isRecord(checked)) return checked;
  const names = new Set([...Object.keys(given), ...Object.keys(checked)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      Object.hasOwn(checked, name)
        ? withUnknown(Object.hasOwn(given, name) ? given[name] : undefined, checked[name])
        : given[name],
    ]),
  );
}
