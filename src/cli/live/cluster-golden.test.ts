import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { factsOf, SCENES } from '../../../test/support/described-clusters.ts';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import { conditionFilter } from '../../app/describe/condition-filter.ts';
import { mermaidText } from '../../app/describe/mermaid.ts';
import { type ClusterPicture, clusterPicture, type PictureOptions } from '../../app/describe/picture.ts';
import { clusterReport } from '../../app/describe/report.ts';
import { clusterSentences } from './cluster-texts.ts';
import { clusterLines } from './cluster-view.ts';
import { lineWidth, lookFor, painted } from './line.ts';
import { ASCII, type Glyphs, UNICODE } from './symbols.ts';

const FOLDER = join(import.meta.dirname, '../../../test/golden/cli/describe');
const WIDTHS = [100, 60, 44, 38];

const VARIANTS = [
  { variant: 'colour', glyphs: UNICODE, isColoured: true },
  { variant: 'no-colour', glyphs: UNICODE, isColoured: false },
  { variant: 'ascii', glyphs: ASCII, isColoured: false },
] as const;

const FOLDED: PictureOptions = { isExpanded: false, hasAll: false, conditions: conditionFilter([]) };

function pictureOf(scene: string, options: Partial<PictureOptions> = {}): ClusterPicture {
  const made = SCENES[scene] ?? assert.fail(`no scene ${scene}`);
  return clusterPicture(clusterReport(factsOf(made())), { ...FOLDED, ...options });
}

function drawn(picture: ClusterPicture, columns: number, glyphs: Glyphs, isColoured: boolean): string {
  const look = lookFor(columns, glyphs);
  const lines = clusterLines(picture, { look, now: new Date(picture.report.at) });
  for (const line of lines)
    assert.ok(lineWidth(line) <= look.width, `too wide at ${columns}: ${painted(line, false)}`);
  return `=== ${columns} columns ===\n${lines.map((line) => painted(line, isColoured)).join('\n')}\n`;
}

describe('the golden pictures of a cluster', () => {
  for (const scene of Object.keys(SCENES)) {
    for (const { variant, glyphs, isColoured } of VARIANTS) {
      it(`experience/X45: ${scene}, ${variant}`, () => {
        const pictures = WIDTHS.map((columns) => drawn(pictureOf(scene), columns, glyphs, isColoured));
        assertGoldenFile(join(FOLDER, `${scene}.${variant}.txt`), pictures.join('\n'));
      });
    }

    it(`experience/X5: ${scene} for a screen reader`, () => {
      const picture = pictureOf(scene);
      const lines = clusterSentences(picture, new Date(picture.report.at));
      assertGoldenFile(join(FOLDER, `${scene}.accessible.txt`), `${lines.join('\n')}\n`);
    });
  }

  const options: readonly (readonly [name: string, options: Partial<PictureOptions>])[] = [
    ['expanded', { isExpanded: true }],
    ['all', { hasAll: true, isExpanded: true }],
    ['conditions', { conditions: conditionFilter(['all']) }],
    ['bad-conditions', { conditions: conditionFilter(['Machine+', 'Cluster']) }],
  ];
  for (const [name, changed] of options) {
    it(`experience/X44: host-refused, ${name}`, () => {
      const text = drawn(pictureOf('host-refused', changed), 120, UNICODE, false);
      assertGoldenFile(join(FOLDER, `host-refused.${name}.txt`), text);
    });
  }

  it('experience/X44: host-refused as a flowchart', () => {
    assertGoldenFile(join(FOLDER, 'host-refused.mmd'), `${mermaidText(pictureOf('host-refused'))}\n`);
  });
});

describe('a picture that is too high', () => {
  it('experience/X3: gives up what is finished first, and says how much is missing', () => {
    const look = lookFor(100, UNICODE);
    const picture = pictureOf('host-refused');
    const lines = clusterLines(picture, { look, now: new Date(picture.report.at), room: 14 });
    const text = lines.map((line) => painted(line, false)).join('\n');
    assert.ok(lines.length <= 14, `${lines.length} lines`);
    assert.match(text, /✖ powered off/);
    assert.match(text, /… \d+ more lines/);
    assert.match(text, /next {2}kubectl/);
    assert.doesNotMatch(text, /Metal3Cluster/);
  });
});
