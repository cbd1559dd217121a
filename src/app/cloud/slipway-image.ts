import { join } from 'node:path';
import type { ImageCatalogue } from '../../lab/index.ts';
import { slipwayPackage } from '../init/slipway-package.ts';
import { releaseImage } from '../release.ts';

/** Not root, as in the image (deploy/Containerfile). */
const USER = 65_532;

/** The one image, which in a lab is the code that runs here. */
export function slipwayImages(): ImageCatalogue {
  const { root, isClone } = slipwayPackage();
  const argv = isClone
    ? ['node', '--conditions=slipway-source', join(root, 'src', 'cli', 'main.ts')]
    : ['node', join(root, 'dist', 'cli', 'main.js')];
  return { [releaseImage()]: { argv, entrypoint: argv.length, user: USER } };
}
