import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { commandBlocks, isSameOutput } from '../scripts/docs-blocks.ts';
import { linksOf, table } from '../scripts/docs-markdown.ts';
import { allPages, generatedPages, type Page, rulePlan, ruleTests } from '../scripts/docs-pages.ts';
import {
  abbreviationProblems,
  blockProblems,
  dataProblems,
  decisionProblems,
  fileProblems,
  GLOSSARY,
  linkProblems,
  scriptsNamedIn,
  unwantedTexts,
} from '../scripts/docs-problems.ts';
import { ruleTestsIn } from '../scripts/docs-rule-tests.ts';
import { parseRulePlan, rulesPage, unknownSpecs, unsettledRules } from '../scripts/docs-rules.ts';

const MOST_SCRIPTS = 20;
const MOST_BOXES = 12;
const BLOCK_TAGS = [
  'sh',
  'sh no-run needs root',
  'sh background is up',
  '',
  'console',
  'sh no-run',
  'sh no-run root',
  'sh maybe',
  'sh background',
];

const pages = allPages(process.cwd());
const pageNamed = (path: string): string => pages.find((page) => page.path === path)?.text ?? assert.fail(path);
const heightOf = (path: string): number => pageNamed(path).trimEnd().split('\n').length;
const explaining = pages.filter(({ path }) => path === 'README.md' || path.startsWith('docs/'));
const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);

describe('the docs', () => {
  it('are seen as a whole, not in part', () => {
    assert.ok(pages.length >= 15, `only ${pages.length} pages seen`);
    assert.ok(pages.flatMap(({ text }) => linksOf(text)).length >= 30, 'hardly any links seen');
  });

  for (const { path, text } of generatedPages(process.cwd())) {
    it(`style/S26: have ${path} as the code has it`, () => {
      const isSame = existsSync(path) && readFileSync(path, 'utf8') === text;
      assert.ok(isSame, `${path} differs from the code; run npm run docs`);
    });
  }

  it('style/S63: have a README of at most 150 lines', () => {
    assert.ok(heightOf('README.md') <= 150);
  });

  it('style/S68: have a CONTRIBUTING of at most 100 lines', () => {
    assert.ok(heightOf('CONTRIBUTING.md') <= 100);
  });

  it('style/S63: have a README with a diagram of at most 12 boxes and a proof in every row of what works', () => {
    const readme = pageNamed('README.md');
    const boxes = readme.split('┌').length - 1;
    assert.ok(boxes >= 1 && boxes <= MOST_BOXES, `${boxes} boxes`);
    const [, works = ''] = /## What works today\n([\s\S]*?)\n## /.exec(readme) ?? [];
    const rows = works.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what'));
    assert.ok(rows.length >= 5, `${rows.length} rows`);
    assert.deepEqual(
      rows.filter((row) => !/\]\((src|test)\/[^)]+\.test\.ts\)/.test(row)),
      [],
    );
  });

  it('style/S64: are filed by what the reader needs', () => {
    const folders = new Set(pages.filter(({ path }) => path.startsWith('docs/')).map(({ path }) => dirname(path)));
    assert.deepEqual([...folders].sort(), [
      'docs/adr',
      'docs/explanation',
      'docs/how-to',
      'docs/reference',
      'docs/tutorials',
    ]);
  });

  it('have no link that leads nowhere', () => {
    assert.deepEqual(
      pages.flatMap((page) => linkProblems(page, pages)),
      [],
    );
  });

  it('explain every abbreviation in the glossary', () => {
    const glossary = pageNamed(GLOSSARY);
    assert.deepEqual(
      explaining.flatMap((page) => abbreviationProblems(page, glossary)),
      [],
    );
  });

  it('style/S66: have commands that are run, or say why not, and data that can be read', () => {
    assert.deepEqual([...pages.flatMap(blockProblems), ...pages.flatMap(dataProblems)], []);
    assert.ok(explaining.flatMap(commandBlocks).length >= 5, 'hardly any command is run');
  });

  it('show files as they are', () => {
    assert.deepEqual(pages.flatMap(fileProblems), []);
  });

  it('style/S67: record decisions with context, decision, consequences and alternatives on one page', () => {
    const decisions = pages.filter(({ path }) => path.startsWith('docs/adr/'));
    assert.ok(decisions.length >= 6);
    assert.deepEqual(decisions.flatMap(decisionProblems), []);
    decisions.forEach(({ path }, at) => {
      assert.match(path, new RegExp(`/${String(at + 1).padStart(4, '0')}-[a-z-]+\\.md$`));
    });
  });

  it('name no path of a machine and no host of a registry', () => {
    assert.deepEqual(pages.flatMap(unwantedTexts), []);
  });
});

describe('the npm scripts', () => {
  const known = Object.keys(manifest.scripts);

  it('style/S69: are few', () => {
    assert.ok(known.length <= MOST_SCRIPTS, `${known.length} scripts`);
  });

  it('exist when a page names them', () => {
    const named = pages.flatMap(({ path, text }) => scriptsNamedIn(text).map((name) => ({ path, name })));
    assert.deepEqual(
      named.filter(({ name }) => !known.includes(name)),
      [],
    );
  });

  it('are all named in README or CONTRIBUTING', () => {
    const named = new Set(scriptsNamedIn(pageNamed('README.md') + pageNamed('CONTRIBUTING.md')));
    assert.deepEqual(
      known.filter((name) => !named.has(name)),
      [],
    );
  });
});

describe('the rules', () => {
  const plan = rulePlan(process.cwd());
  const tests = ruleTests(process.cwd());

  it('are all tested or left out with a reason, as far as this release must settle them', () => {
    assert.ok(tests.length >= 20, `only ${tests.length} tests name a rule`);
    assert.deepEqual(unsettledRules(plan, tests), []);
  });

  it('belong to a group that exists', () => {
    assert.deepEqual(unknownSpecs(plan, tests), []);
  });
});

describe('the test of the docs itself', () => {
  const page = (text: string, path = 'docs/planted.md'): Page => ({ path, text });
  const cases: readonly { name: string; found: readonly string[]; want: readonly string[] }[] = [
    {
      name: 'sees an abbreviation that the glossary does not explain',
      found: abbreviationProblems(page('The API and the XYZs\nof gQQQ.'), '- **API** (…): x'),
      want: [
        `docs/planted.md:1: XYZ is not explained in ${GLOSSARY}`,
        `docs/planted.md:2: QQQ is not explained in ${GLOSSARY}`,
      ],
    },
    {
      name: 'takes two terms on one line of the glossary',
      found: abbreviationProblems(page('HTTP, HTTPS'), '- **HTTP**, **HTTPS** (…)'),
      want: [],
    },
    {
      name: 'leaves code, link targets, comments, error codes and single capitals alone',
      found: abbreviationProblems(
        page('`QQQ` ``a ` QQQ`` [a](QQQ.md) <!-- QQQ --> SW1101 X6 A OpenShift\n\n```sh\nQQQ\n```\n'),
        '',
      ),
      want: [],
    },
    {
      name: 'sees a link to a file that does not exist',
      found: linkProblems(page('a\n[b](nowhere.md)'), []),
      want: ['docs/planted.md:2: nowhere.md does not exist'],
    },
    {
      name: 'sees a link to a heading that does not exist',
      found: linkProblems(page('# A `b` c!\n[x](#a-b-c) [y](#gone)', 'README.md'), [
        page('# A `b` c!', 'README.md'),
      ]),
      want: ['README.md:2: README.md has no heading for #gone'],
    },
    {
      name: 'refuses a block without a language, with another word for sh, and without a reason',
      found: BLOCK_TAGS.flatMap((info) =>
        blockProblems(page(`\`\`\`${info}\nx\n\`\`\``)).map((text) => text.slice(0, 36)),
      ),
      want: [
        'docs/planted.md:1: a block without a',
        'docs/planted.md:1: console is not am',
        'docs/planted.md:1: "sh no-run" is ne',
        'docs/planted.md:1: "sh no-run root" ',
        'docs/planted.md:1: "sh maybe" is nei',
        'docs/planted.md:1: "sh background" i',
      ],
    },
    {
      name: 'sees a block that is not the file it names',
      found: ['ts bin/nowhere.ts', 'ts package.json', 'yaml docs/reference/reasons.yaml'].flatMap((info) =>
        fileProblems(page(`\`\`\`${info}\nx\n\`\`\``)),
      ),
      want: [
        'docs/planted.md:1: bin/nowhere.ts does not exist',
        'docs/planted.md:1: docs/reference/reasons.yaml differs from the block',
      ],
    },
    {
      name: 'sees data that cannot be read',
      found: dataProblems(page('```json\n{\n```\n```yaml\na: b\n```')).map((text) => text.slice(0, 18)),
      want: ['docs/planted.md:1:'],
    },
    {
      name: 'sees paths of a machine and hosts of registries',
      found: unwantedTexts(page(`cd /${'root'}/x\nat quay${'.io'}/x, ../work, docs/work`)),
      want: ['docs/planted.md:1: /root', 'docs/planted.md:2: quay.io'],
    },
    {
      name: 'sees a decision that lacks a heading',
      found: decisionProblems(page('Status: accepted\n## Context\n## Decision\n')),
      want: ['docs/planted.md: headings are Context, Decision'],
    },
    {
      name: 'finds the scripts that a text names',
      found: scriptsNamedIn('`npm run test:oracles`, npm test, and npm run -s docs -- --check'),
      want: ['test:oracles', 'docs', 'test'],
    },
  ];
  for (const { name, found, want } of cases) it(name, () => assert.deepEqual(found, want));
});

describe('the list of rules', () => {
  // Put together here, so that this file does not claim to test them.
  const named = (quote: string, name: string) => `it(${quote}sample${'/'}${name}${quote}, () => {})`;
  const source = [
    "describe('outer', () => {",
    "  describe('a suite', () => {",
    '    x',
    '  });',
    `  ${named("'", 'Z2: isn\\\'t "cut" short')}`,
    named('`', 'Z10: prints ${[1].map((x) => `${x}`)} as ${want}'),
    '// sample/Z3: a comment proves nothing',
    named('"', 'Z4, Z5, other/Y1: are three rules of two groups'),
  ].join('\n');
  const text = 'specs: {sample: s}\nmust: {sample: {Z2: a, Z3: b}}\nleft-out: ';
  const tests = ruleTestsIn(source, 'test/x.test.ts');

  it('reads names from the source with the suite around them, and an ellipsis for what a template computes', () => {
    assert.deepEqual(
      tests.map(({ rule, sentence }) => [rule, sentence]),
      [
        ['Z2', 'outer: isn\'t "cut" short'],
        ['Z10', 'prints … as …'],
        ['Z4', 'are three rules of two groups'],
        ['Z5', 'are three rules of two groups'],
        ['Y1', 'are three rules of two groups'],
      ],
    );
  });

  it('names a rule that is neither tested nor left out', () => {
    assert.deepEqual(unsettledRules(parseRulePlan(`${text}[]`), tests), ['sample/Z3']);
  });

  it('accepts a rule that is left out with a reason, and shows the reason', () => {
    const plan = parseRulePlan(`${text}[{spec: sample, rule: Z3, reason: comes later}]`);
    assert.deepEqual(unsettledRules(plan, tests), []);
    assert.match(rulesPage(plan, tests), /\| sample\/Z3 \| b \| not tested \| comes later \|/);
  });

  for (const wrong of ['{}', '[{spec: sample, rule: Z3}]', '[{spec: other, rule: Z3, reason: x}]']) {
    it(`refuses "left-out: ${wrong}"`, () => assert.throws(() => parseRulePlan(text + wrong)));
  }

  it('names a group that nobody introduced', () => {
    const plan = parseRulePlan('specs: {}\nmust: {}\nleft-out: []');
    assert.deepEqual(unknownSpecs(plan, tests.slice(0, 1)), ['test/x.test.ts: sample']);
  });
});

describe('the commands of a page', () => {
  const text = '```sh\ntrue\n```\n\n```text output\nok\n```\n\n```sh no-run needs a cluster\nfalse\n```\n';

  it('may stay up until the page is over', () => {
    const stays = '```sh background is up\nsleep 9\n```\n\n```text output\nno\n```\n';
    assert.deepEqual(commandBlocks({ path: 'a.md', text: stays }), [
      { page: 'a.md', line: 1, text: 'sleep 9\n', ready: 'is up' },
    ]);
  });

  it('are the blocks tagged sh, with the output that follows', () => {
    assert.deepEqual(commandBlocks({ path: 'a.md', text }), [
      { page: 'a.md', line: 1, text: 'true\n', output: 'ok\n' },
    ]);
  });

  for (const { shown, printed, want } of [
    { shown: 'done in 0.4 s', printed: 'done   in 12.25 s\n', want: true },
    { shown: 'a\n…\nz', printed: 'a\nb\nc\nz', want: true },
    { shown: 'a\nz', printed: 'a\nb\nz', want: false },
    { shown: 'a.c', printed: 'abc', want: false },
    { shown: 'a', printed: '\x1b[32ma\x1b[0m', want: true },
  ]) {
    it(`${want ? 'show' : 'do not show'} ${JSON.stringify(printed)} as ${JSON.stringify(shown)}`, () => {
      assert.equal(isSameOutput(shown, printed), want);
    });
  }

  it('cannot break out of a table cell', () => {
    assert.equal(table(['a'], [['x|y\nz']]), '| a |\n|---|\n| x\\|y z |');
  });
});
