/** A file or directory of the node that a container sees at another place. */
export interface Mount {
  /** Absolute, as the container sees it, without a slash at the end. */
  readonly mountPath: string;
  /** Absolute, on this machine. */
  readonly source: string;
  readonly isReadOnly: boolean;
}

/** Where paths of a container lead to. Those that stay where they are lead to themselves. */
export type Redirect = Pick<Mount, 'mountPath' | 'source'>;

/** Whether a path is inside a directory, or is the directory itself. */
export const isWithin = (path: string, directory: string): boolean =>
  path === directory || directory === '/' || path.startsWith(`${directory}/`);

/** Mounts within others come after them. */
export const outerFirst = <T extends Redirect>(mounts: readonly T[]): readonly T[] =>
  mounts.toSorted((a, b) => a.mountPath.length - b.mountPath.length);

/** A path of a container as a path of this machine: that of the innermost mount around it. */
export function located(path: string, redirects: readonly Redirect[]): string {
  const around = outerFirst(redirects).findLast(({ mountPath }) => isWithin(path, mountPath));
  return around === undefined ? path : around.source + path.slice(around.mountPath.length);
}

/**
 * Paths of this machine that a mount would hide, as redirects to themselves: without them a volume at `/tmp` would
 * hide the lab's own files there.
 */
export const keptPaths = (paths: readonly string[], mounts: readonly Redirect[]): readonly Redirect[] =>
  [...new Set(paths)]
    .filter((path) => mounts.some(({ mountPath }) => path !== mountPath && isWithin(path, mountPath)))
    .map((path) => ({ mountPath: path, source: path }));
