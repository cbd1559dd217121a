import type { Node } from '../../api/generated/core-v1.ts';
import { isRecord } from '../../object/record.ts';
import type { PresentInstance } from '../../sdk/capabilities/instances.ts';
import { additionalLabels, type Labels, wellKnownLabels } from './desired.ts';

/** Field managers under which this controller writes labels. */
export interface LabelManagers {
  /** Of the update that initialised the Node. */
  readonly initial: string;
  /** Of the refresh, which applies. */
  readonly refresh: string;
}

/** Pure: whether a Node lacks a label that its machine has now, or has it with another value (B8). */
export const hasStaleLabels = ({ metadata: { labels = {} } }: Node, instance: PresentInstance): boolean =>
  Object.entries({ ...additionalLabels(instance), ...wellKnownLabels(instance) }).some(
    ([key, value]) => labels[key] !== value,
  );

/**
 * Pure: the labels to apply, undefined when there is nothing to change (B8). Type, zone and region follow the machine, as
 * they did at the start. A label of the provider is added, and changed as long as nobody but us claims it. What was
 * applied before is said again: what an application leaves out is deleted, and a refresh deletes nothing.
 */
export function refreshedLabels(
  node: Node,
  instance: PresentInstance,
  managers: LabelManagers,
): Labels | undefined {
  const { labels = {} } = node.metadata;
  const isOurs = (key: string): boolean => {
    const owners = ownersOf(node, key);
    return owners.length > 0 && owners.every((owner) => owner === managers.initial || owner === managers.refresh);
  };
  const more = Object.entries(additionalLabels(instance)).filter(
    ([key]) => labels[key] === undefined || isOurs(key),
  );
  const wanted = { ...Object.fromEntries(more), ...wellKnownLabels(instance) };
  const changes = Object.entries(wanted).filter(([key, value]) => labels[key] !== value);
  if (changes.length === 0) return undefined;
  const applied = Object.entries(labels).filter(([key]) => ownersOf(node, key).includes(managers.refresh));
  return Object.fromEntries([...applied, ...changes]);
}

/** Pure: the field managers that claim a label. */
const ownersOf = ({ metadata: { managedFields = [] } }: Node, key: string): readonly string[] =>
  managedFields
    .filter(({ fieldsV1 = {} }) => {
      const metadata = fieldsV1['f:metadata'];
      const labels = isRecord(metadata) ? metadata['f:labels'] : undefined;
      return isRecord(labels) && Object.hasOwn(labels, `f:${key}`);
    })
    .map(({ manager = '' }) => manager);
