import type { ClusterReport } from './report.ts';
import type { Row } from './row.ts';
import type { ToldCondition } from './told-condition.ts';

/** The report as programs read it: everything, nothing folded. What is not known is left out. */
export function reportDocument(report: ClusterReport): Readonly<Record<string, unknown>> {
  const { root, next, problems, ...head } = report;
  return defined({ ...head, problems, next, tree: rowDocument(root) });
}

interface RowDocument {
  readonly [field: string]: unknown;
}

function rowDocument(row: Row): RowDocument {
  const { kind, name, namespace, apiVersion, health, word, since, why, next } = row;
  return defined({
    apiVersion,
    kind,
    name: name === '' ? undefined : name,
    namespace,
    health,
    state: word,
    since,
    why,
    next,
    conditions: row.conditions.length === 0 ? undefined : row.conditions.map(conditionDocument),
    children: row.children.length === 0 ? undefined : row.children.map(rowDocument),
  });
}

const conditionDocument = ({ since, ...condition }: ToldCondition): RowDocument =>
  defined({ ...condition, lastTransitionTime: since });

const defined = (fields: RowDocument): RowDocument =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
