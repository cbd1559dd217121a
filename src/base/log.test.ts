import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLog, type Log, type LogLevel } from './log.ts';

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

  it('does not let a field pose as the level, the time or the message', () => {
    const { log, lines } = recorded();
    log.info({ level: 'error', time: 'x', message: 'forged' }, 'Saw');
    const entry: Record<string, unknown> = JSON.parse(lines[0] ?? '');
    assert.deepEqual(
      [entry['level'], entry['time'], entry['message']],
      ['info', '1970-01-01T00:00:00.000Z', 'Saw'],
    );
    assert.deepEqual([entry['level_'], entry['time_'], entry['message_']], ['error', 'x', 'forged']);
  });

  for (const level of ['error', 'warn', 'info', 'debug'] as const) {
    it(`style/S35: cuts secrets out of the fields and the message of ${level}, and of a child log`, () => {
      const { log, lines } = recorded();
      log[level]({ token: 'cnry-1' }, 'GET https://u:cnry-1@h/ failed');
      log.child({ password: 'cnry-1' })[level]({}, 'Saw');
      assert.equal(lines.length, 2);
      assert.ok(!lines.join('').includes('cnry-1'));
    });
  }

  it('writes errors with their stack and the messages of their causes', () => {
    const { log, lines } = recorded();
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'Failed');
    const entry: { err: Record<string, unknown> } = JSON.parse(lines[0] ?? '');
    assert.equal(entry.err['type'], 'Error');
    assert.equal(entry.err['message'], 'outer');
    assert.deepEqual(entry.err['causes'], ['inner']);
    assert.match(String(entry.err['stack']), /log\.test\.ts/);
  });
});
