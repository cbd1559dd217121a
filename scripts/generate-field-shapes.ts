// The shapes of the kinds that manifests of cloud providers hold, as one table: what a strict decoder must know of the
// schemas below `src/apiserver/generated`, which components cannot reach.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawSchema } from '../src/apiserver/builtin-data/builtin-schema.ts';

const HEADER = '// Written by scripts/generate-field-shapes.ts; `npm run generate` writes it anew.';
const ROOTS = [
  'admissionregistration.v1.ValidatingAdmissionPolicy',
  'admissionregistration.v1.ValidatingAdmissionPolicyBinding',
  'apps.v1.DaemonSet',
  'apps.v1.Deployment',
  'core.v1.ConfigMap',
  'core.v1.Pod',
  'core.v1.Service',
  'policy.v1.PodDisruptionBudget',
  'rbac.v1.ClusterRole',
  'rbac.v1.ClusterRoleBinding',
  'rbac.v1.Role',
  'rbac.v1.RoleBinding',
];
/** Types that are no objects with fields. */
const PLAIN: Readonly<Record<string, string>> = {
  'intstr.IntOrString': 'int-or-string',
  'resource.Quantity': 'quantity',
  'meta.v1.Time': 'string',
  'meta.v1.FieldsV1': 'any',
};

type Schemas = Readonly<Record<string, RawSchema>>;

/** File name → text; the same tables give the same file. */
export function fieldShapeFiles(tables: string): ReadonlyMap<string, string> {
  const schemas: Schemas = Object.assign(
    {},
    ...readdirSync(join(tables, 'schemas')).map((file) => entriesOf(join(tables, 'schemas', file))),
  );
  const lines = [...reachable(schemas)]
    .toSorted()
    .map((type) => `  '${type}': { ${fieldsOf(schemas, type).join(', ')} },`);
  const text = [
    HEADER,
    '',
    'export const FIELD_SHAPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {',
    ...lines,
    '};',
    '',
  ];
  return new Map([['field-shapes.ts', text.join('\n')]]);
}

function entriesOf(file: string): Schemas {
  const { entries }: { readonly entries: Schemas } = JSON.parse(readFileSync(file, 'utf8'));
  return entries;
}

function reachable(schemas: Schemas): ReadonlySet<string> {
  const found = new Set<string>(ROOTS);
  // A set that grows while it is walked is walked to its end.
  for (const type of found) {
    for (const [field, schema] of Object.entries(schemas[type]?.properties ?? {})) {
      const inner = shapeOf(field, schema).replace(/^(\[\]|\{\})+/, '');
      if (inner.includes('.')) found.add(inner);
    }
  }
  return found;
}

const fieldsOf = (schemas: Schemas, type: string): readonly string[] =>
  Object.entries(schemas[type]?.properties ?? {}).map(
    ([field, schema]) => `${/^\w+$/.test(field) ? field : `'${field}'`}: '${shapeOf(field, schema)}'`,
  );

/** `[]x` is a list of x, `{}x` a map with x under each key; a name with dots is a type of the table. */
function shapeOf(field: string, schema: RawSchema): string {
  // Servers write it, and whoever applies a manifest sends it in vain.
  if (field === 'status') return 'any';
  const type = schema.$ref ?? schema.allOf;
  if (type !== undefined) return PLAIN[type] ?? type;
  if (schema.items !== undefined) return `[]${shapeOf('', schema.items)}`;
  if (typeof schema.additionalProperties === 'object') return `{}${shapeOf('', schema.additionalProperties)}`;
  const plain = schema['type'];
  if (plain !== 'string' && plain !== 'boolean' && plain !== 'integer') {
    throw new Error(`field ${field} has a shape that the table cannot hold: ${JSON.stringify(schema)}`);
  }
  return plain;
}
