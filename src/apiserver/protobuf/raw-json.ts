import { isJsonObject, type Json } from '../../object/json.ts';
import { JsonProblem, parseJson } from '../../object/json-text.ts';
import { ProtobufProblem } from './wire.ts';

/** Together with the messages around it, a body stays within the 512 levels that recursion may rely on. */
const MAX_DEPTH = 256;

/** JSON inside a protobuf field (embedded objects, managed fields, defaults of schemas). */
export function parseRawJson(text: string): Json {
  const value = parsed(text);
  if (isDeeper(value, MAX_DEPTH)) throw new ProtobufProblem('JSON in a field is nested too deeply');
  return value;
}

function parsed(text: string): Json {
  try {
    return parseJson(text).value;
  } catch (error) {
    if (error instanceof JsonProblem) throw new ProtobufProblem(`invalid JSON in a field: ${error.message}`);
    throw error;
  }
}

function isDeeper(value: Json, levels: number): boolean {
  if (Array.isArray(value)) return levels === 0 || value.some((item) => isDeeper(item, levels - 1));
  if (!isJsonObject(value)) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}
