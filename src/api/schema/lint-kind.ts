import { celRulesOf, type WithSchema } from './cel-rules.ts';
import type { KindVersion } from './crd.ts';
import type { Schema, ValidationRule } from './structural.ts';
import { fieldPath, visitSchema } from './visit.ts';

interface Lintable extends WithSchema {
  readonly crdVersion?: KindVersion;
}

/**
 * What the server's estimate of CEL costs may refuse (K6): text, lists and maps without an upper bound that a rule
 * reads, or that hold what has a rule. Also paths of columns, replicas and selectable fields that lead nowhere, and a
 * status that is lost, which the server does not notice. One sentence each; an empty list is good.
 */
export function lintKind(kind: Lintable): readonly string[] {
  const found = new Set<string>();
  const report = (node: Schema, path: string): void => {
    const bound = missingBound(node);
    if (bound !== undefined) found.add(`${kind.kind} ${path}: a CEL rule depends on it and it has no ${bound}`);
  };
  for (const { path } of celRulesOf(kind)) {
    // A rule runs once for each item of what it is in.
    visitSchema(kind.schema, '', (node, at) => {
      if (path.startsWith(`${at}[]`) || path.startsWith(`${at}.*`)) report(node, at);
    });
  }
  for (const { path, schema, rule } of celRulesOf(kind)) visitRead(schema, path, mentionsOf(rule), report);
  return [...found, ...lostPaths(kind), ...lostStatus(kind)];
}

/** Only plain paths into our own halves: `.spec.color`. */
const PLAIN_PATH = /^\.(?:spec|status)(?:\.[A-Za-z0-9_]+)*$/;

function lostPaths({ kind, schema, crdVersion = {} }: Lintable): readonly string[] {
  const { columns = [], selectableFields = [], subresources: { scale } = {} } = crdVersion;
  const paths: readonly (readonly [string, string])[] = [
    ...columns.map(({ name, jsonPath }) => [`column ${name}`, jsonPath] as const),
    ...selectableFields.map((path) => ['selectable field', path] as const),
    ...Object.entries(scale ?? {}).map(([name, path]) => [`scale ${name}`, path] as const),
  ];
  return paths
    .filter(([, path]) => PLAIN_PATH.test(path) && !hasField(schema, path.split('.').slice(1)))
    .map(([what, path]) => `${kind} ${what}: ${path} is not in the schema`);
}

/** Whoever writes the status gets no error and no status. */
function lostStatus({ kind, schema, crdVersion }: Lintable): readonly string[] {
  const isOn = crdVersion?.subresources?.status === true;
  return isOn && !hasField(schema, ['status'])
    ? [`${kind} status: the subresource is on, but the schema has no status, so the server drops it`]
    : [];
}

function hasField(schema: Schema, path: readonly string[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true) return true;
  const { properties = {}, additionalProperties } = schema;
  const below = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
  return typeof below === 'object' ? hasField(below, rest) : below === true;
}

/** The key that bounds a node from above, when it lacks it. */
function missingBound(node: Schema): 'maxLength' | 'maxItems' | 'maxProperties' | undefined {
  if (node.type === 'array') return node.maxItems === undefined ? 'maxItems' : undefined;
  if (typeof node.additionalProperties === 'object') {
    return node.maxProperties === undefined ? 'maxProperties' : undefined;
  }
  const isFreeText = node.type === 'string' && node.enum === undefined && node.format === undefined;
  const isText = isFreeText || node['x-kubernetes-int-or-string'] === true;
  return isText && node.maxLength === undefined ? 'maxLength' : undefined;
}

interface Mentions {
  /** Every name in the rule that may be a field. */
  readonly names: ReadonlySet<string>;
  /** `self` is used as a whole, so all that is in it is read. */
  readonly isWhole: boolean;
}

const TEXT_LITERAL = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;

function mentionsOf({ rule, messageExpression = '' }: ValidationRule): Mentions {
  const text = `${rule} ${messageExpression}`.replaceAll(TEXT_LITERAL, '""');
  return {
    names: new Set(text.match(/[A-Za-z_][A-Za-z0-9_]*/g)),
    isWhole: /\b(?:self|oldSelf)\b(?!\s*[.[?])/.test(text),
  };
}

/** Calls for the nodes that a rule reads: those whose names it mentions, with the items of lists and maps. */
function visitRead(
  node: Schema,
  path: string,
  mentions: Mentions,
  visit: (node: Schema, path: string) => void,
): void {
  visit(node, path);
  for (const [name, property] of Object.entries(node.properties ?? {})) {
    if (mentions.isWhole || mentions.names.has(name)) {
      visitRead(property, fieldPath(path, name), mentions, visit);
    }
  }
  if (node.items !== undefined) visitRead(node.items, `${path}[]`, mentions, visit);
  if (typeof node.additionalProperties === 'object') {
    visitRead(node.additionalProperties, `${path}.*`, mentions, visit);
  }
}
