import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog, type Log, type LogLevel, REDACTED, redacted, redactedText } from './log.ts';

function recorded(level: LogLevel = 'debug'): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const log = createLog({ level, write: (line) => lines.push(line), now: () => new Date(0) });
  return { log, lines };
}

describe('the log', () => {
  it('style/S37: writes one JSON line per entry', () => {
    const { log, lines } = recorded();
    log.info({ machine: 'w-0' }, 'Created instance');
    assert.deepEqual(lines, [
      '{"level":"info","time":"1970-01-01T00:00:00.000Z","machine":"w-0","message":"Created instance"}\n',
    ]);
  });

  it('keeps the fields of a child log in every entry', () => {
    const { log, lines } = recorded();
    log.child({ controller: 'node' }).warn({ name: 'a' }, 'Waiting');
    assert.match(lines[0] ?? '', /"controller":"node","name":"a"/);
  });

  it('leaves out what is below its level', () => {
    const { log, lines } = recorded('warn');
    log.debug({}, 'Looked');
    log.info({}, 'Changed');
    log.warn({}, 'Degraded');
    log.error({}, 'Broken');
    assert.equal(lines.length, 2);
  });

  it('cannot be made to forge a line', () => {
    const { log, lines } = recorded();
    log.info({ name: 'a\n{"level":"error"}' }, 'Saw');
    assert.equal((lines[0] ?? '').trimEnd().split('\n').length, 1);
  });

  it('writes errors with their stack and the messages of their causes', () => {
    const { log, lines } = recorded();
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'Failed');
    const entry: { err: Record<string, unknown> } = JSON.parse(lines[0] ?? '');
    assert.equal(entry.err['message'], 'outer');
    assert.deepEqual(entry.err['causes'], ['inner']);
    assert.match(String(entry.err['stack']), /log\.test\.ts/);
  });
});

describe('redaction', () => {
  const canary = 'cnry-7f3a9b2c5d';
  const texts = [
    `Authorization: Bearer ${canary}`,
    `https://admin:${canary}@cloud.example/v1`,
    `GET /v1/x?access_token=${canary}&y=1 failed`,
    `-----BEGIN EC PRIVATE KEY-----\n${canary}\n-----END EC PRIVATE KEY-----`,
    `-----BEGIN PRIVATE KEY-----\n${canary} and then it was cut`,
    `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjbnJ5In0.${canary}`,
  ];
  for (const text of texts) {
    it(`style/S35: cuts the secret out of ${JSON.stringify(text.slice(0, 28))}`, () => {
      assert.ok(!redactedText(text).includes(canary));
      assert.ok(redactedText(text).includes(REDACTED));
    });
  }

  const keys = ['password', 'bmcPassword', 'token', 'clientSecret', 'authorization', 'cookie', 'pullSecret'];
  for (const key of [...keys, 'api-key', 'privateKey', 'kubeconfig', 'data', 'stringData', 'ignition']) {
    it(`style/S35: blanks the value of ${key}, however deep`, () => {
      const found = JSON.stringify(redacted({ a: [{ b: { [key]: canary } }] }));
      assert.equal(found, `{"a":[{"b":{"${key}":"${REDACTED}"}}]}`);
    });
  }

  it('keeps what is harmless', () => {
    const fields = {
      node: 'w-0',
      count: 3,
      isReady: true,
      at: new Date(0),
      none: null,
      key: 'zone',
      hasToken: false,
    };
    assert.deepEqual(redacted(fields), fields);
  });

  it('cuts secrets out of error messages, stacks and causes', () => {
    const err = new Error(`Bearer ${canary}`, { cause: new Error(`https://u:${canary}@h/`) });
    assert.ok(!JSON.stringify(redacted({ err })).includes(canary));
  });

  it('survives cycles, depth, bytes and big integers', () => {
    const cycle: Record<string, unknown> = { size: 5n, raw: new Uint8Array(3) };
    cycle['self'] = cycle;
    const text = JSON.stringify(redacted(cycle));
    assert.match(text, /"size":"5","raw":"\[3 bytes\]"/);
    assert.match(text, /\[deeper\]/);
  });
});
