import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chunksOf, collect } from '../../../test/support/kube-client.ts';
import type { Json } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import { isExpired } from './api-error.ts';
import { decodeWatch } from './watch-decoder.ts';

const event = (name: string, more: { [key: string]: Json } = {}): { [key: string]: Json } => ({
  type: 'ADDED',
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more },
});
const line = (value: Json): string => `${stringifyJson(value)}\n`;
const decoded = async (chunks: Iterable<Uint8Array | string>) =>
  (await collect(decodeWatch(chunksOf(chunks)))).flat();

describe('decodeWatch', () => {
  it('runtime/I9: gives the same events however the bytes are cut, with characters and lines in pieces', async () => {
    const name = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.toWellFormed());
    const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 6 }), cuts, async (names, at) => {
        const events = names.map((text) => event(text));
        const bytes = Buffer.from(events.map(line).join(''));
        const edges = [0, ...at.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        assert.deepEqual(await decoded(chunks), events);
      }),
      { numRuns: 50 },
    );
  });

  it('runtime/I9: reads a line of more than a megabyte and discards a line without an end', async () => {
    const large = event('large', { data: { text: 'é'.repeat(700_000) } });
    const text = line(large);
    const bytes = Buffer.from(`${text}${line(event('next')).slice(0, -3)}`);
    const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, at) =>
      bytes.subarray(at * 65_536, (at + 1) * 65_536),
    );
    assert.deepEqual(await decoded(chunks), [large]);
  });

  it('gives all events of a chunk in one batch, five hundred at most', async () => {
    const chunk = Array.from({ length: 1200 }, (_, at) => line(event(`n${at}`))).join('');
    const batches = await collect(decodeWatch(chunksOf([chunk, line(event('last'))])));
    assert.deepEqual(
      batches.map((batch) => batch.length),
      [500, 500, 200, 1],
    );
  });

  it('keeps integers that a number would round, and keys that V8 would mistake', async () => {
    const exact = event('exact', { spec: { big: 9223372036854775807n, list: [-9007199254740993n, 1] } });
    assert.deepEqual(await decoded([line(exact)]), [exact]);
    const keys = ['{"b":1,"\\\\":1}', '{"b":1,"\\n":1}'].map((data) =>
      line({ type: 'ADDED', object: { metadata: { name: 'x' } } }).replace(
        '"name":"x"',
        `"name":"x","labels":${data}`,
      ),
    );
    const [, second] = await decoded(keys);
    assert.deepEqual(Object.keys(second?.object.metadata.labels ?? {}), ['b', '\n']);
  });

  it('throws an ERROR event as ApiError, after the events before it', async () => {
    const error = {
      type: 'ERROR',
      object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version: 1 (2)' },
    };
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const batch of decodeWatch(chunksOf([line(event('a')) + line(error)]), {
        method: 'GET',
        path: '/x',
      })) {
        seen.push(...batch);
      }
    })();
    await assert.rejects(reading, (thrown) => isExpired(thrown) && thrown.path === '/x');
    assert.deepEqual(seen, [event('a')]);
  });

  for (const [what, text] of [
    ['no JSON', 'Bearer abc\n'],
    ['no object', '{"type":"ADDED"}\n'],
    ['an object without metadata', '{"type":"ADDED","object":{}}\n'],
    ['an unknown type', '{"type":"MOVED","object":{"metadata":{}}}\n'],
    ['null', 'null\n'],
  ] as const) {
    it(`reliability/P23: refuses a line that is ${what}, without showing it`, async () => {
      const reading = decoded([line(event('a')), text]);
      await assert.rejects(reading, { reason: 'BadWatchEvent', disposition: 'retry', message: /start over/ });
      await assert.rejects(decoded([text]), (thrown: Error) => !thrown.message.includes(text.trim().slice(0, 8)));
    });
  }

  it('skips empty lines and gives up a line without end', async () => {
    assert.deepEqual(await decoded(['\n', line(event('a')), '\r\n']), [event('a')]);
    const endless = Array.from({ length: 17 }, () => Buffer.alloc(4 * 1024 * 1024, 0x20));
    await assert.rejects(decoded(endless), { reason: 'BadWatchEvent', message: /longer than 67108864 bytes/ });
  });

  it('ends the stream when the reader leaves', async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          await Promise.resolve();
          yield Buffer.from(line(event('a')));
        }
      } finally {
        isEnded = true;
      }
    }
    for await (const batch of decodeWatch(endless())) if (batch.length > 0) break;
    assert.ok(isEnded);
  });
});
