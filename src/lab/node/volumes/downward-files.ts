import type { Container, DownwardAPIVolumeFile, Pod } from '../../../api/generated/core-v1-types.ts';
import { goQuote } from '../../../object/validation/go-text.ts';
import { resourceField } from '../environment/container-resources.ts';
import { type FilePayload, type PayloadFile, payloadPath } from './file-payload.ts';
import { VolumeProblem } from './pod-volumes.ts';

export interface DownwardSources {
  readonly pod: Pod;
  /** Of the node. */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** What a pod says of itself, as files. */
export function downwardFiles(
  items: readonly DownwardAPIVolumeFile[],
  defaultMode: number,
  { pod, allocatable }: DownwardSources,
): FilePayload {
  const files = new Map<string, PayloadFile>();
  for (const { path, mode = defaultMode, fieldRef, resourceFieldRef } of items) {
    const text =
      resourceFieldRef === undefined
        ? podField(pod, fieldRef?.fieldPath ?? '')
        : resourceField(resourceFieldRef, { pod, container: ownerOf(pod), allocatable });
    files.set(payloadPath(path), { bytes: Buffer.from(text, 'utf8'), mode });
  }
  return files;
}

/** A volume belongs to no container: the API server refuses a field that names none. */
const ownerOf = ({ spec }: Pod): Container => spec.containers[0] ?? { name: '' };

const SUBSCRIPT = /^metadata\.(labels|annotations)\['([^']+)'\]$/;

const FIELDS: Readonly<Record<string, (metadata: Pod['metadata']) => string>> = {
  'metadata.name': ({ name }) => name,
  'metadata.namespace': ({ namespace = '' }) => namespace,
  'metadata.uid': ({ uid = '' }) => uid,
  'metadata.labels': ({ labels = {} }) => mapLines(labels),
  'metadata.annotations': ({ annotations = {} }) => mapLines(annotations),
};

/** A field of the metadata; labels and annotations as lines of `key="value"`, sorted. */
export function podField({ metadata }: Pod, path: string): string {
  const field = Object.hasOwn(FIELDS, path) ? FIELDS[path] : undefined;
  if (field !== undefined) return field(metadata);
  const [, map, key = ''] = SUBSCRIPT.exec(path) ?? [];
  if (map === undefined) throw new VolumeProblem('FailedMount', `unsupported fieldPath: ${path}`);
  const values = (map === 'labels' ? metadata.labels : metadata.annotations) ?? {};
  return Object.hasOwn(values, key) ? (values[key] ?? '') : '';
}

const mapLines = (map: Readonly<Record<string, string>>): string =>
  Object.entries(map)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .join('\n');
