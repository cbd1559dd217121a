import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, required } from '../../object/field-error.ts';

/** Everything a branch of allOf, anyOf, oneOf or not speaks about is specified outside of it, too. */
export function completenessErrors(schema: Schema, path: string, errors: FieldError[]): void {
  branches(schema, { schema, path }, path, errors);
}

/** The specified node that a branch speaks about. */
interface Specified {
  readonly schema: Schema;
  readonly path: string;
}

function branches(schema: Schema, specified: Specified, path: string, errors: FieldError[]): void {
  if (schema.not !== undefined) nested(schema.not, specified, `${path}.not`, errors);
  for (const key of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, branch] of (schema[key] ?? []).entries()) {
      nested(branch, specified, `${path}.${key}[${index}]`, errors);
    }
  }
}

function nested(branch: Schema, specified: Specified, path: string, errors: FieldError[]): void {
  branches(branch, specified, path, errors);
  const check = (child: Schema, counterpart: Schema | undefined, suffix: string): void => {
    const at = `${specified.path}${suffix}`;
    if (counterpart === undefined) errors.push(required(at, `because it is defined in ${path}${suffix}`));
    else nested(child, { schema: counterpart, path: at }, `${path}${suffix}`, errors);
  };
  if (branch.items !== undefined) check(branch.items, specified.schema.items, '.items');
  const known = specified.schema.properties ?? {};
  for (const [key, child] of Object.entries(branch.properties ?? {})) {
    check(child, Object.hasOwn(known, key) ? known[key] : undefined, `.properties[${key}]`);
  }
}
