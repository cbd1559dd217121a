import type { Schema } from '../../object/schema.ts';

interface FoundField {
  /** Why the path leads nowhere. */
  readonly problem?: string;
  readonly schema?: Schema;
  /** Its parts. */
  readonly parts: readonly string[];
}

/** Delimiters stand alone; quoted parts may contain them. */
const TOKEN = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g;

/** Follows a path such as `.spec.replicas` through a schema. */
export function followPath(path: string, schema: Schema): FoundField {
  const parts: string[] = [];
  const tokens = path.match(TOKEN) ?? [];
  let at: Schema | undefined = schema;
  for (let index = 0; index < tokens.length; index += 2) {
    const [delimiter = '', name] = [tokens[index], tokens[index + 1]];
    if (delimiter === '[') return { problem: 'array notation is not allowed', parts };
    if (delimiter !== '.') return { problem: `expected [ or . but got: ${delimiter}`, parts };
    if (name === undefined) return { problem: 'unexpected end of JSON path', parts };
    const next = childOf(at, name);
    if (next === undefined) return { problem: 'does not refer to a valid field', parts };
    parts.push(name);
    at = typeof next === 'object' ? next : undefined;
  }
  return { parts, ...(at !== undefined && { schema: at }) };
}

/** The schema of a field or map value; true when anything may be there. */
function childOf(schema: Schema | undefined, name: string): Schema | true | undefined {
  const properties = schema?.properties ?? {};
  if (Object.keys(properties).length > 0) return Object.hasOwn(properties, name) ? properties[name] : undefined;
  const additional = schema?.additionalProperties;
  if (additional === undefined) return undefined;
  return typeof additional === 'object' ? additional : true;
}
