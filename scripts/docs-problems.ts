import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseYaml } from '../src/object/yaml.ts';
import { anchorsOf, fencedBlocks, lineAt, linksOf, proseOf } from './docs-markdown.ts';
import type { Page } from './docs-pages.ts';

const LONGEST_DECISION = 60;
export const GLOSSARY = 'docs/explanation/glossary.md';
const DECISION_HEADINGS = ['Context', 'Decision', 'Consequences', 'Alternatives'];
/** What a fence may be tagged with; commands are `sh` and nothing else, so that none escapes being run. */
const LANGUAGES = new Set(['sh', 'text', 'yaml', 'json', 'ts', 'go', 'dockerfile']);

/** A word of at least two capitals, perhaps with a small letter in front (gRPC) and digits inside. */
const ABBREVIATION = /(?<![\w-])[a-z]?(?=[A-Z0-9]*[A-Z][A-Z0-9]*[A-Z])([A-Z][A-Z0-9]+)(?=s?(?!\w))/g;
const ERROR_CODE = /^SW\d{4}$/;

/** The folder in which every Go manager looks for the certificate of its webhooks is no path of one machine. */
const MACHINE_PATH = /(?<![\w.])\/(work|root|home|Users|tmp)\b(?!\/k8s-webhook-server\/)/g;
const HOST_OF_A_REGISTRY = /\b(registry\.(?!test\b)[a-z]+|npmjs|proxy\.golang|quay\.io|docker\.io|ghcr\.io)\b/g;

/** Each function below returns one sentence per broken rule of a page; an empty list is a good page. */
export function linkProblems(page: Page, pages: readonly Page[]): readonly string[] {
  return linksOf(page.text).flatMap(({ target, line }) => {
    if (target.startsWith('https://')) return [];
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page.path : posix.normalize(posix.join(posix.dirname(page.path), path));
    if (!existsSync(file)) return [`${page.path}:${line}: ${target} does not exist`];
    const known = pages.find((candidate) => candidate.path === file);
    const isMissing = anchor !== undefined && known !== undefined && !anchorsOf(known.text).has(anchor);
    return isMissing ? [`${page.path}:${line}: ${file} has no heading for #${anchor}`] : [];
  });
}

export function abbreviationProblems({ path, text }: Page, glossary: string): readonly string[] {
  // Targets of links are addresses, not prose.
  const prose = proseOf(text).replace(/\]\([^)]*\)/g, (target) => ' '.repeat(target.length));
  const explained = new Set(
    [...glossary.matchAll(/^- (\*\*.+?\*\*)(?= \()/gm)].flatMap(([, terms = '']) =>
      [...terms.matchAll(/\*\*(.+?)\*\*/g)].map(([, term]) => term),
    ),
  );
  return [...prose.matchAll(ABBREVIATION)]
    .filter(([, word = '']) => !explained.has(word) && !ERROR_CODE.test(word))
    .map(({ 1: word, index }) => `${path}:${lineAt(prose, index)}: ${word} is not explained in ${GLOSSARY}`);
}

export function blockProblems({ path, text }: Page): readonly string[] {
  return fencedBlocks(text).flatMap(({ info, language, line }) => {
    const place = `${path}:${line}`;
    if (info === '') return [`${place}: a block without a language`];
    if (!LANGUAGES.has(language)) return [`${place}: ${language} is not among ${[...LANGUAGES].join(', ')}`];
    const isRunOrExcused = language !== 'sh' || /^sh(?: background \S.*| no-run \S+ \S.*)?$/.test(info);
    return isRunOrExcused ? [] : [`${place}: "${info}" is neither "sh" nor "sh no-run" with a reason`];
  });
}

/** A block whose tag names a file, such as `ts examples/x.ts`, holds that file and nothing else. */
export function fileProblems({ path, text }: Page): readonly string[] {
  return fencedBlocks(text).flatMap(({ info, text: body, line }) => {
    const file = fileOf(info);
    if (file === undefined) return [];
    if (!existsSync(file)) return [`${path}:${line}: ${file} does not exist`];
    return readFileSync(file, 'utf8') === body ? [] : [`${path}:${line}: ${file} differs from the block`];
  });
}

/** The file that a block shows, if its tag names one. */
export const fileOf = (info: string): string | undefined => /^(?:ts|yaml) (\S+\/\S+)$/.exec(info)?.[1];

export function dataProblems({ path, text }: Page): readonly string[] {
  return fencedBlocks(text).flatMap(({ language, text: body, line }) => {
    try {
      if (language === 'yaml') for (const document of body.split(/^---$/m)) parseYaml(document);
      if (language === 'json') JSON.parse(body);
      return [];
    } catch (error) {
      return [`${path}:${line}: ${String(error)}`];
    }
  });
}

export const unwantedTexts = ({ path, text }: Page): readonly string[] =>
  [MACHINE_PATH, HOST_OF_A_REGISTRY].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => `${path}:${lineAt(text, index)}: ${found}`),
  );

export function decisionProblems({ path, text }: Page): readonly string[] {
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  const height = text.split('\n').length;
  return [
    ...(headings.join() === DECISION_HEADINGS.join() ? [] : [`${path}: headings are ${headings.join(', ')}`]),
    ...(height <= LONGEST_DECISION ? [] : [`${path}: ${height} lines are more than a page`]),
    ...(/^Status: /m.test(text) ? [] : [`${path}: has no status`]),
  ];
}

export const scriptsNamedIn = (text: string): readonly string[] => [
  ...[...text.matchAll(/\bnpm run (?:-s |--silent )?([a-z][a-z0-9-]*(?::[a-z0-9-]+)*)/g)].map(
    ([, name = '']) => name,
  ),
  ...[...text.matchAll(/\bnpm (start|test)\b/g)].map(([, name = '']) => name),
];
