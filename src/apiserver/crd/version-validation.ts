import type { Schema } from '../../api/schema/structural.ts';
import { duplicate, type FieldError, invalid, required, tooMany } from '../../object/field-error.ts';
import { followPath } from '../cel/field-path.ts';
import type { DefinitionVersion, PrinterColumn, Scale } from './definition.ts';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MAX_SELECTABLE_FIELDS = 8;
const MAX_WARNING_BYTES = 256;
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;

export function deprecationErrors(version: DefinitionVersion, path: string): readonly FieldError[] {
  const { deprecationWarning: warning, isDeprecated } = version;
  if (warning === undefined) return [];
  return warningProblems(warning, isDeprecated).map((why) => invalid(`${path}.deprecationWarning`, warning, why));
}

function warningProblems(warning: string, isDeprecated: boolean): readonly string[] {
  if (!isDeprecated) return ['can only be set for deprecated versions'];
  const problems: string[] = [];
  if (Buffer.byteLength(warning) > MAX_WARNING_BYTES) problems.push('must be <= 256 characters long');
  if (warning === '') problems.push('must not be an empty string');
  const at = UNPRINTABLE.exec(warning)?.index;
  if (at !== undefined) {
    const index = Buffer.byteLength(warning.slice(0, at));
    problems.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
  }
  return problems;
}

function jsonPathErrors(jsonPath: string, path: string): readonly FieldError[] {
  return jsonPath.startsWith('.') ? [] : [invalid(path, jsonPath, 'must be a simple json path starting with .')];
}

export function columnErrors(column: PrinterColumn, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (column.name === '') errors.push(required(`${path}.name`));
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (column.type === '') errors.push(required(`${path}.type`, types));
  else if (!COLUMN_TYPES.includes(column.type)) errors.push(invalid(`${path}.type`, column.type, types));
  if (column.format !== '' && !COLUMN_FORMATS.includes(column.format)) {
    errors.push(invalid(`${path}.format`, column.format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  if (column.jsonPath === '') errors.push(required(`${path}.JSONPath`));
  else errors.push(...jsonPathErrors(column.jsonPath, `${path}.JSONPath`));
  return errors;
}

export function scaleErrors(scale: Scale | undefined, path: string): readonly FieldError[] {
  if (scale === undefined) return [];
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const selectorPath = `${path}.scale.labelSelectorPath`;
  return [
    ...(specReplicasPath === ''
      ? [required(`${path}.scale.specReplicasPath`)]
      : pathUnder(specReplicasPath, ['.spec.'], `${path}.scale.specReplicasPath`)),
    ...(statusReplicasPath === ''
      ? [required(`${path}.scale.statusReplicasPath`)]
      : pathUnder(statusReplicasPath, ['.status.'], `${path}.scale.statusReplicasPath`)),
    ...(labelSelectorPath ? pathUnder(labelSelectorPath, ['.spec.', '.status.'], selectorPath) : []),
  ];
}

function pathUnder(jsonPath: string, prefixes: readonly string[], path: string): readonly FieldError[] {
  const errors = jsonPathErrors(jsonPath, path);
  if (errors.length > 0 || prefixes.some((prefix) => jsonPath.startsWith(prefix))) return errors;
  const where =
    prefixes.length > 1 ? 'either .spec or .status' : prefixes.map((prefix) => prefix.slice(0, -1)).join('');
  return [invalid(path, jsonPath, `should be a json path under ${where}`)];
}

const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

export function selectableFieldErrors(
  fields: readonly string[],
  schema: Schema,
  path: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, jsonPath] of fields.entries()) {
    const at = `${path}[${index}].jsonPath`;
    if (jsonPath === '') errors.push(required(at));
    else errors.push(...selectableErrors(jsonPath, schema, at, seen));
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

function selectableErrors(jsonPath: string, schema: Schema, at: string, seen: Set<string>): readonly FieldError[] {
  const found = followPath(jsonPath, schema, 'simple');
  if ('problem' in found) return [invalid(at, jsonPath, `is an invalid path: ${found.problem}`)];
  const errors: FieldError[] = [];
  if (found.parts[0] === 'metadata') errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
  if (!SELECTABLE_TYPES.includes(found.schema?.type ?? '')) {
    const why =
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
    errors.push(invalid(at, jsonPath, why));
  }
  const name = found.parts.join('.');
  if (seen.has(name)) errors.push(duplicate(at, jsonPath));
  seen.add(name);
  return errors;
}
