import {
  CLONED_FROM_GROUP_KIND_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
  CLUSTER_NAME_LABEL,
  type ContractReference,
  MachineSet,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { apiVersionOf, type Kind } from '../../../api/object.ts';
import { fieldAt, type Unstructured } from '../../../api/unstructured.ts';
import { userError } from '../../../base/errors.ts';
import { setOwnerReference } from '../../../object/owner-references.ts';
import { isRecord } from '../../../object/record.ts';
import { pluralOf } from './contract-kinds.ts';
import type { External } from './external-objects.ts';

export interface CloneWish {
  readonly name: string;
  readonly owner: MachineSet;
  /** Of the Machine; those of the template stay where it says nothing. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Clone {
  readonly kind: Kind<Unstructured>;
  readonly object: Unstructured;
  /** How the Machine refers to it. */
  readonly reference: ContractReference;
}

const SUFFIX = 'Template';

/** The object that a template is for: its kind without `Template`, its version, and what it holds (S4). Pure. */
export function cloneOf({ kind: templateKind, object: template }: External, wish: CloneWish): Clone {
  const { name, owner, labels, annotations } = wish;
  const body = fieldAt(template, 'spec', 'template');
  if (!isRecord(body) || !templateKind.kind.endsWith(SUFFIX))
    throw userError(
      'InvalidTemplate',
      `${templateKind.kind} ${template.metadata.name} has no spec.template to clone; refer to a template`,
    );
  const { metadata = {}, ...content } = body;
  const given = isRecord(metadata) ? metadata : {};
  const kindName = templateKind.kind.slice(0, -SUFFIX.length);
  const kind: Kind<Unstructured> = { ...templateKind, kind: kindName, plural: pluralOf(kindName) };
  const { namespace = '' } = owner.metadata;
  const object: Unstructured = {
    ...content,
    apiVersion: apiVersionOf(kind),
    kind: kindName,
    metadata: {
      name,
      namespace,
      labels: { ...textsOf(given['labels']), ...labels, [CLUSTER_NAME_LABEL]: owner.spec.clusterName },
      annotations: {
        ...textsOf(given['annotations']),
        ...annotations,
        [CLONED_FROM_NAME_ANNOTATION]: template.metadata.name,
        [CLONED_FROM_GROUP_KIND_ANNOTATION]: `${templateKind.kind}.${templateKind.group}`,
      },
    },
  };
  return {
    kind,
    object: setOwnerReference(owner, object, { kind: MachineSet }),
    reference: { apiGroup: kind.group, kind: kindName, name },
  };
}

const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text]] : [])),
      )
    : {};
