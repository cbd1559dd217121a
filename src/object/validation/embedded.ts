import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, invalid, required } from '../field-error.ts';
import { cloneJson, getKey, isJsonObject, type Json, type JsonObject, setKey } from '../json.ts';
import { validateObjectMeta } from '../metadata.ts';
import { dns1035LabelProblems, nameRules } from '../names.ts';
import { goKind, goValue } from './go-text.ts';
import { type Node, nodeOf } from './node.ts';
import { decodeObjectMeta } from './object-meta.ts';

/** Calls `visit` for every embedded resource below an object (X13). */
function walk(value: Json, node: Node, path: string, visit: (resource: JsonObject, path: string) => void): void {
  if (!node.hasEmbeddedBelow || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (node.items === undefined) return;
    for (const [index, item] of value.entries()) walk(item, node.items, `${path}[${index}]`, visit);
    return;
  }
  if (node.isEmbedded) visit(value, path);
  for (const key of Object.keys(value)) {
    const property = node.properties.get(key);
    const child = getKey(value, key) ?? null;
    if (property !== undefined) walk(child, property, childOf(path, key), visit);
    else if (node.additional !== undefined) walk(child, node.additional, `${path}[${key}]`, visit);
  }
}

const childOf = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

interface CoercedResources {
  readonly unknown: readonly string[];
  /** The text of the first apiVersion, kind or metadata that cannot be read. */
  readonly problem: string | undefined;
}

interface CoerceOptions {
  /** The path of the value in its object. */
  readonly base?: string;
  /** The value itself is a resource whatever its schema says. */
  readonly isResource?: boolean;
}

/** Reads the metadata of embedded resources as ObjectMeta, in place: unknown fields go, wrong types are a problem. */
export function coerceEmbedded(value: Json, schema: Schema, options: CoerceOptions = {}): CoercedResources {
  const unknown: string[] = [];
  let problem: string | undefined;
  const coerce = (resource: JsonObject, path: string): void => {
    const { unknown: found, problem: text } = coerceResource(resource, path);
    unknown.push(...found);
    problem ??= text;
  };
  const node = nodeOf(schema);
  const base = options.base ?? '';
  if (options.isResource === true && !node.isEmbedded && isJsonObject(value)) coerce(value, base);
  walk(value, node, base, coerce);
  return { unknown: unknown.sort(), problem };
}

function coerceResource(resource: JsonObject, path: string): CoercedResources {
  for (const key of ['apiVersion', 'kind']) {
    const value = getKey(resource, key);
    if (value !== undefined && typeof value !== 'string') {
      return { unknown: [], problem: `${childOf(path, key)}: Invalid value: ${goValue(value)}: must be a string` };
    }
  }
  const metadata = getKey(resource, 'metadata');
  if (metadata === undefined) return { unknown: [], problem: undefined };
  const at = childOf(path, 'metadata');
  if (!isJsonObject(metadata)) return unreadable(resource, metadata, at);
  const copy = cloneJson(metadata);
  const { unknown, problem } = decodeObjectMeta(copy);
  if (problem !== undefined)
    return { unknown: [], problem: `${at}: Invalid value: ${goValue(metadata)}: ${problem}` };
  setKey(resource, 'metadata', copy);
  return { unknown: unknown.map((name) => `${at}.${name}`), problem: undefined };
}

/** null is empty metadata to Go. */
function unreadable(resource: JsonObject, metadata: Json, at: string): CoercedResources {
  if (metadata === null) {
    setKey(resource, 'metadata', {});
    return { unknown: [], problem: undefined };
  }
  const problem = `json: cannot unmarshal ${goKind(metadata)} into Go value of type v1.ObjectMeta`;
  return { unknown: [], problem: `${at}: Invalid value: ${goValue(metadata)}: ${problem}` };
}

/** X13: an embedded resource has apiVersion and kind, and its metadata follows the common rules. */
export function embeddedErrors(value: Json, schema: Schema, options: CoerceOptions = {}): readonly FieldError[] {
  const errors: FieldError[] = [];
  const check = (resource: JsonObject, path: string): void => void errors.push(...resourceErrors(resource, path));
  const node = nodeOf(schema);
  const base = options.base ?? '';
  if (options.isResource === true && !node.isEmbedded && isJsonObject(value)) check(value, base);
  walk(value, node, base, check);
  return errors;
}

function resourceErrors(resource: JsonObject, path: string): readonly FieldError[] {
  const metadata = getKey(resource, 'metadata');
  return [
    ...typeErrors(getKey(resource, 'apiVersion'), childOf(path, 'apiVersion'), apiVersionProblem),
    ...typeErrors(getKey(resource, 'kind'), childOf(path, 'kind'), kindProblem),
    ...(isJsonObject(metadata) ? metadataErrors(metadata, childOf(path, 'metadata')) : []),
  ];
}

/** A name is not needed, but checked when it is there. */
function metadataErrors(metadata: JsonObject, path: string): readonly FieldError[] {
  const isNamespaced = (getKey(metadata, 'namespace') ?? '') !== '';
  return validateObjectMeta(
    { name: 'fakename', ...metadata },
    { nameRule: nameRules.pathSegment, isNamespaced, path },
  );
}

function typeErrors(
  value: Json | undefined,
  path: string,
  problemOf: (text: string) => string | undefined,
): readonly FieldError[] {
  if (value === undefined) return [required(path)];
  if (typeof value !== 'string') return [invalid(path, value, 'must be a string')];
  const problem = value === '' ? 'must not be empty' : problemOf(value);
  return problem === undefined ? [] : [invalid(path, value, problem)];
}

const apiVersionProblem = (text: string): string | undefined =>
  text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined;

function kindProblem(text: string): string | undefined {
  const problems = dns1035LabelProblems(text.toLowerCase());
  return problems.length === 0
    ? undefined
    : `may have mixed case, but should otherwise match: ${problems.join(',')}`;
}
