import { randomUUID } from 'node:crypto';
import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, ensureFolder, writeProblem } from '../../apiserver/store/data-folder.ts';
import type { Kubeconfig } from '../../pki/kubeconfig.ts';
import { CommandError } from '../failures.ts';

export interface KubeconfigPlace {
  readonly file: string;
  /** What to do when it cannot be written there. */
  readonly way: string;
}

/** Refuses a place where the kubeconfig could not be written, before anything is started. */
export const requireKubeconfigPlace = (place: KubeconfigPlace): void =>
  written(place, '', (temporary) => rmSync(temporary));

/** Readable by its owner only, because it holds a key; never half written, and no key stays beside it. */
export async function writeKubeconfig(place: KubeconfigPlace, config: Kubeconfig): Promise<void> {
  // Loaded when the server is already up: a cold start does not wait for it.
  const { printYaml } = await import('../../object/yaml.ts');
  written(place, printYaml(config), renameSync);
}

/** Gives the text to `finish` in a file beside the wanted one. */
function written(
  { file, way }: KubeconfigPlace,
  text: string,
  finish: (temporary: string, target: string) => void,
): void {
  try {
    const target = targetOf(file);
    ensureFolder(dirname(target), 0o700);
    const temporary = `${target}.${randomUUID()}`;
    try {
      writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
      finish(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
  } catch (error) {
    // The folder it is to be in is what is a file then.
    const why = codeOf(error) === 'EEXIST' ? 'a part of the path is a file' : writeProblem(error);
    throw new CommandError('SW1105', 3, `the kubeconfig cannot be written to ${file}: ${why}. ${way}`, error);
  }
}

/** Where a link leads. Only a file is replaced: as root, /dev/null would be lost to everybody. */
function targetOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return file;
  if (!found.isFile()) throw new Error(found.isDirectory() ? 'it is a folder' : 'it is not an ordinary file');
  return realpathSync(file);
}
