import type { VersionOfImage } from './cluster-version-controller.ts';

/** Where nobody has a registry: the version that the tag of a release image begins with, as `4.20.1-x86_64` or `-multi`. */
export const tagVersion: VersionOfImage = (image) =>
  Promise.resolve(VERSION_TAG.exec(image.replace(ARCHITECTURE, ''))?.[1]);

const ARCHITECTURE = /-(?:x86_64|aarch64|ppc64le|s390x|multi)$/;
const VERSION_TAG = /:(\d+\.\d+\.\d+(?:-[a-z0-9.-]+)?)$/;
