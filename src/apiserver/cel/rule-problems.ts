import type { Schema, ValidationRule } from '../../api/schema/structural.ts';
import {
  type FieldError,
  type FieldErrorReason,
  invalid,
  notSupported,
  required,
} from '../../object/field-error.ts';
import { followPath } from './field-path.ts';
import type { CompiledRule, RuleNode } from './rule-node.ts';

/** Something wrong with a rule of a schema, found when the definition is written. */
export interface RuleProblem {
  /** Below `openAPIV3Schema`: `.properties[spec].x-kubernetes-validations[0].rule`. */
  readonly path: string;
  readonly reason: FieldErrorReason;
  readonly message: string;
}

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** Where a node is, and what keeps its old value from being found. */
interface Place {
  readonly path: string;
  readonly basePath: string;
  /** The list within which items cannot be paired with old ones. */
  readonly uncorrelatable: string | undefined;
}

/** All problems of the rules of a schema. `basePath` is what messages put before a path. */
export const ruleProblems = (root: RuleNode, basePath: string): readonly RuleProblem[] =>
  nodeProblems(root, { path: '', basePath, uncorrelatable: undefined }).problems;

interface Found {
  readonly problems: readonly RuleProblem[];
  /** Something is wrong with a rule beside its expression: upstream then compiles none at this place or above. */
  readonly hasShapeProblem: boolean;
}

function nodeProblems(node: RuleNode, place: Place): Found {
  const below = children(node, place).map(([child, where]) => nodeProblems(child, where));
  const shape = node.rules.flatMap((rule, index) => shapeProblems(rule, index, node.schema, place.path));
  const problems = [...below.flatMap((found) => found.problems), ...shape];
  const hasShapeProblem = shape.length > 0 || below.some((found) => found.hasShapeProblem);
  if (hasShapeProblem || node.rules.length === 0) return { problems, hasShapeProblem };
  return { problems: [...problems, ...expressionProblems(node, place)], hasShapeProblem };
}

function children(node: RuleNode, place: Place): readonly (readonly [RuleNode, Place])[] {
  const at = (suffix: string): Place => ({ ...place, path: `${place.path}${suffix}` });
  const found: (readonly [RuleNode, Place])[] = [];
  if (node.items !== undefined) {
    const isMap = node.schema['x-kubernetes-list-type'] === 'map';
    const uncorrelatable = isMap
      ? place.uncorrelatable
      : (place.uncorrelatable ?? `${place.basePath}${place.path}`);
    found.push([node.items, { ...at('.items'), uncorrelatable }]);
  }
  if (node.additional !== undefined) found.push([node.additional, at('.additionalProperties')]);
  for (const [name, child] of node.properties) found.push([child, at(`.properties[${name}]`)]);
  return found;
}

/** Where a problem is, below the rule. */
type At = (field: string, error: FieldError) => RuleProblem;

const locator =
  (path: string, index: number): At =>
  (field, { reason, message }) => ({
    path: `${path}.x-kubernetes-validations[${index}].${field}`,
    reason,
    message,
  });

function shapeProblems(rule: ValidationRule, index: number, schema: Schema, path: string): readonly RuleProblem[] {
  const at = locator(path, index);
  const problems: RuleProblem[] = [...textProblems(rule, at)];
  const { messageExpression = '', reason } = rule;
  if (messageExpression !== '' && messageExpression.trim() === '') {
    problems.push(at('messageExpression', required('', 'messageExpression must be non-empty if specified')));
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    problems.push(at('reason', notSupported('', reason, REASONS)));
  }
  return [...problems, ...pathProblems(rule.fieldPath ?? '', schema, at)];
}

/** One problem at most: the first that holds. */
function textProblems({ rule, message = '' }: ValidationRule, at: At): readonly RuleProblem[] {
  if (rule.trim() === '') return [at('rule', required('', 'rule is not specified'))];
  if (message !== '' && message.trim() === '') {
    return [at('message', invalid('', message, 'must be non-empty if specified'))];
  }
  if (message.trim().includes('\n')) return [at('message', invalid('', message, 'must not contain line breaks'))];
  if (rule.trim().includes('\n') && message.trim() === '') {
    return [at('message', required('', 'message must be specified if rule contains line breaks'))];
  }
  return [];
}

function pathProblems(fieldPath: string, schema: Schema, at: At): readonly RuleProblem[] {
  if (fieldPath === '') return [];
  const problem = (text: string): RuleProblem => at('fieldPath', invalid('', fieldPath, text));
  return [
    ...(fieldPath.trim() === '' ? [problem('must be non-empty if specified')] : []),
    ...(fieldPath.includes('\n') ? [problem('must not contain line breaks')] : []),
    ...('problem' in followPath(fieldPath, schema) ? [problem('must be a valid path')] : []),
  ];
}

function expressionProblems(node: RuleNode, place: Place): readonly RuleProblem[] {
  if (node.type === undefined) {
    const text = 'internal error: failed to retrieve type information for x-kubernetes-validations';
    const path = `${place.path}.x-kubernetes-validations`;
    return [{ path, reason: 'InternalError', message: `Internal error: ${text}` }];
  }
  return node.compiled.flatMap((compiled, index) => compiledProblems(compiled, locator(place.path, index), place));
}

function compiledProblems(compiled: CompiledRule, at: At, { uncorrelatable }: Place): readonly RuleProblem[] {
  const { rule, program, message, usesOldSelf } = compiled;
  const problems: RuleProblem[] = [];
  if (typeof program === 'string') problems.push(at('rule', shownRule(rule, program)));
  if (typeof message === 'string') problems.push(at('messageExpression', shownRule(rule, message)));
  if (usesOldSelf && uncorrelatable !== undefined) {
    const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`;
    problems.push(at('rule', invalid('', rule.rule, text)));
  }
  if (!usesOldSelf && rule.optionalOldSelf !== undefined) {
    const text = 'may not be set if oldSelf is not used in rule';
    problems.push(at('optionalOldSelf', invalid('', rule.optionalOldSelf, text)));
  }
  return problems;
}

/** Upstream prints the whole rule as its Go structure, with the characters escaped that HTML minds. */
function shownRule(rule: ValidationRule, text: string): FieldError {
  const shown = JSON.stringify({
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  });
  const escaped = shown.replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return { reason: 'FieldValueInvalid', field: '', message: `Invalid value: ${escaped}: ${text}` };
}
