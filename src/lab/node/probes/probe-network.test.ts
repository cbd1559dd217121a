import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NetworkMode } from '../../address/address-plan.ts';
import { dialOf, type ProbeNetwork, socketFailure } from './probe-network.ts';

const network = (mode: NetworkMode): ProbeNetwork => ({
  plan: {
    mode,
    owns: (host) => host.startsWith('10.16.') || host.startsWith('127.16.'),
    target: ({ host, port }) => ({
      host: host.replace(/^10\./, '127.'),
      port: port < 1024 ? 20_000 + port : port,
    }),
  },
  nodeWire: '127.16.1.1',
});

describe('dialOf', () => {
  it('lab/N21: dials the wire address of a pod, from that of the node', () => {
    const dial = dialOf(network('loopback'), { host: '10.16.32.5', port: 80 });
    assert.deepEqual(dial, { host: '127.16.32.5', port: 20_080, localAddress: '127.16.1.1' });
  });

  for (const host of ['localhost', '127.0.0.1', '::1']) {
    it(`lab/N21: takes ${host} for the node, as a kubelet does`, () => {
      const dial = dialOf(network('loopback'), { host, port: 10_257 });
      assert.deepEqual(dial, { host: '127.16.1.1', port: 10_257, localAddress: '127.16.1.1' });
    });
  }

  it('leaves the source address open for other hosts, and where all places share one', () => {
    assert.deepEqual(dialOf(network('loopback'), { host: '192.0.2.1', port: 8080 }), {
      host: '192.0.2.1',
      port: 8080,
    });
    assert.deepEqual(dialOf(network('ports'), { host: '10.16.32.5', port: 8080 }), {
      host: '127.16.32.5',
      port: 8080,
    });
  });
});

describe('socketFailure', () => {
  const rows: readonly (readonly [string | undefined, string])[] = [
    ['ECONNREFUSED', 'dial tcp 10.16.32.5:80: connect: connection refused'],
    ['ECONNRESET', 'read tcp 10.16.32.5:80: connection reset by peer'],
    ['EHOSTUNREACH', 'dial tcp 10.16.32.5:80: connect: no route to host'],
    ['EOTHER', 'dial tcp 10.16.32.5:80: text'],
    [undefined, 'dial tcp 10.16.32.5:80: text'],
  ];
  for (const [code, message] of rows) {
    it(`says "${message}"`, () => {
      const error = Object.assign(new Error('text'), code !== undefined && { code });
      assert.equal(socketFailure(error, { host: '10.16.32.5', port: 80 }), message);
    });
  }
});
