import {
  ContainerProblem,
  type ContainerRuntime,
  type ContainerStart,
  type RunningContainer,
} from './container-runtime.ts';
import type { ImageCatalogue } from './image-catalogue.ts';
import { findImage, imageName } from './image-reference.ts';
import type { InProcessRuntime, PodTransport } from './in-process-runtime.ts';
import { catalogueImageId, type ProcessRuntime } from './process-runtime.ts';
import { type SimulatedRuntime, simulatedImageId } from './simulated-runtime.ts';

export interface RuntimeOptions {
  readonly catalogue: ImageCatalogue;
  readonly processes: ProcessRuntime;
  readonly simulated: SimulatedRuntime;
  /** Runs the images of these names in this process, for pods of a cluster to which it knows the way. */
  readonly inProcess?: {
    readonly names: readonly string[];
    readonly runtime: InProcessRuntime;
    readonly transportAs?: PodTransport;
  };
  /** What becomes of images that the catalogue does not know (N12). */
  readonly unknownImages: 'simulate' | 'fail';
}

/** Runs what the catalogue knows as processes, and everything else as the policy says (N11, N12). */
export function containerRuntime({
  catalogue,
  processes,
  simulated,
  inProcess,
  unknownImages,
}: RuntimeOptions): ContainerRuntime {
  return {
    images: Object.keys(catalogue),
    imageId: (image) => {
      const found = findImage(catalogue, image);
      return found === undefined ? simulatedImageId(image) : catalogueImageId(imageName(image), found.image);
    },
    start: async (start): Promise<RunningContainer> => {
      const { key = '', image } = findImage(catalogue, start.container.image ?? '') ?? {};
      if (image?.run !== undefined && inProcess?.names.includes(key) === true)
        return inProcess.runtime.start(start, image.run, inProcess.transportAs);
      if (image !== undefined) return await processes.start(start, image);
      if (unknownImages === 'fail') throw unknownImage(start, Object.keys(catalogue));
      return simulated.start(start);
    },
  };
}

const MOST_NAMES = 10;

function unknownImage({ container }: ContainerStart, names: readonly string[]): ContainerProblem {
  const { image = '', imagePullPolicy } = container;
  if (imagePullPolicy === 'Never')
    return new ContainerProblem(
      'ErrImageNeverPull',
      `Container image "${image}" is not present with pull policy of Never`,
    );
  const known = names.length === 0 ? 'no images' : names.slice(0, MOST_NAMES).join(', ');
  const rest = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} others` : '';
  return new ContainerProblem(
    'ErrImagePull',
    `Failed to pull image "${image}": the catalogue of the lab does not have it, it has ${known}${rest}; add it to images, or set unknownImages to simulate`,
  );
}
