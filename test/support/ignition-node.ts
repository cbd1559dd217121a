import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Outcome, outcomeOf, scratchDirectory } from './scratch.ts';

interface IgnitionFile {
  readonly path: string;
  readonly mode?: number;
  readonly contents: { readonly source: string };
}

interface IgnitionConfig {
  readonly storage: { readonly files?: readonly IgnitionFile[] };
  readonly systemd?: { readonly units?: readonly { readonly name: string; readonly contents: string }[] };
}

const DATA = 'data:text/plain;charset=utf-8;base64,';

/** What a config has, by name: the texts of scripts and units, and the modes of files. */
export function contentsOf(config: string) {
  // Configs of ours have this shape; a field that is missing fails the test that looks at it.
  const { storage, systemd } = JSON.parse(config) as IgnitionConfig;
  const files = storage.files ?? [];
  return {
    scripts: new Map(files.map(({ path, contents }) => [path, decoded(contents.source)])),
    modes: new Map(files.map(({ path, mode }) => [path, mode])),
    units: new Map((systemd?.units ?? []).map(({ name, contents }) => [name, contents])),
  };
}

function decoded(source: string): string {
  if (!source.startsWith(DATA)) throw new Error(`${source.slice(0, 60)} is no text in base64`);
  return Buffer.from(source.slice(DATA.length), 'base64').toString();
}

/** Paths of a real node that scripts name; here they lie below a temporary root. */
const NODE_PATHS = ['/etc/', '/run/', '/var/lib/', '/usr/bin/hostnamectl'];

/**
 * A node to run scripts of configs on: a temporary root, with programs that note how they were called. The current
 * directory is empty when nothing ran that should not.
 */
export class IgnitionNode implements AsyncDisposable {
  readonly #root: Awaited<ReturnType<typeof scratchDirectory>>;
  readonly #home: string;

  constructor(root: Awaited<ReturnType<typeof scratchDirectory>>) {
    this.#root = root;
    this.#home = join(root.path, 'home');
  }

  static async create(): Promise<IgnitionNode> {
    const node = new IgnitionNode(await scratchDirectory());
    for (const folder of ['home', 'bin', 'run', 'etc/kubernetes', 'var/lib', 'usr/bin']) {
      await mkdir(join(node.#root.path, folder), { recursive: true });
    }
    await node.program('hostnamectl', '', 'usr/bin');
    return node;
  }

  get home(): string {
    return this.#home;
  }

  path(path: string): string {
    return join(this.#root.path, path);
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(this.path(path)), { recursive: true });
    await writeFile(this.path(path), text);
  }

  /** The text of a file; undefined when it is not there. */
  read(path: string): Promise<string | undefined> {
    return readFile(this.path(path), 'utf8').catch(() => undefined);
  }

  /** A program that notes its name and arguments, and then does what the lines of bash say. */
  async program(name: string, body: string, folder = 'bin'): Promise<void> {
    const path = join(this.#root.path, folder, name);
    const calls = this.path('calls');
    await writeFile(
      path,
      `#!/bin/bash\n{ printf '%s' '${name}'; printf ' [%s]' "$@"; echo; } >> '${calls}'\n${body}\n`,
    );
    await chmod(path, 0o755);
  }

  async calls(): Promise<readonly string[]> {
    const text = (await this.read('calls')) ?? '';
    return text.split('\n').filter((line) => line !== '');
  }

  /** Runs a script with the paths of the node leading below the temporary root. */
  async run(script: string, variables: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    let text = script;
    for (const path of NODE_PATHS) text = text.replaceAll(path, this.path(path));
    await writeFile(this.path('script'), `cd '${this.#home}' || exit 99\n${text}`);
    const PATH = `${this.path('bin')}:/usr/bin:/bin`;
    return outcomeOf('/bin/bash', [this.path('script')], { PATH, ...variables });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#root.remove();
  }
}
