import { BOOTSTRAP_FOLDERS, renderBootstrap } from '../../cloud-operator/index.ts';
import type { ChosenProvider } from '../cloud-operator/chosen-provider.ts';
import { type FileFlags, givenFiles } from './given-files.ts';
import { imageProblem } from './image.ts';
import type { Rendered } from './rendered.ts';

/** What the installer has, by flag (section 15 of the operator's specification). */
export const BOOTSTRAP_FLAGS = [
  'cluster-infrastructure-file',
  'images-file',
  'cloud-config-file',
  'credentials-file',
] as const;
const REQUIRED = ['cluster-infrastructure-file', 'images-file'] as const;

/** Static pods, cloud configuration and credentials of the bootstrap machine. Throws a CommandError with all files that cannot be read. */
export async function bootstrapFor(
  folder: string,
  flags: FileFlags<(typeof BOOTSTRAP_FLAGS)[number]>,
  { registry, id }: ChosenProvider,
): Promise<Rendered> {
  const given = await givenFiles(folder, flags, { all: BOOTSTRAP_FLAGS, required: REQUIRED });
  const {
    'cluster-infrastructure-file': infrastructure,
    'images-file': images,
    'cloud-config-file': cloudConfig,
    'credentials-file': credentials,
  } = given;
  const input = {
    infrastructure,
    images,
    ...(cloudConfig !== undefined && { cloudConfig }),
    ...(credentials !== undefined && { credentials }),
  };
  const choice = { registry, imageProblem, ...(id !== undefined && { provider: id }) };
  const { pods, files, hints } = renderBootstrap(input, choice);
  const manifests = files.filter(({ path }) => path.startsWith('bootstrap/'));
  return {
    files: manifests.map(({ path, content }, at) => ({
      path,
      objects: pods.slice(at, at + 1),
      text: content.toString(),
    })),
    plain: files.filter((one) => !manifests.includes(one)),
    folders: BOOTSTRAP_FOLDERS,
    hints,
    // Credentials are not part of a digest that others read.
    input: { infrastructure: infrastructure.text, images: images.text, cloudConfig: cloudConfig?.text ?? null },
  };
}
