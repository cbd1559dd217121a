import { compileSchemaRules } from '../cel/rules.ts';
import type { SchemaChecks } from './root-schema.ts';

/** How CEL rules are checked when a definition is written. */
export const celChecks: SchemaChecks = {
  rules: (schema, path) =>
    compileSchemaRules(schema, path).problems.map(({ path: below, reason, message }) => ({
      reason,
      field: `${path}${below}`,
      message,
    })),
  defaultRules: (schema, value, path) => {
    const { rules } = compileSchemaRules(schema);
    if (rules.isEmpty) return [];
    const errors = rules.validate(value, value, path);
    // Rules that look at the old value must hold for a default that comes out of nothing, too.
    return errors.length > 0 ? errors : rules.validate(value, undefined, path);
  },
};
