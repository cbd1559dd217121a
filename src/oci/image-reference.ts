import { userError } from '../base/errors.ts';

/** What names an image: at least one of tag and digest is there. */
export interface ImageReference {
  /** `host` or `host:port`. */
  readonly registry: string;
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:…`; goes before the tag. */
  readonly digest?: string;
}

/** Name, tag and the longer of the two digests. */
const LONGEST_TEXT = 255 + 1 + 128 + 1 + 135;
const LONGEST_NAME = 255;
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
const PATH_PART = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;

export const isDigest = (text: string): boolean => DIGEST.test(text);

/**
 * Reads `host[:port]/repository[:tag][@digest]`. Nothing is filled in: an image of a cluster names its registry and says
 * which of its images is meant. Throws a user error that says what is missing.
 */
export function parseImageReference(text: string): ImageReference {
  const [named = '', digest, ...more] = text.split('@');
  const [, registry = '', repository = '', tag] = /^([^/]*)\/([^:]*)(?::(.*))?$/s.exec(named) ?? [];
  const reference = {
    registry,
    repository,
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
  };
  const problem =
    text.length > LONGEST_TEXT
      ? `is longer than ${LONGEST_TEXT} characters`
      : more.length > 0
        ? 'has more than one "@"'
        : problemOf(reference);
  if (problem === undefined) return reference;
  const shown = text.length > LONGEST_TEXT ? `${text.slice(0, 80)}…` : text;
  throw userError(
    'InvalidImageReference',
    `image "${shown}" ${problem}; write it as host[:port]/repository:tag or host[:port]/repository@sha256:…`,
  );
}

/** Undefined when there is none. */
function problemOf({ registry, repository, tag, digest }: ImageReference): string | undefined {
  if (digest !== undefined && !isDigest(digest)) return 'has no valid digest behind "@"';
  if (!isRegistry(registry)) return 'names no registry';
  if (!isRepository(registry, repository)) return 'has no valid repository';
  if (tag !== undefined && !TAG.test(tag)) return `has no valid tag: "${tag}"`;
  return tag === undefined && digest === undefined ? 'has neither tag nor digest' : undefined;
}

/** As it is written. */
export function imageText({ registry, repository, tag, digest }: ImageReference): string {
  return `${registry}/${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

/** A host, and not the first part of a repository: it has a dot or a port, or is this machine. */
function isRegistry(text: string): boolean {
  if (!HOST.test(text) || !(/[.:]/.test(text) || text === 'localhost')) return false;
  const [host = ''] = text.split(':');
  return text.startsWith('[') || host.split('.').every((label) => LABEL.test(label));
}

const isRepository = (registry: string, repository: string): boolean =>
  `${registry}/${repository}`.length <= LONGEST_NAME &&
  repository.split('/').every((part) => PATH_PART.test(part));
