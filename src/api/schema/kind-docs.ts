import type { KindNames } from './crd.ts';
import type { Schema } from './structural.ts';
import { visitSchema } from './visit.ts';

type Row = readonly [field: string, type: string, fallback: string, description: string];

/** The reference page of a kind: what it is, and a table of its fields (K7). The same definition gives the same text. */
export function kindDocs(names: Pick<KindNames, 'group' | 'version' | 'kind' | 'scope'>, schema: Schema): string {
  const rows = fieldRows(schema);
  return [
    `## ${names.kind}`,
    '',
    `\`${names.group}/${names.version}\`, ${names.scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}.`,
    ...(schema.description === undefined ? [] : ['', schema.description]),
    '',
    '| Field | Type | Default | Description |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row.map(cell).join(' | ')} |`),
    '',
  ].join('\n');
}

const SERVER_FIELDS = ['', 'apiVersion', 'kind', 'metadata'];

function fieldRows(schema: Schema): readonly Row[] {
  const rows: Row[] = [];
  visitSchema(schema, '', (node, path, isRequired) => {
    // The items of a list are told by its type, unless they say something of their own.
    const isItem = path.endsWith('[]') || path.endsWith('.*');
    if (SERVER_FIELDS.includes(path) || (isItem && node.description === undefined)) return;
    const fallback = node.default === undefined ? '' : `\`${JSON.stringify(node.default)}\``;
    rows.push([
      `\`${path}\`${isRequired && !isItem ? ' *' : ''}`,
      typeText(node),
      fallback,
      descriptionText(node),
    ]);
  });
  return rows;
}

function typeText(node: Schema): string {
  if (node['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (node['x-kubernetes-embedded-resource'] === true) return 'object of any kind';
  if (node.enum !== undefined) return node.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (node.items !== undefined) return `list of ${typeText(node.items)}`;
  if (typeof node.additionalProperties === 'object') return `map of ${typeText(node.additionalProperties)}`;
  const type = node.type ?? 'any value';
  const isPlain = node.format === undefined || type === 'integer' || type === 'number';
  return isPlain ? type : `${type} (${node.format})`;
}

function descriptionText(node: Schema): string {
  const rules = (node['x-kubernetes-validations'] ?? []).map(({ message, rule }) => message ?? rule);
  return [node.description, boundsText(node), ...rules]
    .filter((text) => text !== undefined && text !== '')
    .join(' ');
}

const BOUNDS = [
  ['minimum', 'at least'],
  ['maximum', 'at most'],
  ['minLength', 'characters at least'],
  ['maxLength', 'characters at most'],
  ['minItems', 'items at least'],
  ['maxItems', 'items at most'],
  ['minProperties', 'entries at least'],
  ['maxProperties', 'entries at most'],
] as const;

function boundsText(node: Schema): string {
  const bounds = BOUNDS.filter(([key]) => node[key] !== undefined).map(([key, words]) =>
    key === 'minimum' || key === 'maximum' ? `${words} ${node[key]}` : `${node[key]} ${words}`,
  );
  return bounds.length === 0 ? '' : `(${bounds.join(', ')})`;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');
