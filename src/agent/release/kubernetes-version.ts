import { messageOf, retryError } from '../../base/errors.ts';
import { isRecord } from '../../object/record.ts';
import { parseYaml } from '../../object/yaml.ts';

/** The ImageStream in a release image that lists what the release is made of. */
export const IMAGE_REFERENCES = '/release-manifests/image-references';
const BUILD_VERSIONS = 'io.openshift.build.versions';

/** The Kubernetes version that an ImageStream names (R4). Throws `KubernetesVersionNotFound`; `image` is for people. */
export function kubernetesVersionIn(text: string, image: string): string {
  const spec = field(imageStream(text, image), 'spec');
  const tags = field(spec, 'tags');
  for (const tag of Array.isArray(tags) ? tags : []) {
    const versions = field(field(tag, 'annotations'), BUILD_VERSIONS);
    const [name, version, ...more] = typeof versions === 'string' ? versions.split('=') : [];
    if (name === 'kubernetes' && version !== undefined && more.length === 0) return version;
  }
  throw kubernetesVersionNotFound(
    `unable to extract k8s from release image-references: unable to find kubernetes version: no tag in ${image} has ` +
      `annotation ${BUILD_VERSIONS} with kubernetes=VERSION; use an image of an OpenShift release`,
  );
}

/** A tag may be pushed anew, so that trying again is not in vain. */
export const kubernetesVersionNotFound = (message: string, cause?: unknown) =>
  retryError('KubernetesVersionNotFound', message, cause === undefined ? {} : { cause });

function imageStream(text: string, image: string): unknown {
  try {
    return parseYaml(text);
  } catch (thrown) {
    const found = `unable to load release image-references: ${messageOf(thrown)} in ${image}`;
    throw kubernetesVersionNotFound(`${found}; use an image of an OpenShift release`, thrown);
  }
}

const field = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined);
