import { humanDuration } from '../../object/human-duration.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { compileJsonPath, type JsonPath } from '../../object/json-path.ts';
import { goJson, goPlain } from '../../object/validation/go-text.ts';
import { timeProblem } from '../../object/validation/go-time.ts';
import type { Column, Columns } from '../registry/resource.ts';
import type { PrinterColumn } from './definition.ts';

type Cell = string | number | boolean | null;
type Reader = (object: JsonObject, now: Date) => Cell;

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  // Clients get the documentation of the field, as everywhere in the API.
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
};

const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  format: '',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
};

/** The columns of a custom resource (X38). A definition with a path that cannot be read ends the list before it. */
export function customColumns(columns: readonly PrinterColumn[]): Columns {
  const shown = columns.length === 0 ? [AGE] : columns;
  const definitions: Column[] = [NAME];
  const readers: Reader[] = [];
  for (const column of shown) {
    const path = compileJsonPath(column.jsonPath);
    if (path === undefined) break;
    definitions.push(definitionOf(column));
    readers.push(reader(column, path));
  }
  return {
    definitions,
    cells: (object, now) => [nameOf(object), ...readers.map((read) => read(object, now))],
  };
}

const definitionOf = ({ name, type, format, description, priority, jsonPath }: PrinterColumn): Column => ({
  name,
  type,
  format,
  description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
  priority,
});

function nameOf({ metadata }: JsonObject): string {
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

function reader({ type }: PrinterColumn, path: JsonPath): Reader {
  return (object, now) => {
    const value = path.first(object);
    if (value === undefined) return null;
    return type === 'string' ? textCell(value) : typedCell(type, value, now);
  };
}

function textCell(value: Json): string {
  if (value === null) return '<no value>';
  return typeof value === 'object' ? goJson(value) : goPlain(value);
}

function typedCell(type: string, value: Json, now: Date): Cell {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  switch (type) {
    case 'integer':
      return isNumber ? Math.trunc(Number(value)) : null;
    case 'number':
      return isNumber ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageCell(value, now) : null;
    default:
      return null;
  }
}

function ageCell(text: string, now: Date): string {
  if (text === '' || text === 'null') return '<unknown>';
  return timeProblem(text) === undefined ? humanDuration(now.getTime() - Date.parse(text)) : '<invalid>';
}
