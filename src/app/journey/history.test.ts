import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type PastRun, parseHistory, typicalTimes } from './history.ts';
import { appendRun, readHistory } from './history-file.ts';

const pastRun = (hubMs: number): PastRun => ({
  ts: '2026-01-02T09:14:02.000Z',
  totalMs: hubMs + 100,
  phasesMs: { hub: hubMs },
});

describe('typical times', () => {
  it('experience/X23: are the median of the last ten runs', () => {
    const runs = [99_000, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(pastRun);
    assert.deepEqual(typicalTimes(runs, ['hub']), { totalMs: 105.5, phasesMs: { hub: 5.5 } });
  });

  it('experience/X23: are known from the third run on', () => {
    assert.equal(typicalTimes([pastRun(1)], ['hub']).totalMs, undefined);
    assert.equal(typicalTimes([pastRun(1), pastRun(3)], ['hub']).totalMs, 102);
  });

  it('compare the whole only with runs of the same phases', () => {
    const times = typicalTimes([pastRun(1), pastRun(3)], ['hub', 'cloud']);
    assert.deepEqual(times, { totalMs: undefined, phasesMs: { hub: 2, cloud: undefined } });
  });
});

describe('the history file', () => {
  let data = '';
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'slipway-history-'));
  });
  afterEach(() => rmSync(data, { recursive: true }));

  it('gives back what was added', () => {
    assert.equal(appendRun(data, pastRun(1)), undefined);
    assert.equal(appendRun(data, pastRun(2)), undefined);
    assert.deepEqual(readHistory(data), [pastRun(1), pastRun(2)]);
  });

  it('survives broken lines, also one that a crash cut short', () => {
    writeFileSync(
      join(data, 'history.jsonl'),
      `{"ts":1}\nnull\n[]\n{"ts":"x","totalMs":-1,"phasesMs":{}}\n{"ts":"2026`,
    );
    appendRun(data, pastRun(1));
    assert.deepEqual(readHistory(data), [pastRun(1)]);
  });

  it('is cut when it has grown', () => {
    writeFileSync(
      join(data, 'history.jsonl'),
      Array.from({ length: 200 }, (_, at) => JSON.stringify(pastRun(at))).join('\n'),
    );
    appendRun(data, pastRun(999));
    const runs = parseHistory(readFileSync(join(data, 'history.jsonl'), 'utf8'));
    assert.equal(runs.length, 100);
    assert.deepEqual(runs.at(-1), pastRun(999));
  });

  it('says what went wrong when the disk is full', {
    skip: process.platform !== 'linux' && 'needs /dev/full',
  }, () => {
    symlinkSync('/dev/full', join(data, 'history.jsonl'));
    assert.match(appendRun(data, pastRun(1)) ?? '', /^this run is not in the history: ENOSPC/);
  });
});
