import { posix } from 'node:path';
import { SlipwayError } from '../base/errors.ts';
import { childFor, type Descriptor, type Manifest } from './image-manifest.ts';
import { layerContent } from './layer-content.ts';
import { invalidImage } from './registry-failure.ts';
import { tarEntries } from './tar-reader.ts';
import type { VerifiedBlob } from './verified-blob.ts';

/** Where an image is read from. */
export interface ImageSource {
  readonly place: string;
  manifestOf(reference: string): Promise<Manifest>;
  blob(descriptor: Descriptor): Promise<VerifiedBlob>;
}

/** What is read of an image are its descriptions, the largest of which has less than 1 MiB. */
const LARGEST_FILE = 16 * 1024 * 1024;
const MOST_LINKS = 5;
/** An index may hold indexes. */
const MOST_INDEXES = 3;

type Found = { readonly content: Uint8Array } | { readonly target: string };

/**
 * The bytes of one file of an image (agent/R4): newest layer first, links followed, files that a newer layer removed not
 * noticed. Nothing is returned that does not have the digest which the manifest names.
 */
export async function fileInImage(source: ImageSource, reference: string, path: string): Promise<Uint8Array> {
  const layers = await layersOf(source, reference);
  let wanted = path;
  for (let links = 0; links <= MOST_LINKS; links++) {
    const found = await newest(source, layers, wanted);
    if (found === undefined)
      throw invalidImage(
        `file ${wanted} not found in Image ${source.place}: none of its ${layers.length} layers has it`,
      );
    if ('content' in found) return found.content;
    wanted = found.target;
  }
  throw invalidImage(
    `too many symlink resolutions, possible loop: ${path} of ${source.place} leads through more than ${MOST_LINKS} links`,
  );
}

async function layersOf(source: ImageSource, reference: string): Promise<readonly Descriptor[]> {
  let wanted = reference;
  for (let indexes = 0; indexes <= MOST_INDEXES; indexes++) {
    const manifest = await source.manifestOf(wanted);
    if (manifest.kind === 'image') return manifest.layers;
    const child = childFor({ os: 'linux', architecture: 'amd64' }, manifest.children);
    if (child === undefined) {
      const platforms = manifest.children.map(({ os, architecture }) => `${os}/${architecture}`).join(', ');
      throw invalidImage(
        `${source.place} has no image for linux/amd64 under ${reference}: found ${platforms || 'none'}`,
      );
    }
    wanted = child.digest;
  }
  throw invalidImage(
    `${source.place} has too many indexes under ${reference}: more than ${MOST_INDEXES} in each other`,
  );
}

async function newest(
  source: ImageSource,
  layers: readonly Descriptor[],
  path: string,
): Promise<Found | undefined> {
  for (const layer of layers.toReversed()) {
    const found = await inLayer(await source.blob(layer), path);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Unpacking ends at the first hit; the rest of the layer is only compared with its digest. */
async function inLayer(blob: VerifiedBlob, path: string): Promise<Found | undefined> {
  try {
    const found = await firstHit(blob, path);
    await blob.finish();
    return found;
  } catch (thrown) {
    // Bytes that were damaged on their way look like a damaged layer; the registry is to blame then.
    if (thrown instanceof SlipwayError && thrown.reason === 'InvalidImage') await blob.finish();
    throw thrown;
  } finally {
    await blob.abandon();
  }
}

async function firstHit(blob: VerifiedBlob, path: string): Promise<Found | undefined> {
  for await (const entry of tarEntries(layerContent(blob, blob.sizeBytes))) {
    if (posix.join('/', entry.name) !== path) continue;
    if (entry.kind === 'symbolic-link') return { target: posix.resolve(posix.dirname(path), entry.linkName) };
    if (entry.kind === 'hard-link') return { target: posix.join('/', entry.linkName) };
    if (entry.kind === 'file') return { content: await entry.read(LARGEST_FILE) };
  }
  return undefined;
}
