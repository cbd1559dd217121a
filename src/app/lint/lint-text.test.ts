import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Finding } from './finding.ts';
import { sorted } from './finding.ts';
import { lintSarif } from './lint-sarif.ts';
import { lintText, plainLintText } from './lint-text.ts';

const finding = (changes: Partial<Finding> = {}): Finding => ({
  file: 'acme/provider.ts',
  line: 3,
  column: 5,
  length: 6,
  severity: 'error',
  code: 'SW2117',
  message: 'volumes has no attach',
  why: 'pods cannot use them',
  fix: 'add attach',
  ...changes,
});

const SOURCE = 'defineProvider({\n  volumes: {\n    attach: 1,\n  },\n\tsecrets: [\n  "hunter2"],\n});\n';

const text = (findings: readonly Finding[], isFailed = true): readonly string[] =>
  lintText(
    { findings, files: 1, sources: new Map([['acme/provider.ts', SOURCE]]) },
    { durationMs: 312, isFailed },
  ).split('\n');

describe('findings as text', () => {
  it('experience/X41: show what, where in the source, why and fix, and end with one line', () => {
    assert.deepEqual(text([finding()]), [
      'acme/provider.ts:3:5  error  SW2117  volumes has no attach',
      '    1 │ defineProvider({',
      '    2 │   volumes: {',
      '    3 │     attach: 1,',
      '      │     ^^^^^^ a capability lacks a method',
      '      = why   pods cannot use them',
      '      = fix   add attach',
      '✖ 1 error, 0 warnings in 1 file · 0.3 s · explain: npx slipway explain SW2117',
    ]);
  });

  it('experience/X41: end with a tick when there are none', () => {
    assert.deepEqual(text([], false), ['✔ 0 errors, 0 warnings in 1 file · 0.3 s']);
  });

  it('experience/X41: end with attention for warnings that are allowed, and explain an error before them', () => {
    const warning = finding({ severity: 'warning', code: 'SW2151', line: 1 });
    assert.equal(
      text([warning, warning], false).at(-1),
      '▲ 0 errors, 2 warnings in 1 file · 0.3 s · explain: npx slipway explain SW2151',
    );
    assert.match(text([warning, finding()]).at(-1) ?? '', /^✖ 1 error, 1 warning .*explain SW2117$/);
  });

  it('experience/X13: never show a line with a secret in it, in no excerpt', () => {
    const secret = finding({ code: 'SW2122', line: 6, column: 3 });
    const shown = text([secret, finding({ line: 7, column: 1 })]);
    assert.doesNotMatch(shown.join('\n'), /hunter2/);
    assert.ok(shown.includes('    6 │ …'));
    assert.ok(shown.includes('    5 │   secrets: ['));
  });

  it('experience/X13: hide what looks like a secret, and what a terminal would obey', () => {
    const source = 'const token = "abcdefgh";\nx\u001b[31m\n';
    const report = { files: 1, sources: new Map([['acme/provider.ts', source]]) };
    const shown = lintText(
      { ...report, findings: [finding({ line: 2, column: 1, message: 'a\u001bb' })] },
      { durationMs: 0, isFailed: true },
    );
    assert.match(shown, /token = \[redacted\]/);
    // oxlint-disable-next-line no-control-regex -- these are what must not be there
    assert.doesNotMatch(shown, /\u001b|abcdefgh/);
  });

  it('experience/X7: cut long lines, and mark only what can be seen', () => {
    const source = `${'x'.repeat(500)}\n`;
    const report = { files: 1, sources: new Map([['acme/provider.ts', source]]) };
    const shown = lintText(
      { ...report, findings: [finding({ line: 1, column: 400 })] },
      { durationMs: 0, isFailed: true },
    );
    assert.ok(shown.split('\n').every((line) => line.length < 140));
    assert.doesNotMatch(shown, /\^/);
  });

  it('experience/X41: name the file alone when nothing else is known', () => {
    const { line: _line, column: _column, length: _length, ...whole } = finding();
    assert.deepEqual(text([whole]).slice(0, 2), [
      'acme/provider.ts  error  SW2117  volumes has no attach',
      '      = why   pods cannot use them',
    ]);
  });

  it('experience/X5: are labels and words alone for a screen reader', () => {
    const plain = (findings: readonly Finding[], isFailed: boolean) =>
      plainLintText({ findings, files: 1, sources: new Map() }, { durationMs: 312, isFailed }).split('\n');
    assert.deepEqual(plain([finding({ fix: 'write { … }' })], true), [
      'acme/provider.ts:3:5: error SW2117: volumes has no attach',
      'Why: pods cannot use them',
      'Fix: write { ... }',
      'Failed: 1 error, 0 warnings in 1 file, 0.3 s',
      'To have it explained: npx slipway explain SW2117',
    ]);
    assert.match(
      plain([finding({ severity: 'warning' })], false).at(-2) ?? '',
      /^Attention: 0 errors, 1 warning /,
    );
    assert.deepEqual(plain([], false), ['Done: 0 errors, 0 warnings in 1 file, 0.3 s']);
  });

  it('experience/X41: are in the order of the files', () => {
    const places = [
      finding({ file: 'a', line: 9, message: 'b' }),
      finding({ file: 'a', line: 9, message: 'a' }),
      finding({ file: 'b', line: 1 }),
      finding({ file: 'a', line: 10, column: 2 }),
      finding({ file: 'a', line: 10, column: 1 }),
    ];
    assert.deepEqual(
      sorted(places).map(({ file, line, column, message }) => `${file}:${line}:${column} ${message.at(0)}`),
      ['a:9:5 b', 'a:9:5 a', 'a:10:1 v', 'a:10:2 v', 'b:1:5 v'],
    );
  });
});

describe('findings as SARIF', () => {
  const resultsOf = (given: Finding): string =>
    JSON.stringify(lintSarif({ findings: [given], files: 1, sources: new Map() }, '1.2.3'));

  it('experience/X41: end each sentence once', () => {
    const said = resultsOf(finding({ why: '', fix: 'did you mean volumes?' }));
    assert.match(said, /"text":"volumes has no attach\. Fix: did you mean volumes\?"/);
  });

  it('experience/X41: are about the whole file when nothing else is known', () => {
    const { line: _line, column: _column, length: _length, ...whole } = finding();
    assert.match(resultsOf(whole), /"artifactLocation":\{"uri":"acme\/provider.ts"\}\}/);
  });

  it('experience/X41: are the same findings, each with its rule and place', () => {
    const findings = [finding(), finding({ code: 'SW2151', severity: 'warning', file: 'a b/ü.ts' })];
    const document = lintSarif({ findings, files: 1, sources: new Map() }, '1.2.3');
    assert.partialDeepStrictEqual(document, {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [
        {
          tool: {
            driver: { name: 'slipway', version: '1.2.3', rules: [{ id: 'SW2117' }, { id: 'SW2151' }] },
          },
          results: [
            {
              ruleId: 'SW2117',
              ruleIndex: 0,
              level: 'error',
              message: { text: 'volumes has no attach. Why: pods cannot use them. Fix: add attach.' },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'acme/provider.ts' },
                    region: { startLine: 3, startColumn: 5, endColumn: 11 },
                  },
                },
              ],
            },
            {
              ruleId: 'SW2151',
              ruleIndex: 1,
              level: 'warning',
              locations: [{ physicalLocation: { artifactLocation: { uri: 'a%20b/%C3%BC.ts' } } }],
            },
          ],
        },
      ],
    });
  });
});
