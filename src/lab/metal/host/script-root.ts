import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { userError } from '../../../base/errors.ts';
import type { IgnitionFile } from './ignition-config.ts';

const PROGRAM_DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/opt/homebrew/bin'];
/** What scripts of nodes use. Nothing else is found: a script from a hostile label cannot do much. */
const TOOLS = [
  'awk',
  'cat',
  'cut',
  'dirname',
  'grep',
  'head',
  'mkdir',
  'mktemp',
  'mv',
  'sed',
  'sort',
  'tail',
  'tee',
  'tr',
  'uniq',
];
const RUN_TIMEOUT_MS = 20_000;
const MOST_OUTPUT_BYTES = 64 * 1024;
const PATHS = /(?<![\w./$}~-])\/(etc|run|var|usr\/local)\//g;
const PROGRAMS = /(?<![\w./$}~-])\/(?:usr\/)?s?bin\/(?=[a-z])/g;
/** A kubelet as the machine-config-operator of OpenShift starts it on premises: over several lines, without a provider ID. */
const KUBELET_UNIT = `[Unit]
Description=Kubernetes Kubelet
[Service]
Type=notify
ExecStartPre=/bin/mkdir --parents /etc/kubernetes/manifests
EnvironmentFile=-/etc/kubernetes/kubelet-env
ExecStart=/usr/local/bin/kubenswrapper \\
    /usr/bin/kubelet \\
      --config=/etc/kubernetes/kubelet.conf \\
      --node-labels=node-role.kubernetes.io/x,\${CUSTOM_KUBELET_LABELS} \\
      --v=2
`;
const FAKES: Readonly<Record<string, string>> = {
  hostnamectl: '[ "$1" = set-hostname ] || [ "$1" = hostname ] || exit 0\nprintf %s "$2" > ./lab-hostname\n',
  systemctl:
    'if [ "$1" = cat ]; then while IFS= read -r line; do printf "%s\\n" "$line"; done < ./lab-kubelet.service; fi\n',
  sudo: 'exec "$@"\n',
  restorecon: 'exit 0\n',
  hostname: '[ -f ./lab-hostname ] && IFS= read -r name < ./lab-hostname; printf "%s\\n" "$name"\n',
};

export interface ScriptRun {
  readonly exitCode: number;
  readonly output: string;
}

/**
 * A directory that stands for the disk of a machine. Scripts see `/etc`, `/run`, `/var` and `/usr/local` in it, because
 * their text is changed before it runs; programs of the machine that the lab has no use for do nothing.
 */
export class ScriptRoot {
  readonly #directory: string;
  readonly #bash: string;

  private constructor(directory: string, bash: string) {
    this.#directory = directory;
    this.#bash = bash;
  }

  /** Empty, whatever was there. Rejects with a userError when there is no bash on this machine. */
  static async create(
    directory: string,
    programDirectories: readonly string[] = PROGRAM_DIRECTORIES,
  ): Promise<ScriptRoot> {
    const bash = await programIn('bash', programDirectories);
    if (bash === undefined) {
      const where = programDirectories.join(', ');
      throw userError(
        'BashMissing',
        `the lab runs the scripts of its hosts with bash, and there is none in ${where}; install bash`,
      );
    }
    await rm(directory, { recursive: true, force: true });
    await mkdir(join(directory, 'lab-bin'), { recursive: true });
    const root = new ScriptRoot(directory, bash);
    for (const [name, text] of Object.entries(FAKES))
      await root.write({ path: `/lab-bin/${name}`, text: `#!${bash}\n${text}`, mode: 0o755 });
    for (const tool of TOOLS) {
      const found = await programIn(tool, programDirectories);
      if (found !== undefined) await symlink(found, join(directory, 'lab-bin', tool));
    }
    for (const path of ['etc/kubernetes', 'etc/systemd/system', 'run', 'var/lib', 'usr/local/bin', 'tmp'])
      await mkdir(join(directory, path), { recursive: true });
    await root.write({ path: '/lab-kubelet.service', text: KUBELET_UNIT, mode: 0o644 });
    return root;
  }

  /** Rejects when the path leads out of the root. */
  async write({ path, text, mode }: IgnitionFile): Promise<void> {
    const file = this.#place(path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: (mode & 0o777) | 0o600 });
  }

  /** Undefined when there is none. */
  async read(path: string): Promise<string | undefined> {
    return await readFile(this.#place(path), 'utf8').catch(() => undefined);
  }

  /** Texts of the files in a directory whose names end so, in the order of their names. */
  async readAll(directory: string, suffix: string): Promise<readonly string[]> {
    const names = await readdir(this.#place(directory)).catch((): string[] => []);
    const texts = names
      .filter((name) => name.endsWith(suffix))
      .toSorted()
      .map((name) => this.read(join(directory, name)));
    return (await Promise.all(texts)).filter((text) => text !== undefined);
  }

  /** Runs a script that was written before, with nothing but these variables. */
  async run(path: string, env: Readonly<Record<string, string>>): Promise<ScriptRun> {
    const script = await this.read(path);
    if (script === undefined) return { exitCode: 203, output: `${path} is not there` };
    await writeFile(this.#place(path), relocated(script), { mode: 0o755 });
    const options = {
      cwd: this.#directory,
      timeout: RUN_TIMEOUT_MS,
      maxBuffer: MOST_OUTPUT_BYTES,
      env: {
        ...env,
        PATH: join(this.#directory, 'lab-bin'),
        TMPDIR: './tmp',
        HOME: this.#directory,
        LANG: 'C.UTF-8',
      },
    };
    return await new Promise((settle) => {
      const child = execFile(
        this.#bash,
        ['--noprofile', '--norc', `.${path}`],
        options,
        (error, stdout, stderr) => {
          const output = `${stdout}${stderr}`.trim();
          settle({ exitCode: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, output });
        },
      );
      child.stdin?.end();
    });
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  #place(path: string): string {
    const file = resolve(this.#directory, `.${path}`);
    if (relative(this.#directory, file).startsWith('..'))
      throw userError('PathOutsideOfHost', `"${path}" leads out of the disk of the host`);
    return file;
  }
}

/** Scripts run in the root, so that a path relative to it is the one that they mean. */
export const relocated = (script: string): string => {
  const [first = '', ...rest] = script.split('\n');
  const text = (line: string) => line.replace(PATHS, './$1/').replace(PROGRAMS, '');
  return [first.startsWith('#!') ? first : text(first), ...rest.map(text)].join('\n');
};

async function programIn(name: string, directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const file = join(directory, name);
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return undefined;
}
