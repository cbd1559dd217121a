import { userError } from '../../base/errors.ts';

/** A file of a project, by its path in it, with forward slashes. */
export interface ProjectFile {
  readonly path: string;
  readonly text: string;
}

/** What the example is called; a project of another name is the same with these words replaced. */
const EXAMPLE = 'acme-cloud';
const NAME = /^[a-z]([-a-z0-9]{0,36}[a-z0-9])?$/;

/** Throws a userError unless names of objects, files and variables can be made of it. */
export function requireProjectName(name: string): void {
  if (NAME.test(name) && !name.includes('--') && name !== 'external') return;
  throw userError(
    'InvalidProjectName',
    `"${name}" is no name for a provider: use up to 38 lower-case letters, digits and single dashes, with a letter first, such as my-cloud`,
  );
}

/** npm packs no `.gitignore`, and installs what it packed by that name under another: it travels as this. */
const PACKED_GITIGNORE = '_gitignore';

/** The files of the example under another name, depending on `slipway` as told. */
export function scaffold(
  example: readonly ProjectFile[],
  { name, dependency }: { readonly name: string; readonly dependency: string },
): readonly ProjectFile[] {
  return example.map(({ path, text }) => {
    const renamed = withName(text, name);
    return {
      path: path === PACKED_GITIGNORE ? '.gitignore' : withName(path, name),
      text: path === 'package.json' ? withDependency(renamed, dependency) : renamed,
    };
  });
}

/** `my-cloud`, `MyCloud`, `MY_CLOUD`, `My Cloud`: each where the example has its own. */
function withName(text: string, name: string): string {
  const [from, to] = [spellings(EXAMPLE), spellings(name)];
  return from.reduce((done, spelling, at) => done.replaceAll(spelling, to[at] ?? ''), text);
}

function spellings(name: string): readonly string[] {
  const words = name.split('-').map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  return [name, words.join(''), name.replaceAll('-', '_').toUpperCase(), words.join(' ')];
}

const DEPENDENCY = /("slipway": )"[^"]*"/;

const withDependency = (manifest: string, dependency: string): string =>
  manifest.replace(DEPENDENCY, (_, key: string) => `${key}${JSON.stringify(dependency)}`);
