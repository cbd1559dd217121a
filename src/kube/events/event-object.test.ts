import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cutText, eventName, eventObject } from './event-object.ts';
import { EventSeries, type Series } from './event-series.ts';
import { SpamGuard } from './spam-guard.ts';

const bytes = (text: string): number => Buffer.byteLength(text);

describe('event objects', () => {
  it('runtime/V1: a note is cut to at most 1,024 bytes between characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(80), (text, limit) => {
        const cut = cutText(text, limit);
        assert.ok(bytes(cut) <= limit);
        assert.ok(text.startsWith(cut));
        // The next character would not fit.
        const [next] = Array.from(text.slice(cut.length));
        assert.ok(next === undefined || bytes(cut) + bytes(next) > limit);
      }),
    );
    assert.equal(cutText('a\ud800', 10), 'a\ufffd');
    const regarding = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } };
    const reporter = { controller: 'c', instance: 'i'.repeat(200) };
    const long = { reporter, regarding, related: undefined, type: 'Normal' as const };
    const event = eventObject(
      { ...long, reason: 'R'.repeat(129), action: 'Ä'.repeat(65), note: `${'x'.repeat(1023)}€` },
      'n',
      new Date(0),
    );
    assert.deepEqual(
      ['reason', 'action', 'note', 'reportingInstance'].map((field) => bytes(String(Object(event)[field]))),
      [128, 128, 1023, 128],
    );
  });

  it('runtime/V1: names are the object with hexadecimal nanoseconds, or an identifier where that is no name', () => {
    assert.equal(
      eventName('w1', 0x18e852f7726702c7n, () => 'id'),
      'w1.18e852f7726702c7',
    );
    assert.equal(
      eventName('a:b', 255n, () => 'id'),
      'id.ff',
    );
    assert.equal(
      eventName('x'.repeat(253), 255n, () => 'id'),
      'id.ff',
    );
  });
});

const OCCURRENCE = {
  reporter: { controller: 'c', instance: 'i' },
  related: undefined,
  type: 'Normal' as const,
  reason: 'R',
  action: 'A',
  note: 'n',
};

const series = (key: string, ms: number): Series => ({
  key,
  event: eventObject(
    { ...OCCURRENCE, regarding: { apiVersion: 'v1', kind: 'Pod', metadata: { name: key } } },
    key,
    new Date(ms),
  ),
  firstObserved: new Date(ms),
  state: { count: 1, lastObserved: new Date(ms) },
  lastObservedMs: ms,
  handedCount: 1,
  handedMs: ms,
});

describe('series in memory', () => {
  it('runtime/V2: at most 4,096 are kept; the quietest makes room and its count is written', () => {
    const kept = new EventSeries();
    const first = series('first', 0);
    kept.begin(first);
    const no = () => false;
    assert.deepEqual(kept.observe(first, new Date(1), 1, no), []);
    for (let at = 1; at < 4096; at++) assert.equal(kept.begin(series(`s${at}`, at + 1)).length, 1);
    const writes = kept.begin(series('last', 5000));
    assert.deepEqual(
      writes.map((write) => [write.series.key, write.state?.count]),
      [
        ['first', 2],
        ['last', undefined],
      ],
    );
    assert.equal(kept.find('first'), undefined);
  });

  it('runtime/V4: buckets of 4,096 objects are kept, the least used one is forgotten', () => {
    const guard = new SpamGuard();
    const taken = (key: string) => Array.from({ length: 30 }, () => guard.admits(key, 0)).filter(Boolean).length;
    assert.equal(taken('a'), 25);
    assert.equal(taken('a'), 0);
    for (let at = 0; at < 4096; at++) guard.admits(`o${at}`, 0);
    assert.equal(taken('a'), 25);
  });
});
