import type { JsonObject } from '../../api/json.ts';
import type { Metal3Machine, Metal3MachineSpec } from '../../api/metal3/infrastructure-v1beta2.ts';

const LIVE_ISO = 'live-iso';

/** Pure: how a version of Metal3 spells the format of an image; v1beta2 gave it another name. */
const formatField = (version: string): 'format' | 'diskFormat' =>
  version === 'v1beta1' ? 'format' : 'diskFormat';
const otherField = (version: string): 'format' | 'diskFormat' => (version === 'v1beta1' ? 'diskFormat' : 'format');

/** Pure: whether a machine boots this ISO, and nothing is left of the image it had before. */
export function hasLiveImage({ spec }: Pick<Metal3Machine, 'spec'>, url: string, version: string): boolean {
  const image = spec?.image ?? {};
  return (
    image.url === url &&
    image[formatField(version)] === LIVE_ISO &&
    image.checksum === undefined &&
    image.checksumType === undefined
  );
}

/** Pure: the merge patch that makes a machine boot an ISO. It has no checksum: its content is made for each download. */
export const liveImagePatch = (url: string, version: string): JsonObject => ({
  spec: {
    image: {
      url,
      [formatField(version)]: LIVE_ISO,
      [otherField(version)]: null,
      checksum: null,
      checksumType: null,
    },
  },
});

/** Pure: the same for what a template says of its machines. */
export function withLiveImage(spec: Metal3MachineSpec, url: string, version: string): Metal3MachineSpec {
  return { ...spec, image: { url, [formatField(version)]: LIVE_ISO } };
}
