import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/** Compares text with a file, or rewrites the file under `npm run test:update`. The first line that differs is reported. */
export function assertGoldenFile(path: string, text: string): void {
  if (process.env['SLIPWAY_UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const file = relative(process.cwd(), path);
  const [got, want] = [text.split('\n'), readFileSync(path, 'utf8').split('\n')];
  const at = got.findIndex((line, number) => line !== want[number]);
  assert.equal(got[at], want[at], `${file}:${at + 1} differs; npm run test:update rewrites it`);
  assert.equal(got.length, want.length, `${file} has another length; npm run test:update rewrites it`);
}
