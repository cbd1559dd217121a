import type { ConfigMap, KeyToPath, Secret } from '../../../api/generated/core-v1-types.ts';
import { type FilePayload, type PayloadFile, payloadPath } from './file-payload.ts';
import { VolumeProblem } from './pod-volumes.ts';

/** What a volume wants of a ConfigMap or Secret. */
export interface KeyProjection {
  readonly name: string;
  /** All keys under their own names unless told otherwise. */
  readonly items?: readonly KeyToPath[] | undefined;
  readonly defaultMode: number;
  /** The object and its keys need not be there. */
  readonly isOptional: boolean;
}

/** The files that a ConfigMap gives. Throws a VolumeProblem for what is missing and not optional. */
export function configMapFiles(configMap: ConfigMap | undefined, projection: KeyProjection): FilePayload {
  if (configMap === undefined) return filesOfNothing('configmap', projection);
  const { data = {}, binaryData = {} } = configMap;
  const values = new Map([...textValues(data), ...encodedValues(binaryData)]);
  return keyedFiles(values, projection, 'config');
}

/** The files that a Secret gives. Throws a VolumeProblem for what is missing and not optional. */
export function secretFiles(secret: Secret | undefined, projection: KeyProjection): FilePayload {
  if (secret === undefined) return filesOfNothing('secret', projection);
  return keyedFiles(new Map(encodedValues(secret.data ?? {})), projection, 'secret');
}

type Texts = Readonly<Record<string, string>>;

const textValues = (data: Texts): [string, Uint8Array][] =>
  Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'utf8')]);

const encodedValues = (data: Texts): [string, Uint8Array][] =>
  Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64')]);

function filesOfNothing(what: string, { name, isOptional }: KeyProjection): FilePayload {
  if (isOptional) return new Map();
  throw new VolumeProblem('FailedMount', `${what} "${name}" not found`);
}

function keyedFiles(
  values: ReadonlyMap<string, Uint8Array>,
  { items, defaultMode, isOptional }: KeyProjection,
  what: 'config' | 'secret',
): FilePayload {
  if (items === undefined || items.length === 0) {
    return new Map([...values].map(([key, bytes]) => [payloadPath(key), { bytes, mode: defaultMode }]));
  }
  const files = new Map<string, PayloadFile>();
  for (const { key, path, mode = defaultMode } of items) {
    const bytes = values.get(key);
    if (bytes !== undefined) files.set(payloadPath(path), { bytes, mode });
    else if (!isOptional) throw new VolumeProblem('FailedMount', `references non-existent ${what} key: ${key}`);
  }
  return files;
}
