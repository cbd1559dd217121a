import assert from 'node:assert/strict';
import { PassThrough, Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { RecordedOutput } from '../../../test/support/process-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { OutputExcerpt } from './output-excerpt.ts';
import { pumpOutput } from './output-pump.ts';

/** Takes nothing while it is stalled, as a log on a full disk. */
class StallingOutput extends RecordedOutput {
  isStalled = false;
  #ready = Promise.withResolvers<void>();

  override write(stream: 'stdout' | 'stderr', bytes: Uint8Array): boolean {
    super.write(stream, bytes);
    return !this.isStalled;
  }

  override drained(): Promise<void> {
    return this.#ready.promise;
  }

  ready(): void {
    this.isStalled = false;
    this.#ready.resolve();
    this.#ready = Promise.withResolvers();
  }
}

async function turns(): Promise<void> {
  for (let count = 0; count < 5; count++) await turn();
}

/** A stream from a child into a log that takes `first` and then stalls. */
async function stalled(first: string) {
  const clock = new VirtualClock();
  const from = new PassThrough();
  const sink = new StallingOutput();
  const done = pumpOutput(from, { stream: 'stdout', sink, clock });
  sink.isStalled = true;
  from.write(first);
  await turns();
  const later = async (text: string) => {
    from.write(text);
    await turns();
  };
  const end = async () => {
    from.end();
    await done;
    return sink.text();
  };
  return { clock, from, sink, later, end };
}

describe('the output of a child', () => {
  it('lab/P7: arrives as the bytes that were written, text or not', async () => {
    const sink = new RecordedOutput();
    const bytes = [Buffer.from([0xff, 0xfe, 0x00]), Buffer.from([0x0a, 0xe2, 0x82])];
    await pumpOutput(Readable.from(bytes), { stream: 'stderr', sink, clock: new VirtualClock() });
    assert.deepEqual(sink.bytes('stderr'), Buffer.concat(bytes));
  });

  it('lab/P7: waits for a log that is slow, and loses nothing within a second', async () => {
    const { clock, sink, later, end } = await stalled('one\n');
    await later('two\n');
    await clock.advance(999);
    assert.equal(sink.text(), 'one\n');
    sink.ready();
    await turns();
    assert.equal(await end(), 'one\ntwo\n');
  });

  it('lab/P7: is dropped by whole lines after a second, and one line says how many', async () => {
    const { clock, sink, later, end } = await stalled('one\n');
    await clock.advance(1000);
    await later('two\nthree\nfo');
    await later('ur\n');
    sink.ready();
    await later('five\n');
    await later('six\n');
    assert.equal(await end(), 'one\n[slipway] 3 lines were dropped: the log could not keep up\nfive\nsix\n');
  });

  it('lab/P7: goes on at the beginning of a line, and the marker stands alone', async () => {
    const { clock, sink, later, end } = await stalled('on');
    await clock.advance(1000);
    await later('e\ntw');
    sink.ready();
    await later('o');
    await later('!\nthree\n');
    assert.equal(await end(), 'on\n[slipway] 2 lines were dropped: the log could not keep up\nthree\n');
  });

  it('lab/P7: is not touched by a pause in which nothing was said', async () => {
    const { clock, sink, later, end } = await stalled('on');
    await clock.advance(5000);
    sink.ready();
    await later('e\n');
    assert.equal(await end(), 'one\n');
  });

  it('lab/P7: ends with the marker when the log is stalled to the end', async () => {
    const { clock, later, end } = await stalled('one\n');
    await clock.advance(1000);
    await later('two');
    assert.equal(await end(), 'one\n[slipway] 1 line was dropped: the log could not keep up\n');
  });

  it('lab/P7: goes on when the log fails while it is waited for', async () => {
    const sink = new StallingOutput();
    sink.isStalled = true;
    sink.drained = () => Promise.reject(new Error('disk full'));
    await pumpOutput(Readable.from([Buffer.from('a\n'), Buffer.from('b\n')]), {
      stream: 'stdout',
      sink,
      clock: new VirtualClock(),
    });
    assert.equal(sink.text(), 'a\nb\n');
  });

  it('lab/P7: is never kept in memory: a child waits in its write, or its words are gone', async () => {
    const { clock, from, sink } = await stalled('start\n');
    const flood = Buffer.alloc(64 * 1024, 'x\n');
    // Nobody takes it: the pipe is full after its own buffer.
    for (let count = 0; count < 100 && from.write(flood); count++) await turns();
    await turns();
    assert.ok(from.readableLength + from.writableLength <= 1024 * 1024, `${from.readableLength} bytes are kept`);
    await clock.advance(1000);
    for (let count = 0; count < 100; count++) {
      from.write(flood);
      await turns();
    }
    assert.equal(from.readableLength, 0);
    assert.equal(sink.text(), 'start\n');
    from.destroy();
  });

  it('lab/P7: that breaks off is an end', async () => {
    const { from, sink, end } = await stalled('one\n');
    sink.ready();
    await turns();
    from.destroy(new Error('broken pipe'));
    assert.equal(await end(), 'one\n');
  });
});

describe('an excerpt of output', () => {
  it('lab/N21: keeps the first 10 KiB of both streams together', () => {
    const output = new OutputExcerpt();
    assert.equal(output.write('stdout', Buffer.alloc(10_000, 'a')), true);
    assert.equal(output.write('stderr', Buffer.alloc(10_000, 'b')), true);
    assert.equal(output.write('stdout', Buffer.alloc(10_000, 'c')), true);
    assert.equal(output.text, `${'a'.repeat(10_000)}${'b'.repeat(240)}`);
  });
});
