import { readFileSync } from 'node:fs';
import type { StringSetting } from './settings.ts';

/** The version in package.json, which is two folders up both in the sources and in the published package. */
export function releaseVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  return typeof version === 'string' ? version : 'unknown';
}

/** The one image, which every rendered workload names; the lab maps this name to the local code. */
export const releaseImage = (): string => `slipway.dev/slipway:${releaseVersion()}`;

/** The one row through which every verb that names the image takes it. */
export const IMAGE_SETTING = {
  type: 'string',
  default: undefined,
  env: 'SLIPWAY_IMAGE',
  description: 'the image that rendered workloads name; without it, the released image of this version',
} as const satisfies StringSetting;
