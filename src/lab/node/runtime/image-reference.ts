import type { CatalogueImage, ImageCatalogue } from './image-catalogue.ts';

/** The name in a reference: `registry:5000/acme/npu:v1@sha256:…` is `registry:5000/acme/npu` (N11). */
export function imageName(reference: string): string {
  const [tagged = ''] = reference.split('@', 1);
  const colon = tagged.lastIndexOf(':');
  // A colon before the last slash belongs to the port of a registry.
  return colon > tagged.lastIndexOf('/') ? tagged.slice(0, colon) : tagged;
}

export interface FoundImage {
  /** Its reference in the catalogue. */
  readonly key: string;
  readonly image: CatalogueImage;
}

/** What stands for an image, if the catalogue knows it: under the very reference, or for all tags under its name. */
export function findImage(catalogue: ImageCatalogue, reference: string): FoundImage | undefined {
  const key = keysOf(reference).find((one) => Object.hasOwn(catalogue, one));
  const image = key === undefined ? undefined : catalogue[key];
  return key === undefined || image === undefined ? undefined : { key, image };
}

/** Under what an image may be in a catalogue, the most exact first. No tag and no digest is the tag `latest`. */
function keysOf(reference: string): readonly string[] {
  const name = imageName(reference);
  const [tagged = '', digest] = reference.split('@', 2);
  if (digest === undefined) return tagged === name ? [name, `${name}:latest`] : [tagged, name];
  return [reference, `${name}@${digest}`, tagged, name];
}
