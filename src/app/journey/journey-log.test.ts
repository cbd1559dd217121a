import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { demoComponents } from '../../../test/support/demo-journey.ts';
import { inVirtualTime, journeyOf, recordingClock } from '../../../test/support/recorded-journey.ts';
import { JourneyLog } from './journey-log.ts';

describe('the log of a journey', () => {
  let data = '';
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'slipway-log-'));
  });
  afterEach(() => rmSync(data, { recursive: true }));

  async function logged(warnings: string[]): Promise<void> {
    using log = new JourneyLog(data, (sentence) => warnings.push(sentence));
    const clock = recordingClock();
    const recordError = log.recordError.bind(log);
    const journey = journeyOf(demoComponents({ throws: 'cloud' }), clock, { recordError });
    journey.subscribe(log.listener);
    await inVirtualTime(clock, journey.run(new AbortController().signal));
  }

  it('experience/X10: holds every line, and the stack traces that are shown nowhere else', async () => {
    await logged([]);
    const text = readFileSync(join(data, 'journey.log'), 'utf8');
    assert.match(text, /^09:14:02\.113Z journey: start, slipway 0\.1\.0, node 24\.21\.0, 7 phases\n/);
    assert.match(
      text,
      /\n09:14:\d\d\.\d{3}Z phase 4 cloud: failed in 0\.0 s \(stopped by an error nobody foresaw\)\n/,
    );
    assert.match(text, /secretInternals[\s\S]*demo-journey\.ts/);
  });

  it('warns once when the disk is full and goes on', {
    skip: process.platform !== 'linux' && 'needs /dev/full',
  }, async () => {
    symlinkSync('/dev/full', join(data, 'journey.log'));
    const warnings: string[] = [];
    await logged(warnings);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /journey\.log is not written any more: ENOSPC/);
  });
});
