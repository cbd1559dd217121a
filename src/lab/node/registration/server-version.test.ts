import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubeletVersion, serverVersion } from './server-version.ts';

describe('serverVersion', () => {
  const rows = [
    [{ major: '1', minor: '36', gitVersion: 'v1.36.0' }, 'v1.36.0+slipway'],
    [{ major: '1', minor: '31+' }, 'v1.31.0+slipway'],
  ] as const;
  for (const [answer, version] of rows) {
    it(`lab/N3: makes ${version} of minor version ${answer.minor}`, () => {
      assert.equal(kubeletVersion(serverVersion(answer)), version);
    });
  }

  for (const answer of [
    undefined,
    null,
    [],
    'v1.36',
    {},
    { major: '1' },
    { major: 1, minor: 36 },
    { minor: 'x' },
  ]) {
    it(`refuses ${JSON.stringify(answer)}`, () => {
      assert.throws(() => serverVersion(answer), {
        reason: 'BadServerVersion',
        message: /expected are two numbers/,
      });
    });
  }
});
