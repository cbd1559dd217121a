import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { CONFIG, type ListShape, type ObjectShape, type Shape, type ValueShape } from './config-shape.ts';

const VERSIONS: readonly string[] = ['3.0.0', '3.1.0'];

/**
 * What keeps a value from being an Ignition config that ours can be merged with, as part of a sentence; undefined when
 * nothing does. Fields of other versions are not looked at. Values are not quoted: configs hold secrets.
 */
export function configProblem(config: Json): string | undefined {
  if (!isJsonObject(config)) return 'it is no object';
  const ignition = getKey(config, 'ignition');
  const version = isJsonObject(ignition) ? getKey(ignition, 'version') : undefined;
  if (typeof version !== 'string' || !VERSIONS.includes(version)) {
    const found = typeof version === 'string' ? JSON.stringify(version) : 'what is there';
    return `ignition.version must be one of ${VERSIONS.join(', ')}, not ${found}`;
  }
  return objectProblem(CONFIG, config, '');
}

function problemOf(shape: Shape, found: Json, at: string): string | undefined {
  switch (shape.kind) {
    case 'value':
      return valueProblem(shape, found, at);
    case 'object':
      return isJsonObject(found) ? objectProblem(shape, found, at) : `${at} must be an object`;
    case 'list':
      return Array.isArray(found) ? listProblem(shape, found, at) : `${at} must be a list`;
  }
}

function valueProblem({ type, rule }: ValueShape, found: Json, at: string): string | undefined {
  const isOfType = type === 'integer' ? Number.isSafeInteger(found) : typeof found === type;
  if (!isOfType) return `${at} must be ${type === 'integer' ? 'an' : 'a'} ${type}`;
  return about(at, rule?.(found));
}

function objectProblem(shape: ObjectShape, found: JsonObject, at: string): string | undefined {
  for (const [key, field] of Object.entries(shape.fields)) {
    const path = at === '' ? key : `${at}.${key}`;
    // What is null is not there.
    const value = getKey(found, key) ?? null;
    const isMissing = value === null && field.kind === 'value' && field.isRequired === true;
    const problem = isMissing ? `${path} is required` : value === null ? undefined : problemOf(field, value, path);
    if (problem !== undefined) return problem;
  }
  return about(at, shape.rule?.(found)) ?? duplicateProblem(shape, found, at);
}

function listProblem(shape: ListShape, found: readonly Json[], at: string): string | undefined {
  for (const [index, item] of found.entries()) {
    const problem = problemOf(shape.item, item, `${at}[${index}]`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A path is a file, a directory or a link: those lists are looked at together. */
function duplicateProblem({ fields }: ObjectShape, found: JsonObject, at: string): string | undefined {
  const seen = new Set<string>();
  for (const [name, shape] of Object.entries(fields)) {
    const list = getKey(found, name);
    if (shape.kind !== 'list' || shape.key === undefined || !Array.isArray(list)) continue;
    const group = shape.rivals === undefined ? name : 'nodes';
    for (const [index, item] of list.entries()) {
      const key = `${group} ${shape.key(item)}`;
      if (seen.has(key)) return `${at}.${name}[${index}] is there twice`;
      seen.add(key);
    }
  }
  return undefined;
}

const about = (at: string, problem: string | undefined): string | undefined =>
  problem === undefined ? undefined : `${at} ${problem}`;
