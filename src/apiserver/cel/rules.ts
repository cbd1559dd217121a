import type { Schema } from '../../api/schema/structural.ts';
import { childPath, type FieldError, keyPath, shownValue } from '../../object/field-error.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { nodeOf } from '../../object/validation/node.ts';
import { Correlation } from '../../object/validation/ratchet.ts';
import { type RuleNode, ruleTree } from './rule-node.ts';
import { type RuleProblem, ruleProblems } from './rule-problems.ts';
import { Budget, runRules } from './rule-run.ts';

export type { RuleProblem } from './rule-problems.ts';

export interface RuleOptions {
  /** Whether a rule may fail where nothing changed (X22); true by default when there is an old value. */
  readonly isRatcheting?: boolean;
  /** Gets the failures that ratcheting lets pass, as upstream warns of them. */
  readonly warn?: (text: string) => void;
}

/** The CEL rules of a schema. */
export interface SchemaRules {
  readonly isEmpty: boolean;
  /** What the rules find wrong. `old` is `undefined` on create; `path` is that of the value, empty for a whole object. */
  validate(value: Json, old: Json | undefined, path: string, options?: RuleOptions): FieldError[];
}

export interface CompiledRules {
  readonly rules: SchemaRules;
  /** What is wrong with the rules themselves; found on demand. */
  readonly problems: readonly RuleProblem[];
}

const BASE_PATH = 'spec.validation.openAPIV3Schema';
const known = new WeakMap<Schema, Map<string, CompiledRules>>();

/** The rules of a schema of a custom resource; each compiles once, when first needed. Schemas must not change afterwards. */
export function compileSchemaRules(schema: Schema, basePath: string = BASE_PATH): CompiledRules {
  const byPath = known.get(schema) ?? new Map<string, CompiledRules>();
  const cached = byPath.get(basePath);
  if (cached !== undefined) return cached;
  const root = ruleTree(schema);
  let problems: readonly RuleProblem[] | undefined;
  const compiled: CompiledRules = {
    rules: {
      isEmpty: root.isEmpty,
      validate: (value, old, path, options = {}) =>
        root.isEmpty ? [] : validateRoot(root, { value, old, path }, options),
    },
    get problems() {
      problems ??= ruleProblems(root, basePath);
      return problems;
    },
  };
  byPath.set(basePath, compiled);
  known.set(schema, byPath);
  return compiled;
}

/** A value, what it was, and where it is. */
interface Subject {
  readonly value: Json;
  readonly old: Json | undefined;
  readonly path: string;
  /** The pair for ratcheting, when there is one here. */
  readonly pair?: Correlation | undefined;
  /** The closest pair above; decides where there is none here. */
  readonly above?: Correlation | undefined;
}

function validateRoot(root: RuleNode, subject: Subject, { isRatcheting = true, warn }: RuleOptions): FieldError[] {
  const { value, old } = subject;
  const errors: FieldError[] = [];
  const budget = new Budget();
  const pair =
    isRatcheting && old !== undefined && old !== null
      ? new Correlation(value, old, nodeOf(root.schema))
      : undefined;
  new Validation(errors, budget, warn).node(root, { ...subject, pair });
  return errors;
}

class Validation {
  readonly #errors: FieldError[];
  readonly #budget: Budget;
  readonly #warn: ((text: string) => void) | undefined;

  constructor(errors: FieldError[], budget: Budget, warn: ((text: string) => void) | undefined) {
    this.#errors = errors;
    this.#budget = budget;
    this.#warn = warn;
  }

  node(node: RuleNode, subject: Subject): void {
    const { value, pair, above } = subject;
    if (value === null || this.#budget.isSpent) return;
    if (node.rules.length > 0) {
      runRules(node, subject, {
        budget: this.#budget,
        report: (error, isRatchetable) => {
          const isUnchanged = isRatchetable && (pair ?? above)?.isUnchanged === true;
          if (isUnchanged) this.#warn?.(`${error.field}: ${error.message}`);
          else this.#errors.push(error);
        },
      });
    }
    if (Array.isArray(value)) this.#list(node, value, subject);
    else if (isJsonObject(value)) this.#object(node, value, subject);
  }

  #list(node: RuleNode, list: readonly Json[], { old, path, pair, above }: Subject): void {
    const { items } = node;
    if (items === undefined) return;
    const oldItems = Array.isArray(old) ? indexItems(node.schema, old) : undefined;
    for (const [index, value] of list.entries()) {
      const id = oldItems === undefined ? undefined : itemKey(node.schema, value);
      this.node(items, {
        value,
        old: id === undefined ? undefined : oldItems?.get(id),
        path: keyPath(path, index),
        pair: pair?.item(index),
        above: pair ?? above,
      });
    }
  }

  #object(node: RuleNode, object: JsonObject, subject: Subject): void {
    const { additional, properties } = node;
    if (additional === undefined && properties.size === 0) return;
    for (const key of Object.keys(object)) {
      const property = properties.get(key);
      const child = property ?? additional;
      if (child === undefined) continue;
      const path = property === undefined ? keyPath(subject.path, key) : childPath(subject.path, key);
      this.node(child, { ...this.#below(key, subject), value: object[key] ?? null, path });
    }
  }

  #below(key: string, { old, pair, above }: Subject): Pick<Subject, 'old' | 'pair' | 'above'> {
    const oldValue = isJsonObject(old) ? (getKey(old, key) ?? undefined) : undefined;
    // Both sides of the whole object were converted to one version, so these two never show a change.
    const isHidden = pair !== undefined && above === undefined && (key === 'apiVersion' || key === 'kind');
    if (isHidden) return { old: oldValue, pair: undefined, above: undefined };
    return { old: oldValue, pair: pair?.field(key), above: pair ?? above };
  }
}

/** Only items of lists of type map have an old value: the one with the same keys. */
function indexItems(schema: Schema, old: readonly Json[]): ReadonlyMap<string, Json> | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
  const index = new Map<string, Json>();
  for (const item of old) {
    const key = itemKey(schema, item);
    if (key !== undefined && !index.has(key)) index.set(key, item);
  }
  return index;
}

function itemKey(schema: Schema, item: Json): string | undefined {
  if (!isJsonObject(item)) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return JSON.stringify(
    keys.map((key) => shownValue(getKey(item, key) ?? schema.items?.properties?.[key]?.default)),
  );
}
