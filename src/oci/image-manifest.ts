import { isRecord } from '../object/record.ts';
import { isDigest } from './image-reference.ts';
import { invalidImage } from './registry-failure.ts';

/** Everything that a tag may stand for; the order is that of preference. */
export const MANIFEST_MEDIA_TYPES: readonly string[] = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly sizeBytes: number;
}

export type Manifest =
  | { readonly kind: 'image'; readonly layers: readonly Descriptor[] }
  | { readonly kind: 'index'; readonly children: readonly IndexChild[] };

export interface IndexChild extends Descriptor {
  readonly os: string;
  readonly architecture: string;
}

/** Builders allow 127; nothing that we look for has more. */
const MOST_PARTS = 512;

/** Throws `InvalidImage` for what is neither an image nor an index; `image` is its name for people. */
export function parseManifest(bytes: Uint8Array, image: string): Manifest {
  const value = json(bytes, image);
  const layers = partsOf(value, 'layers', image);
  if (layers !== undefined) return { kind: 'image', layers: layers.map((part) => descriptor(part, image)) };
  const children = partsOf(value, 'manifests', image);
  if (children !== undefined) return { kind: 'index', children: children.map((part) => child(part, image)) };
  throw wrong(image, 'its manifest has neither layers nor manifests');
}

/** Release images hold the same files for every processor; this one is always among them (agent/R4). */
export function childFor(
  { os, architecture }: Pick<IndexChild, 'os' | 'architecture'>,
  children: readonly IndexChild[],
) {
  return children.find((candidate) => candidate.os === os && candidate.architecture === architecture);
}

function json(bytes: Uint8Array, image: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (isRecord(value)) return value;
  } catch {
    // Said below: what the parser says would repeat the text.
  }
  throw wrong(image, 'its manifest is no JSON object');
}

function partsOf(
  value: Readonly<Record<string, unknown>>,
  key: string,
  image: string,
): readonly unknown[] | undefined {
  const parts = value[key];
  if (!Array.isArray(parts)) return undefined;
  if (parts.length > MOST_PARTS)
    throw wrong(image, `its manifest has ${parts.length} ${key}, ${MOST_PARTS} at most`);
  return parts;
}

function descriptor(part: unknown, image: string): Descriptor {
  if (!isRecord(part)) throw wrong(image, 'its manifest has a part that is no object');
  const { mediaType = '', digest, size } = part;
  const isWhole =
    typeof mediaType === 'string' &&
    typeof digest === 'string' &&
    isDigest(digest) &&
    typeof size === 'number' &&
    Number.isSafeInteger(size) &&
    size >= 0;
  if (!isWhole) throw wrong(image, 'its manifest has a part without valid digest and size');
  return { mediaType, digest, sizeBytes: size };
}

/** A child that does not say what it is for is for the usual machine, as other clients have it. */
function child(part: unknown, image: string): IndexChild {
  const platform = isRecord(part) && isRecord(part['platform']) ? part['platform'] : undefined;
  const { os = 'linux', architecture = 'amd64' } = platform ?? {};
  return { ...descriptor(part, image), os: String(os), architecture: String(architecture) };
}

const wrong = (image: string, found: string) =>
  invalidImage(`image ${image} cannot be read: ${found}; use an image of an OpenShift release`);
