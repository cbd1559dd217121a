import { join } from 'node:path';

/** What programs of an image expect to find; that of the lab's Node comes first, so that `node` is the lab's own. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Names that the lab sets; a manifest cannot change them. */
const LAB = 'SLIPWAY_LAB';
const CONTAINER = 'SLIPWAY_CONTAINER';
const RUN = 'SLIPWAY_RUN';

/** Who a process belongs to. */
export interface Membership {
  /** Of the lab. */
  readonly identity: string;
  readonly container?: string;
  /** Only for programs that run beside the container: they end alone. */
  readonly run?: string;
}

const variablesOf = ({ identity, container, run }: Membership): Readonly<Record<string, string>> => ({
  [LAB]: identity,
  ...(container !== undefined && { [CONTAINER]: container }),
  ...(run !== undefined && { [RUN]: run }),
});

/** What everything that a container starts has in its environment, as `NAME=value` (P4). */
export const marks = (membership: Membership): readonly string[] =>
  Object.entries(variablesOf(membership)).map(([name, value]) => `${name}=${value}`);

export interface ChildEnvironmentOptions {
  /** Of the manifest and the image, complete. */
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly membership: Membership;
  /** Directory of the lab's own Node. */
  readonly nodeDirectory: string;
  /** File URL. */
  readonly preload?: string;
  /** Directory where Node keeps what it made of programs; a manifest may name another one. */
  readonly compileCache?: string;
  /** What the lab adds for all children, such as the addresses. */
  readonly additions: Readonly<Record<string, string>>;
}

/** The whole environment of a child: nothing of the lab's own gets there (P3). */
export function childEnvironment(options: ChildEnvironmentOptions): Readonly<Record<string, string>> {
  const { env, directory, membership, nodeDirectory, preload, compileCache, additions } = options;
  return {
    PATH: `${nodeDirectory}:${SYSTEM_PATH}`,
    HOME: homeOf(directory),
    TMPDIR: temporaryOf(directory),
    LANG: 'C.UTF-8',
    ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }),
    ...env,
    ...additions,
    ...variablesOf(membership),
    ...(preload !== undefined && { NODE_OPTIONS: nodeOptions(env['NODE_OPTIONS'], preload) }),
  };
}

/** Where a container is at home, unless its manifest says otherwise. */
export const homeOf = (directory: string): string => join(directory, 'home');

export const temporaryOf = (directory: string): string => join(directory, 'tmp');

const nodeOptions = (own: string | undefined, preload: string): string =>
  [...(own === undefined || own === '' ? [] : [own]), `--import=${preload}`].join(' ');
