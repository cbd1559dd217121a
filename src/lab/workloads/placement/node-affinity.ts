import type {
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
} from '../../../api/generated/core-v1-types.ts';
import {
  checkedRequirement,
  type LabelOperator,
  type LabelRequirement,
  meets,
  SelectorProblem,
} from '../../../object/label-requirement.ts';

/** Whether `nodeSelector` and the required node affinity of a pod both allow the node (K2, W19). `nodeName` is not looked at. */
export function nodeMatches(
  { nodeSelector = {}, affinity }: Pick<PodSpec, 'nodeSelector' | 'affinity'>,
  node: Node,
): boolean {
  const labels = labelsOf(node);
  if (Object.entries(nodeSelector).some(([key, value]) => !Object.hasOwn(labels, key) || labels[key] !== value))
    return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesTerms(required.nodeSelectorTerms, node);
}

/** The nodes that the required affinity asks for by name; undefined when it does not, or may mean others too. */
export function namedNodes({ affinity }: Pick<PodSpec, 'affinity'>): ReadonlySet<string> | undefined {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = (required?.nodeSelectorTerms ?? []).map(({ matchFields = [] }) =>
    matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In'),
  );
  if (terms.length === 0 || terms.some((fields) => fields.length === 0)) return undefined;
  const inTerm = (fields: readonly NodeSelectorRequirement[]) =>
    fields.map(({ values = [] }) => values).reduce((one, other) => one.filter((name) => other.includes(name)));
  return new Set(terms.flatMap(inTerm));
}

/** Whether one of the terms matches. An empty term matches nothing, nor does one that cannot be understood. */
export const matchesTerms = (terms: readonly NodeSelectorTerm[], node: Node): boolean =>
  terms.some((term) => matchesTerm(term, node));

function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const labels = labelsOf(node);
  return (
    matchExpressions.every((expression) => matchesLabel(expression, labels)) &&
    matchFields.every((field) => matchesField(field, node.metadata.name))
  );
}

const labelsOf = ({ metadata }: Node): Record<string, string> => ({ ...metadata.labels });

const OPERATORS: Readonly<Record<NodeSelectorRequirement['operator'], LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

function matchesLabel(expression: NodeSelectorRequirement, labels: Record<string, string>): boolean {
  const requirement = requirementOf(expression);
  return requirement !== undefined && meets(requirement, labels);
}

/** Undefined for what no validation lets through, but an object of another server may have. */
function requirementOf({ key, operator, values = [] }: NodeSelectorRequirement): LabelRequirement | undefined {
  if (!Object.hasOwn(OPERATORS, operator)) return undefined;
  if ((operator === 'Gt' || operator === 'Lt') && values.length !== 1) return undefined;
  try {
    return checkedRequirement({ key, operator: OPERATORS[operator], values });
  } catch (error) {
    if (error instanceof SelectorProblem) return undefined;
    throw error;
  }
}

/** The name is the only field there is; any other one is empty on every node. */
function matchesField({ key, operator, values = [] }: NodeSelectorRequirement, name: string): boolean {
  if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return false;
  const isEqual = values[0] === (key === 'metadata.name' ? name : '');
  return operator === 'In' ? isEqual : !isEqual;
}
