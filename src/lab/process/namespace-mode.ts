import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { homeOf } from './child-environment.ts';
import {
  checkWorkdir,
  type Launch,
  type MountMode,
  notCreated,
  prepareDirectory,
  type Variables,
} from './launch.ts';
import { isWithin, keptPaths, located, type Mount } from './mounts.ts';
import { mountList, namespaceScript } from './namespace-script.ts';
import {
  canonicalMounts,
  canonicalPath,
  type DirectoryReader,
  type NamespaceView,
  namespaceView,
} from './namespace-view.ts';
import type { ProcessSpec } from './process-host.ts';
import { programPath } from './program-path.ts';

export interface NamespaceModeOptions {
  /** The program `unshare` … */
  readonly unshare: string;
  /** … and how it makes the namespaces here. */
  readonly flags: readonly string[];
  /** Of the lab: a mount inside a volume may get its place in there. */
  readonly directory: string;
  /** Paths of this machine that no mount may hide. */
  readonly keep: readonly string[];
}

/** Programs see their mounts exactly where they are, in a mount namespace of their own (P9). */
export class NamespaceMode implements MountMode {
  readonly #options: NamespaceModeOptions;
  #scripts = 0;

  constructor(options: NamespaceModeOptions) {
    this.#options = options;
  }

  async launch(spec: ProcessSpec, environment: (env: Variables) => Variables): Promise<Launch> {
    const mounts = await this.#mounts(spec);

    const locate = (path: string) => located(canonicalPath(path, mounts, MACHINE), mounts);
    const workdir = spec.workdir ?? homeOf(spec.directory);
    await checkWorkdir(locate(workdir), workdir);
    const [name = '', ...programArguments] = spec.argv;
    const env = environment(spec.env);
    const file = await programPath(name, { path: env['PATH'] ?? '', workdir, locate });
    const direct = { file, argv: spec.argv, workdir, env, rewritten: [], isAnnounced: false, scripts: [] };
    if (mounts.length === 0) return direct;

    const { unshare, flags } = this.#options;
    const { script, scripts } = await this.#write(spec.directory, mounts, env);
    // Volumes that are mounted on the node later are seen, nothing that the container mounts gets out.
    const argv = [
      unshare,
      ...flags,
      '--propagation',
      'slave',
      '/bin/sh',
      script,
      workdir,
      file,
      ...programArguments,
    ];
    return { ...direct, file: unshare, argv, workdir: '/', isAnnounced: true, scripts };
  }

  async #mounts(spec: ProcessSpec): Promise<readonly Mount[]> {
    const given = await prepareDirectory(spec);
    const kept = keptPaths([...this.#options.keep, ...(spec.hostPaths ?? [])], given).filter(({ source }) =>
      existsSync(source),
    );
    const wanted = [...given, ...kept.map((path) => ({ ...path, isReadOnly: false }))];
    const real = await Promise.all(
      wanted.map(async (mount) => ({ ...mount, source: await realpath(mount.source) })),
    );
    return canonicalMounts(real, MACHINE);
  }

  /** Each run has files of its own: a probe may start while the container does. */
  async #write(directory: string, mounts: readonly Mount[], env: Variables) {
    const ours = await realpath(this.#options.directory);
    const isOurs = (source: string) => isWithin(source, ours);
    const view = namespaceView(mounts, { reader: MACHINE, isOurs });
    await makeMissing(view);
    await mkdir(join(directory, 'root'), { recursive: true });
    const root = await realpath(join(directory, 'root'));
    const name = join(directory, `namespace-${this.#scripts++}`);
    const [script, siblingList, bindList] = [`${name}.sh`, `${name}.siblings`, `${name}.binds`];
    await writeFile(
      script,
      namespaceScript({ view, root, siblingList, bindList, unshare: this.#options.unshare, env }),
      // A variable may be a secret.
      { mode: 0o600 },
    );
    await writeFile(siblingList, mountList(view.siblings, root));
    await writeFile(bindList, mountList(view.binds, root));
    return { script, scripts: [script, siblingList, bindList] };
  }
}

async function makeMissing({ missing }: NamespaceView): Promise<void> {
  for (const { path, kind } of missing) {
    try {
      await mkdir(kind === 'directory' ? path : dirname(path), { recursive: true });
      if (kind === 'file') await writeFile(path, '', { flag: 'a' });
    } catch (error) {
      throw notCreated(`cannot make the mount point ${path}: ${messageOf(error)}`);
    }
  }
}

/** Directories of this machine. */
const MACHINE: DirectoryReader = {
  kind: (path) => {
    try {
      const facts = lstatSync(path);
      if (facts.isSymbolicLink()) return 'link';
      return facts.isDirectory() ? 'directory' : 'file';
    } catch {
      return undefined;
    }
  },
  entries: (path) => {
    try {
      return readdirSync(path).sort();
    } catch {
      return [];
    }
  },
  linkText: (path) => readlinkSync(path),
};
