import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, invalid } from '../../object/field-error.ts';
import { getKey, isJsonObject, type JsonObject, setKey } from '../../object/json.ts';
import { finalizerWarnings } from '../../object/metadata.ts';
import { applyDefaults } from '../../object/validation/default.ts';
import { embeddedErrors } from '../../object/validation/embedded.ts';
import { listUniquenessErrors } from '../../object/validation/list-uniqueness.ts';
import { validateSchema } from '../../object/validation/validate.ts';
import { compileSchemaRules, type SchemaRules } from '../cel/rules.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import type { Scale } from './definition.ts';
import { textsAt } from './definition.ts';
import { scaleErrors } from './scale-validation.ts';
import { selectableValues } from './selectable.ts';

/** What the strategy of one version of a custom resource is made from. */
interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Schema;
  readonly hasStatus: boolean;
  readonly scale: Scale | undefined;
  readonly selectableFields: readonly string[];
}

const BLOCKING: ReadonlySet<string> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

export function customStrategy(custom: CustomKind): Strategy {
  const { schema, hasStatus } = custom;
  // Compiled at the first write: most definitions are only installed.
  let rules: SchemaRules | undefined;
  const checks = (): Checks => ({ ...custom, rules: (rules ??= compileSchemaRules(schema).rules) });
  return {
    tracksGeneration: true,
    allowsUnconditionalUpdate: false,
    resetFields: { ...(hasStatus && { '': ['status'] }), status: ['metadata', 'spec'] },
    selectableFields: selectableValues(custom.selectableFields),
    setDefaults: (object) => applyDefaults(object, schema),
    prepareForCreate: (object) => {
      if (hasStatus) delete object['status'];
    },
    prepareForUpdate: (object, old, context) => prepareForUpdate(object, old, context, hasStatus),
    validate: (object) => createErrors(object, checks()),
    validateUpdate: (object, old, { subresource }) =>
      subresource === 'status' ? statusErrors(object, old, checks()) : updateErrors(object, old, checks()),
    warnings: (object, old) => [...newFinalizerWarnings(object, old), ...(ratchetedFailures.get(object) ?? [])],
  };
}

interface Checks extends CustomKind {
  readonly rules: SchemaRules;
}

function prepareForUpdate(
  object: JsonObject,
  old: JsonObject,
  { subresource }: WriteContext,
  hasStatus: boolean,
): void {
  if (subresource === 'status') {
    keepAllButStatus(object, old);
    return;
  }
  if (!hasStatus) return;
  const status = getKey(old, 'status');
  if (status === undefined) delete object['status'];
  else object['status'] = status;
}

/** W10: a write to /status changes the status and who owns it, nothing else. */
function keepAllButStatus(object: JsonObject, old: JsonObject): void {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const before = isJsonObject(old['metadata']) ? old['metadata'] : {};
  const managedFields = getKey(metadata, 'managedFields');
  for (const key of Object.keys(object)) if (key !== 'status') delete object[key];
  for (const [key, value] of Object.entries(old)) if (key !== 'status') setKey(object, key, value);
  const { managedFields: _, ...kept } = before;
  object['metadata'] = managedFields === undefined ? kept : { ...kept, managedFields };
}

/** X14: the engine has checked the API version already. */
function kindErrors(object: JsonObject, { kind, group, version }: CustomKind): readonly FieldError[] {
  const errors: FieldError[] = [];
  const actual = getKey(object, 'kind') ?? '';
  if (actual !== kind) errors.push(invalid('kind', actual, `must be ${kind}`));
  const apiVersion = getKey(object, 'apiVersion') ?? '';
  if (apiVersion !== `${group}/${version}`)
    errors.push(invalid('apiVersion', apiVersion, `must be ${group}/${version}`));
  return errors;
}

function createErrors(object: JsonObject, checks: Checks): readonly FieldError[] {
  const { schema, scale } = checks;
  const typeErrors = kindErrors(object, checks);
  const found = [
    ...(typeErrors.length > 0
      ? typeErrors
      : [...validateSchema(object, schema), ...scaleErrors(object, scale, 'all')]),
    ...embeddedErrors(object, schema),
    ...listUniquenessErrors(object, schema),
  ];
  return [...found, ...ruleErrors(found, object, undefined, checks.rules)];
}

function updateErrors(object: JsonObject, old: JsonObject, checks: Checks): readonly FieldError[] {
  const { schema, scale } = checks;
  const typeErrors = kindErrors(object, checks);
  const found = [
    ...(typeErrors.length > 0
      ? typeErrors
      : [...validateSchema(object, schema, { old }), ...scaleErrors(object, scale, 'all')]),
    ...embeddedErrors(object, schema),
    ...newDuplicates(object, old, schema),
  ];
  return [...found, ...ruleErrors(found, object, old, checks.rules)];
}

function statusErrors(object: JsonObject, old: JsonObject, checks: Checks): readonly FieldError[] {
  const { schema, scale } = checks;
  const status = getKey(object, 'status');
  const oldStatus = getKey(old, 'status');
  const statusSchema = schema.properties?.['status'];
  const found = [
    ...(status === undefined || statusSchema === undefined
      ? []
      : validateSchema(status, statusSchema, {
          base: 'status',
          ...(oldStatus !== undefined && { old: oldStatus }),
        })),
    ...scaleErrors(object, scale, 'status'),
    ...newDuplicates(object, old, schema),
  ];
  return [...found, ...ruleErrors(found, object, old, checks.rules)];
}

/** X23: an object that broke the rule before may go on. */
function newDuplicates(object: JsonObject, old: JsonObject, schema: Schema): readonly FieldError[] {
  const errors = listUniquenessErrors(object, schema);
  return errors.length > 0 && listUniquenessErrors(old, schema).length === 0 ? errors : [];
}

/** X18: rules need an object of the right shape. */
function ruleErrors(
  found: readonly FieldError[],
  object: JsonObject,
  old: JsonObject | undefined,
  rules: SchemaRules,
): readonly FieldError[] {
  if (rules.isEmpty) return [];
  if (found.some(({ reason }) => BLOCKING.has(reason))) return [invalid('<nil>', null, NOT_CHECKED)];
  const ratcheted: string[] = [];
  const errors = rules.validate(object, old, '', { warn: (text) => ratcheted.push(text) });
  ratchetedFailures.set(object, ratcheted);
  // The object as a whole is called so.
  return errors.map((error) => (error.field === '' ? { ...error, field: '<nil>' } : error));
}

/** X22: rules that failed and do not count because nothing changed; users are told in a Warning. */
const ratchetedFailures = new WeakMap<JsonObject, readonly string[]>();

/** M6: only new finalizers are warned of. */
function newFinalizerWarnings(object: JsonObject, old: JsonObject | undefined): readonly string[] {
  const finalizers = finalizersOf(object);
  if (finalizers.length === 0) return [];
  const known = old === undefined ? [] : finalizersOf(old);
  return finalizerWarnings([...new Set(finalizers)].filter((name) => !known.includes(name)).toSorted());
}

const finalizersOf = ({ metadata }: JsonObject): readonly string[] =>
  isJsonObject(metadata) ? textsAt(metadata, 'finalizers') : [];
