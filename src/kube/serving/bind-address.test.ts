import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseBindAddress } from './bind-address.ts';

describe('parseBindAddress', () => {
  const cases = [
    { text: ':8080', want: { port: 8080 } },
    { text: '127.0.0.1:0', want: { host: '127.0.0.1', port: 0 } },
    { text: 'localhost:65535', want: { host: 'localhost', port: 65_535 } },
    { text: '[::1]:8443', want: { host: '::1', port: 8443 } },
  ];
  for (const { text, want } of cases) {
    it(`reads ${text}`, () => assert.deepEqual(parseBindAddress(text, '--x'), want));
  }

  for (const text of ['0', '']) {
    it(`runtime/M7: binding "${text}" disables the server`, () =>
      assert.equal(parseBindAddress(text, '--x'), undefined));
  }

  for (const text of ['8080', ':65536', '::1:80', 'a b:80', ':', ':-1', 'http://x:80', '[::1]']) {
    it(`refuses "${text}" and names the field`, () =>
      assert.throws(() => parseBindAddress(text, '--metrics-bind-address'), {
        reason: 'InvalidBindAddress',
        message: /--metrics-bind-address is ".*write \[host\]:port/,
      }));
  }
});
