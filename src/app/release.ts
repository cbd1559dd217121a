import { releaseVersion } from '../apiserver/release.ts';
import type { StringSetting } from './settings.ts';

export { releaseVersion };

/** The one image, which every rendered workload names; the lab maps this name to the local code. */
export const releaseImage = (): string => `slipway.dev/slipway:${releaseVersion()}`;

/** The one row through which every verb that names the image takes it. */
export const IMAGE_SETTING = {
  type: 'string',
  default: undefined,
  env: 'SLIPWAY_IMAGE',
  description: 'the image that rendered workloads name; without it, the released image of this version',
} as const satisfies StringSetting;
