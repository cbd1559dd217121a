import type { Kind } from '../object.ts';
import type { Schema, ValidationRule } from './structural.ts';
import { visitSchema } from './visit.ts';

/** A CEL rule and the node whose values are its `self`. */
export interface PlacedRule {
  /** `spec`, `spec.ports[]`; the empty text for the object itself. */
  readonly path: string;
  readonly schema: Schema;
  readonly rule: ValidationRule;
}

/** A kind that has a definition. */
export type WithSchema = Pick<Kind, 'kind'> & { readonly schema: Schema };

/** Every CEL rule of a kind, for checking its types before a server does (K5). */
export function celRulesOf({ schema }: WithSchema): readonly PlacedRule[] {
  const rules: PlacedRule[] = [];
  visitSchema(schema, '', (node, path) => {
    for (const rule of node['x-kubernetes-validations'] ?? []) rules.push({ path, schema: node, rule });
  });
  return rules;
}
