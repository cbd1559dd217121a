import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideNetwork, networkSentence, printedUrl } from './network-mode.ts';

describe('network mode', () => {
  const cases = [
    { requested: 'auto', bindError: undefined, want: 'loopback' },
    { requested: 'auto', bindError: 'EADDRNOTAVAIL', want: 'ports' },
    { requested: 'ports', bindError: undefined, want: 'ports' },
    { requested: 'loopback', bindError: 'EADDRNOTAVAIL', want: 'loopback' },
    { requested: 'anyip', bindError: undefined, want: 'anyip' },
  ] as const;
  for (const { requested, bindError, want } of cases)
    it(`lab/X10: ${requested} is ${want} where binding says ${bindError ?? 'yes'}`, () => {
      assert.equal(decideNetwork(requested, bindError).mode, want);
    });

  const sentences = [
    {
      of: decideNetwork('auto', undefined),
      offset: 0,
      want: /^Network mode loopback, because all of 127\.0\.0\.0\/8 can be bound here: .* of its own\.$/,
    },
    {
      of: decideNetwork('auto', 'EADDRNOTAVAIL'),
      offset: 0,
      want: /^Network mode ports, because only 127\.0\.0\.1 can be bound here \(EADDRNOTAVAIL\): .* once per port\.$/,
    },
    {
      of: decideNetwork('anyip', undefined),
      offset: 20_000,
      want: /^Network mode anyip, because it was asked for: .* local route; ports below 1024 .* at 20000 \+ port\.$/,
    },
  ];
  for (const { of, offset, want } of sentences)
    it(`lab/X10: says in one sentence why mode ${of.mode} is on`, () => {
      assert.match(networkSentence(of, offset), want);
    });

  it('lab/X7: prints the port of the lab beside the one that works, where they differ', () => {
    const at = { host: '10.16.128.1', port: 443 };
    assert.equal(
      printedUrl('https', at, { host: '127.16.128.1', port: 20_443 }),
      'https://127.16.128.1:20443 (port 443 of 10.16.128.1)',
    );
    assert.equal(printedUrl('https', at, { host: '127.16.128.1', port: 443 }), 'https://127.16.128.1:443');
  });
});
