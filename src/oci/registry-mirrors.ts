import type { ImageReference } from './image-reference.ts';

/** Where images of a source are looked for first, as `registries.conf` has it. */
export interface RegistryMirror {
  /** `host[:port]` or `host[:port]/path`: everything below it is meant. */
  readonly source: string;
  /** In the order in which they are asked; the source itself comes last. */
  readonly mirrors: readonly MirrorLocation[];
}

export interface MirrorLocation {
  readonly location: string;
  /** It may be asked without TLS. */
  readonly isInsecure?: boolean;
  /** Which references it is asked for; all unless told otherwise. */
  readonly pullFrom?: 'all' | 'digest-only' | 'tag-only';
}

/** One place to ask. */
export interface RegistryPlace {
  /** `host[:port]`, which credentials are for. */
  readonly registry: string;
  readonly repository: string;
  readonly scheme: 'https' | 'http';
  /** Asked only when the place before it, the same with TLS, gave no answer. */
  readonly isFallback?: true;
}

/** All places where an image may be, in the order in which they are asked. */
export function placesOf(reference: ImageReference, mirrors: readonly RegistryMirror[]): readonly RegistryPlace[] {
  const { registry, repository, digest } = reference;
  const name = `${registry}/${repository}`;
  const own: RegistryPlace = { registry, repository, scheme: isLoopback(registry) ? 'http' : 'https' };
  const [closest] = mirrors
    .filter(({ source }) => isBelow(name, source))
    .toSorted((a, b) => b.source.length - a.source.length);
  if (closest === undefined) return [own];
  const wanted = digest === undefined ? 'tag-only' : 'digest-only';
  const asked = closest.mirrors.filter(({ pullFrom = 'all' }) => pullFrom === 'all' || pullFrom === wanted);
  return [...asked.flatMap((mirror) => mirrored(name.slice(closest.source.length), mirror)), own];
}

const isBelow = (name: string, source: string): boolean => name === source || name.startsWith(`${source}/`);

/** A location without anything behind its host is no repository for an image that is the source itself. */
function mirrored(rest: string, { location, isInsecure = false }: MirrorLocation): readonly RegistryPlace[] {
  const name = `${location}${rest}`;
  const slash = name.indexOf('/');
  if (slash < 0) return [];
  const place = { registry: name.slice(0, slash), repository: name.slice(slash + 1) };
  if (isLoopback(place.registry)) return [{ ...place, scheme: 'http' }];
  const secure: RegistryPlace = { ...place, scheme: 'https' };
  return isInsecure ? [secure, { ...place, scheme: 'http', isFallback: true }] : [secure];
}

/** Nobody can listen on the way to this machine itself, and registries there have no certificate. */
const isLoopback = (registry: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/.test(registry);
