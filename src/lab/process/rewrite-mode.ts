import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homeOf } from './child-environment.ts';
import {
  checkWorkdir,
  type Launch,
  type MountMode,
  notCreated,
  prepareDirectory,
  type Variables,
} from './launch.ts';
import { layOutMounts, placeOf } from './mount-tree.ts';
import { keptPaths, located, type Redirect } from './mounts.ts';
import { rewritten } from './path-rewriting.ts';
import type { ProcessSpec } from './process-host.ts';
import { programPath } from './program-path.ts';

/**
 * Programs see the machine as it is; the paths of their mounts are replaced in what they are told (P8). `keep`: paths of
 * this machine that are always meant as they are, such as those of the lab itself.
 */
export class RewriteMode implements MountMode {
  readonly #keep: readonly string[];

  constructor(keep: readonly string[]) {
    this.#keep = keep;
  }

  async launch(
    spec: ProcessSpec,
    environment: (env: Variables) => Variables,
    when: 'start' | 'beside',
  ): Promise<Launch> {
    if (spec.needsNamespace === true) throw notCreated(NEEDS_NAMESPACE);
    const mounts = await prepareDirectory(spec);
    const isLaidOut = when === 'beside' && existsSync(join(spec.directory, 'mounts'));
    if (mounts.length > 0 && !isLaidOut) await layOutMounts(spec.directory, mounts);
    const kept = keptPaths([...this.#keep, ...(spec.hostPaths ?? [])], mounts);
    const places = mounts.map(({ mountPath }) => ({ mountPath, source: placeOf(spec.directory, mountPath) }));
    const told = whatIsTold(spec, (text) => rewritten(text, [...places, ...kept]));

    const workdir =
      spec.workdir === undefined ? homeOf(spec.directory) : located(spec.workdir, [...places, ...kept]);
    await checkWorkdir(workdir, spec.workdir ?? workdir);
    const { argv, changes } = told;
    const env: Variables = {
      ...environment(told.env),
      ...(mounts.length > 0 && { SLIPWAY_MOUNTS: mountTable([...mounts, ...kept]) }),
    };
    const file = await programPath(argv[0] ?? '', { path: env['PATH'] ?? '', workdir, locate: (at) => at });
    return { file, argv, workdir, env, rewritten: changes, isAnnounced: false, scripts: [] };
  }
}

const NEEDS_NAMESPACE =
  'the image needs its files at fixed paths (needs: namespace), and this lab rewrites paths instead; ' +
  'run it on Linux where unprivileged user namespaces are allowed, or with isolation: namespace';

interface Told {
  readonly argv: readonly string[];
  readonly env: Variables;
  readonly changes: readonly string[];
}

/** Values are not named: a variable may be a secret. */
function whatIsTold({ argv, env }: ProcessSpec, rewrite: (text: string) => string): Told {
  const isChanged = (text: string) => rewrite(text) !== text;
  return {
    argv: argv.map(rewrite),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, rewrite(value)])),
    changes: [
      ...argv.flatMap((text, at) => (isChanged(text) ? [`argument ${at}`] : [])),
      ...Object.entries(env).flatMap(([name, value]) => (isChanged(value) ? [`variable ${name}`] : [])),
    ],
  };
}

/** For the preload, which redirects the file calls of Node programs. */
const mountTable = (redirects: readonly Redirect[]): string =>
  JSON.stringify(redirects.map(({ mountPath, source }) => ({ mountPath, source })));
