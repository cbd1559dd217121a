import { CommandError } from '../failures.ts';
import { releaseImage } from '../release.ts';
import { shown } from '../settings.ts';

const LONGEST_NAME = 255;

// The grammar of registries, as `distribution/reference` has it.
const HOST_PART = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?';
/** A first part with neither a dot nor a port is part of the path, unless it is this machine. */
const REGISTRY = `(?:localhost|${HOST_PART}(?:\\.${HOST_PART})+|(?:${HOST_PART}|\\[[0-9A-Fa-f:]+\\])(?=:))(?::[0-9]{1,5})?`;
const PATH_PART = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const TAG = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const IMAGE = new RegExp(`^(?<name>(?:${REGISTRY}/)?${PATH_PART}(?:/${PATH_PART})*)(?::${TAG})?(?:@${DIGEST})?$`);

/** What is wrong with what no kubelet could pull; whether there is such an image, nobody asks. */
export function imageProblem(image: string): string | undefined {
  const name = IMAGE.exec(image)?.groups?.['name'];
  if (name !== undefined && name.length <= LONGEST_NAME) return undefined;
  return `"${shown(image)}" is no name of an image: write registry[:port]/path[:tag][@digest], the path in lower case, such as example.com/team/provider:1`;
}

/** Throws a CommandError where there is a problem with it. */
export function requireImage(image: string): void {
  const problem = imageProblem(image);
  if (problem !== undefined) throw new CommandError('SW1002', 2, problem);
}

/** For whoever names none: pods of the released image would find no definition. */
export const missingImageHint = (): string =>
  `the pods run ${releaseImage()}, which has to contain your provider: build an image with it and name it with --image (docs/how-to/real-cluster.md)`;
