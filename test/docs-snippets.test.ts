import assert from 'node:assert/strict';
import { copyFile, cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fencedBlocks } from '../scripts/docs-markdown.ts';
import { allPages, type Page } from '../scripts/docs-pages.ts';
import { fileOf } from '../scripts/docs-problems.ts';
import { outcomeOf, scratchDirectory } from './support/scratch.ts';

/** What snippets may use without saying where it comes from; the pages introduce these names. */
const AROUND = `import type { Clock, KubeClient, Log, Manager } from 'slipway/kube';
import type { TestEnv } from 'slipway/testing';
declare global {
  const client: KubeClient;
  const clock: Clock;
  const env: TestEnv;
  const log: Log;
  const manager: Manager;
}
`;
/** Files of the tutorial, which snippets may import from beside them. */
const EXAMPLES = ['greeting.ts', 'controller.ts'];

interface Snippet {
  readonly name: string;
  readonly text: string;
}

const slugOf = ({ path }: Page): string => path.replace(/\.md$/, '').replaceAll('/', '.');

/** A block without a file behind it; line numbers of the compiler are those of the page. */
const snippetsOf = (page: Page): readonly Snippet[] =>
  fencedBlocks(page.text)
    .filter(({ language, info }) => language === 'ts' && fileOf(info) === undefined)
    .map(({ text: code, line, info }) => {
      // `ts x.ts` is a file that the reader makes: the others of the page can import it.
      const [, file] = info.split(' ');
      const name = file === undefined ? `${slugOf(page)}.${line}.ts` : join(slugOf(page), file);
      return { name, text: '\n'.repeat(line) + code };
    });

/**
 * A program that commands of a page write, at its place beside the examples. One that imports from the sources is
 * for people who work on them, with no package between.
 */
const writtenBy = (page: Page): readonly Snippet[] =>
  fencedBlocks(page.text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text, line }) =>
      [...text.matchAll(/^cat > (\S+\.ts) <<'END'\n([\s\S]*?)^END$/gm)].map(([, file = '', code = '']) => ({
        name: join(slugOf(page), file),
        text: '\n'.repeat(line + 1) + code,
      })),
    )
    .filter(({ text }) => !text.includes(" from './src/"));

/** What the compiler says about snippets in a project that has the package as a dependency. */
async function problemsOf(snippets: readonly Snippet[]): Promise<readonly string[]> {
  await using project = await scratchDirectory();
  const at = (...names: readonly string[]) => join(project.path, ...names);
  const root = process.cwd();
  await mkdir(at('node_modules'));
  await symlink(root, at('node_modules', 'slipway'));
  await symlink(join(root, 'node_modules', '@types'), at('node_modules', '@types'));
  await writeFile(at('package.json'), '{"type":"module"}');
  await writeFile(at('around.d.ts'), AROUND);
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { moduleDetection: 'force' },
    include: ['**/*.ts'],
  };
  await writeFile(at('tsconfig.json'), JSON.stringify(config));
  for (const file of EXAMPLES) await copyFile(join('examples/hello-controller', file), at(file));
  const folders = snippets.map(({ name }) => name.split('/')).filter(({ length }) => length > 1);
  for (const folder of new Set(folders.map(([slug = '']) => slug))) {
    // What a page writes is written into a clone.
    await cp('examples', at(folder, 'examples'), { recursive: true });
  }
  for (const { name, text } of snippets) {
    await mkdir(dirname(at(name)), { recursive: true });
    await writeFile(at(name), text);
  }
  const compiler = join(root, 'node_modules/.bin/tsc');
  const { stdout, stderr } = await outcomeOf(compiler, ['-p', project.path, '--pretty', 'false'], process.env);
  return `${stdout}${stderr}`.split('\n').filter((line) => line.includes('error'));
}

/** Not on any page: what the compiler must complain about, or its silence about the others proves nothing. */
const PLANTED = {
  path: 'planted.md',
  text: [
    "# Planted\n\n```ts\nimport { nothing } from 'slipway/kube';\nconst count: number = manager.name;\n```",
    "```sh\ncat > examples/planted.ts <<'END'\nimport { none } from './hello-controller/greeting.ts';\nEND\n```\n",
  ].join('\n'),
};

describe('the TypeScript in the docs', () => {
  it('style/S66: compiles against what the package exports', async () => {
    const all = (page: Page) => [...snippetsOf(page), ...writtenBy(page)];
    const snippets = allPages(process.cwd()).flatMap(all);
    assert.ok(snippets.length >= 10, `only ${snippets.length} snippets seen`);
    const problems = await problemsOf([...snippets, ...all(PLANTED)]);
    const isPlanted = (line: string) => /planted\.3\.ts\([45],|planted\.ts\(9,/.test(line);
    assert.equal(problems.filter(isPlanted).length, 3, problems.join('\n'));
    assert.deepEqual(
      problems.filter((line) => !isPlanted(line)),
      [],
    );
  });
});
