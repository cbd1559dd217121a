import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { NetworkMode } from './address-plan.ts';
import {
  type AddressScheme,
  clusterApiAddress,
  isOwned,
  labAddress,
  nodeAddress,
  toApi,
  toWire,
} from './address-scheme.ts';

const scheme = (mode: NetworkMode = 'loopback', octet = 16): AddressScheme => ({ octet, mode });
const byte = fc.integer({ min: 0, max: 255 });
const mode = fc.constantFrom<NetworkMode>('loopback', 'anyip', 'ports');

describe('address scheme', () => {
  const wires = [
    { of: 'loopback', want: '127.16.33.7' },
    { of: 'anyip', want: '10.16.33.7' },
    { of: 'ports', want: '127.0.0.1' },
  ] as const;
  for (const { of, want } of wires)
    it(`lab/X1: shows 10.L.a.b and dials ${want} in mode ${of}`, () => {
      assert.deepEqual(labAddress(scheme(of), 33, 7), { api: '10.16.33.7', wire: want });
    });

  it('lab/X1: replaces the first octet and nothing else, both ways', () => {
    fc.assert(
      fc.property(byte, byte, fc.integer({ min: 16, max: 250 }), (a, b, octet) => {
        const { api, wire } = labAddress(scheme('loopback', octet), a, b);
        assert.equal(wire, api.replace(/^10\./, '127.'));
        assert.equal(toApi(scheme('loopback', octet), wire), api);
        assert.equal(toWire(scheme('loopback', octet), api), wire);
      }),
    );
  });

  it('leaves addresses of others as they are in every mode', () => {
    const others = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain(), fc.string());
    fc.assert(
      fc.property(mode, others, (of, address) => {
        fc.pre(!/^(10|127)\.16\./.test(address));
        assert.equal(isOwned(scheme(of), address), false);
        assert.equal(toWire(scheme(of), address), address);
        assert.equal(toApi(scheme(of), address), address);
      }),
    );
  });

  it('turns what is converted already into itself', () => {
    fc.assert(
      fc.property(mode, byte, byte, (of, a, b) => {
        const { api, wire } = labAddress(scheme(of), a, b);
        assert.equal(toApi(scheme(of), api), api);
        assert.equal(toWire(scheme(of), wire), wire);
      }),
    );
  });

  const owned = [
    { of: 'loopback', address: '10.16.0.1', want: true },
    { of: 'loopback', address: '127.16.0.1', want: true },
    { of: 'loopback', address: '10.161.0.1', want: false },
    { of: 'loopback', address: '10.16.0', want: false },
    { of: 'loopback', address: '10.16.0.1.example.com', want: false },
    { of: 'anyip', address: '127.16.0.1', want: false },
    { of: 'ports', address: '10.16.0.1', want: true },
    { of: 'ports', address: '127.0.0.1', want: false },
  ] as const;
  for (const { of, address, want } of owned)
    it(`${want ? 'owns' : 'does not own'} ${address} in mode ${of}`, () => {
      assert.equal(isOwned(scheme(of), address), want);
    });

  it('lab/X1: node n of cluster k is k.n, and k.254 its API server', () => {
    assert.equal(nodeAddress(scheme(), 1, 1).api, '10.16.1.1');
    assert.equal(nodeAddress(scheme(), 31, 253).wire, '127.16.31.253');
    assert.equal(clusterApiAddress(scheme(), 31).wire, '127.16.31.254');
  });

  it('says what a lab can hold when there is more', () => {
    for (const cluster of [0, 32, 1.5, Number.NaN])
      assert.throws(() => clusterApiAddress(scheme(), cluster), /a lab has clusters 1 to 31, not (0|32|1.5|NaN)/);
    for (const node of [0, 254, -1])
      assert.throws(() => nodeAddress(scheme(), 1, node), /a cluster of a lab has nodes 1 to 253, not (0|254|-1)/);
  });
});
