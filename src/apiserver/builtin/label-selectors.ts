import { childPath, type FieldError, forbidden, invalid, required } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { labelSelectorOf, matchesLabels, SelectorProblem } from '../../object/label-selector.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../object/names.ts';
import { checkEach, checkLabels, checkRule } from './checks.ts';
import { listAt, objectAt, objectsAt, textAt, textsAt } from './fields.ts';

/** A LabelSelector object: matchLabels and matchExpressions, joined by "and". */
export function checkSelector(selector: JsonObject, path: string): readonly FieldError[] {
  return [
    ...checkLabels(objectAt(selector, 'matchLabels'), childPath(path, 'matchLabels')),
    ...checkEach(objectsAt(selector, 'matchExpressions'), childPath(path, 'matchExpressions'), checkRequirement),
  ];
}

function checkRequirement(requirement: JsonObject, path: string): readonly FieldError[] {
  const values = textsAt(requirement, 'values');
  const valuesPath = `${path}.values`;
  const problems: FieldError[] = [];
  const operator = textAt(requirement, 'operator');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      problems.push(required(valuesPath, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      problems.push(forbidden(valuesPath, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    problems.push(invalid(`${path}.operator`, operator, 'not a valid selector operator'));
  }
  problems.push(...checkRule(`${path}.key`, textAt(requirement, 'key'), qualifiedNameProblems));
  values.forEach((value, index) => {
    problems.push(...checkRule(`${valuesPath}[${index}]`, value, labelValueProblems));
  });
  return problems;
}

export const isEmptySelector = (selector: JsonObject): boolean =>
  Object.keys(objectAt(selector, 'matchLabels')).length === 0 && listAt(selector, 'matchExpressions').length === 0;

/** Whether labels satisfy a selector; one that cannot be read matches nothing. */
export function matchesSelector(selector: JsonObject, labels: JsonObject): boolean {
  try {
    return matchesLabels(labelSelectorOf(selector), labels);
  } catch (error) {
    if (error instanceof SelectorProblem) return false;
    throw error;
  }
}
