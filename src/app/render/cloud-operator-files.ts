import { dayOneFiles, type Installation, imagesOf, installationFiles } from '../../cloud-operator/index.ts';
import { printYaml } from '../../object/yaml.ts';
import { type FileFlags, givenFiles } from './given-files.ts';
import { imageProblem } from './image.ts';
import type { Rendered, RenderedFile } from './rendered.ts';
import { streamText } from './stream.ts';

const FLAG = 'images-file';

/**
 * Images of a release, by key; undefined when no file with them is named. Throws when it cannot be read, or holds what
 * is no image.
 */
export async function givenImages(folder: string, flags: FileFlags<typeof FLAG>, keys: readonly string[]) {
  const { [FLAG]: given } = await givenFiles(folder, flags, { all: [FLAG], required: [] });
  if (given === undefined) return undefined;
  const { images, hints } = imagesOf(given, { keys, problemOf: imageProblem });
  return { images: Object.fromEntries(images), hints };
}

/** The manifests of the operator, as a payload or an installer takes them. `required` are keys of images. */
export function renderCloudOperator(
  installation: Installation,
  isDayOne: boolean,
  required: readonly string[] = [],
): Rendered {
  const files = isDayOne ? dayOneFiles(installation) : installationFiles(installation);
  const manifests = files.map(
    ({ name, objects }): RenderedFile => ({ path: `manifests/${name}`, objects, text: streamText(objects) }),
  );
  // Of the release, not of a cluster.
  const references: RenderedFile = {
    path: 'manifests/image-references',
    objects: [],
    text: printYaml(installation.imageReferences),
  };
  return {
    files: installation.mode === 'replace' && !isDayOne ? [...manifests, references] : manifests,
    hints: [...placeholderHints(installation), ...missingHints(installation, required)],
    input: { ...installation, isDayOne },
  };
}

/** Whoever applies placeholders to a cluster stops its cloud controller manager. */
function placeholderHints({ images }: Installation): readonly string[] {
  const unreleased = Object.values(images).filter((image) => image.includes('.invalid/'));
  if (unreleased.length === 0) return [];
  return [
    `images.json has ${unreleased.length} placeholders, which a release build replaces: for a cluster that runs, give its ConfigMap cloud-controller-manager-images with --images-file`,
  ];
}

function missingHints({ images }: Installation, required: readonly string[]): readonly string[] {
  const missing = required.filter((key) => (images[key] ?? '') === '');
  if (missing.length === 0) return [];
  return [`images.json lacks ${missing.join(', ')}: the operator cannot deploy what runs these images`];
}
