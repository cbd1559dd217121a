import { access, readFile } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { LabOptions } from '../../lab/index.ts';
import { CommandError } from '../failures.ts';
import { shownPath } from '../journey/plain-text.ts';

/** A lab as somebody described it in a file (lab B4). */
export interface Scenario {
  /** Of the file, without its extension: what the lab is called. */
  readonly name: string;
  readonly options: LabOptions;
}

/** Reads a scenario, before anything is started. Paths in it are seen from the folder that it is in. */
export async function readScenario(folder: string, path: string): Promise<Scenario> {
  const file = resolve(folder, path);
  const text = await textOf(file, path);
  const { parseScenario } = await import('../../lab/index.ts');
  try {
    const shown = shownPath(folder, file);
    const options = placed(upOptions(parseScenario(text, shown), shown), dirname(file));
    await requirePrograms(options, shown);
    return { name: basename(file, extname(file)), options };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw unusable(messageOf(error), error);
  }
}

const unusable = (message: string, cause?: unknown): CommandError => new CommandError('SW1004', 2, message, cause);

async function textOf(file: string, path: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = Object.hasOwn(UNREADABLE, code) ? UNREADABLE[code] : messageOf(error);
    const way = 'Name a YAML file that describes a lab, or leave --scenario out';
    throw unusable(`the scenario ${path} cannot be read: ${why}. ${way}`, error);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission to read it',
};

/** Pure: what `slipway up` cannot do with a lab that a test can. */
function upOptions(options: LabOptions, file: string): LabOptions {
  if (options.data !== undefined)
    throw unusable(
      `${file}: data is for tests: slipway up keeps the lab in its own folder. Leave data out of the scenario, and choose the folder with --data`,
    );
  if (options.clock === 'auto')
    throw unusable(
      `${file}: clock: auto is for tests: time would pass only while somebody waits. Write real, or scaled:N with N the factor`,
    );
  return options;
}

/** Pure: with absolute paths. */
function placed({ clusters, images, ...options }: LabOptions, folder: string): LabOptions {
  const from = (path: string) => resolve(folder, path);
  return {
    ...options,
    ...(clusters !== undefined && {
      clusters: clusters.map(({ kubeconfig, ...cluster }) => ({
        ...cluster,
        ...(kubeconfig !== undefined && { kubeconfig: from(kubeconfig) }),
      })),
    }),
    ...(images !== undefined && {
      images: Object.fromEntries(
        Object.entries(images).map(([reference, { argv, workdir, programs, ...image }]) => [
          reference,
          {
            ...image,
            argv: argv.map((word) => placedWord(word, folder)),
            ...(workdir !== undefined && { workdir: from(workdir) }),
            ...(programs !== undefined && {
              programs: Object.fromEntries(
                Object.entries(programs).map(([inside, word]) => [inside, placedWord(word, folder)]),
              ),
            }),
          },
        ]),
      ),
    }),
  };
}

/** A pod whose program is missing only crashes, again and again. */
async function requirePrograms({ images = {} }: LabOptions, file: string): Promise<void> {
  for (const [reference, { argv, programs = {} }] of Object.entries(images))
    for (const path of [programOf(argv), ...Object.values(programs)].filter((one) => isAbsolute(one)))
      await access(path).catch((cause: unknown) => {
        throw unusable(`${file}: images.${reference} names the program ${path}, which is not there`, cause);
      });
}

/** What is run; words after it may be paths of the container. */
const programOf = ([command = '', ...words]: readonly string[]): string =>
  command === 'node' ? (words.find((word) => !word.startsWith('-')) ?? '') : command;

/** Only what says that it is a path: `plugin.ts` may be anything. */
const placedWord = (word: string, folder: string): string =>
  /^\.\.?\//.test(word) ? resolve(folder, word) : word;
