import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ListenerConfig, listenerChanges } from './balancer-config.ts';
import { type HealthTrack, nextHealth, UNKNOWN_HEALTH } from './health-track.ts';
import { ownProxyHeader, proxyHeader } from './proxy-header.ts';
import { rangeProblem, sourceFilter } from './source-ranges.ts';
import { chosenTarget } from './target-choice.ts';

const at = (port: number, targetPort: number, proxyProtocol?: 'v1' | 'v2'): ListenerConfig => ({
  port,
  targetPort,
  ...(proxyProtocol !== undefined && { proxyProtocol }),
});

const listenerRows = [
  { it: 'opens what is new', open: [], wanted: [at(80, 1)], opened: [80] },
  { it: 'closes what is gone', open: [at(80, 1), at(81, 1)], wanted: [at(80, 1)], kept: [80], closed: [81] },
  { it: 'keeps what stays', open: [at(80, 1, 'v1')], wanted: [at(80, 1, 'v1')], kept: [80] },
  { it: 'changes where clients go', open: [at(80, 1)], wanted: [at(80, 2)], changed: [80] },
  { it: 'changes what targets are told', open: [at(80, 1)], wanted: [at(80, 1, 'v2')], changed: [80] },
];

const portsOf = (listeners: readonly ListenerConfig[]): readonly number[] => listeners.map(({ port }) => port);

const healthRows: readonly {
  readonly it: string;
  readonly from: boolean;
  readonly results: string;
  readonly want: boolean;
}[] = [
  { it: 'is unhealthy at first', from: false, results: '', want: false },
  { it: 'is unhealthy after one success', from: false, results: '+', want: false },
  { it: 'is healthy after two successes', from: false, results: '++', want: true },
  { it: 'needs the two in a row', from: false, results: '+-+', want: false },
  { it: 'stays healthy after one failure', from: true, results: '-', want: true },
  { it: 'is unhealthy after three failures', from: true, results: '---', want: false },
  { it: 'needs the three in a row', from: true, results: '--+--', want: true },
];

const THRESHOLDS = { healthyThreshold: 2, unhealthyThreshold: 3 };

const rangeRows: readonly {
  readonly ranges: readonly string[];
  readonly from: readonly string[];
  readonly isAdmitted: boolean;
}[] = [
  { ranges: [], from: ['127.16.1.1'], isAdmitted: true },
  { ranges: ['10.16.1.0/24'], from: ['127.16.1.1', '10.16.1.1'], isAdmitted: true },
  { ranges: ['127.16.1.1/32'], from: ['127.16.1.1', '10.16.1.1'], isAdmitted: true },
  { ranges: ['10.16.2.0/24', '192.168.0.0/16'], from: ['127.16.1.1', '10.16.1.1'], isAdmitted: false },
  { ranges: ['0.0.0.0/0'], from: ['127.16.1.1'], isAdmitted: true },
  { ranges: ['192.168.0.0/0'], from: ['127.16.1.1'], isAdmitted: true },
  { ranges: ['::/0'], from: ['127.16.1.1'], isAdmitted: false },
  { ranges: ['127.0.0.0/8'], from: ['::ffff:127.16.1.1'], isAdmitted: true },
];

describe('rules of load balancers', () => {
  for (const { it: sentence, open, wanted, ...want } of listenerRows)
    it(`lab/C18: ${sentence}`, () => {
      const { opened, changed, kept, closed } = listenerChanges(open, wanted);
      const got = {
        opened: portsOf(opened),
        changed: portsOf(changed),
        kept: portsOf(kept),
        closed: portsOf(closed),
      };
      assert.deepEqual(got, { opened: [], changed: [], kept: [], closed: [], ...want });
    });

  it('lab/C18: no change of listeners loses one or has one twice', () => {
    const listener = fc.record({
      port: fc.integer({ min: 1, max: 6 }),
      targetPort: fc.integer({ min: 1, max: 2 }),
    });
    const listeners = fc.uniqueArray(listener, { selector: ({ port }) => port });
    fc.assert(
      fc.property(listeners, listeners, (open, wanted) => {
        const { opened, changed, kept, closed } = listenerChanges(open, wanted);
        const sorted = (ports: readonly number[]) => ports.toSorted((a, b) => a - b);
        assert.deepEqual(sorted(portsOf([...opened, ...changed, ...kept])), sorted(portsOf(wanted)));
        assert.deepEqual(sorted(portsOf([...closed, ...changed, ...kept])), sorted(portsOf(open)));
      }),
    );
  });

  for (const { it: sentence, from, results, want } of healthRows)
    it(`lab/C15: a target ${sentence}`, () => {
      const start: HealthTrack = { ...UNKNOWN_HEALTH, isHealthy: from };
      const end = Array.from(results).reduce(
        (track, result) => nextHealth(track, result === '+' ? undefined : 'refused', THRESHOLDS),
        start,
      );
      assert.equal(end.isHealthy, want);
    });

  it('lab/C15: the target with the fewest connections is next, and among equals who has waited longest', () => {
    const candidates = [
      { target: 'a', connections: 2, lastTurn: 1 },
      { target: 'b', connections: 1, lastTurn: 9 },
      { target: 'c', connections: 1, lastTurn: 5 },
    ];
    assert.equal(chosenTarget(candidates), 'c');
    assert.equal(chosenTarget(candidates.slice(0, 2)), 'b');
    assert.equal(chosenTarget([]), undefined);
  });

  for (const { ranges, from, isAdmitted } of rangeRows)
    it(`lab/C16: ${from.join(' or ')} is ${isAdmitted ? 'in' : 'outside'} [${ranges.join(', ')}]`, () => {
      assert.equal(sourceFilter(ranges)(from), isAdmitted);
    });

  for (const range of ['10.0.0.0', '10.0.0.0/33', '10.0/16', 'everybody', '', 'fd00::/129'])
    it(`lab/C16: "${range}" is no range`, () => assert.match(rangeProblem(range) ?? '', /is not a range/));

  it('lab/C16: ranges of both kinds are ranges', () => {
    assert.deepEqual(['10.0.0.0/8', '10.1.2.3/32', 'fd00::/8'].map(rangeProblem), [
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('lab/C17: headers are, byte for byte, what the protocol says', () => {
    const [client, wanted] = [
      { host: '127.16.1.2', port: 40_000 },
      { host: '127.16.128.1', port: 443 },
    ];
    assert.equal(proxyHeader('v1', client, wanted).toString(), 'PROXY TCP4 127.16.1.2 127.16.128.1 40000 443\r\n');
    assert.equal(
      proxyHeader('v2', client, wanted).toString('hex'),
      '0d0a0d0a000d0a515549540a2111000c7f1001027f1080019c4001bb',
    );
    assert.equal(ownProxyHeader('v1').toString(), 'PROXY UNKNOWN\r\n');
    assert.equal(ownProxyHeader('v2').toString('hex'), '0d0a0d0a000d0a515549540a20000000');
  });

  it('lab/C17: headers can tell of IPv6 addresses', () => {
    const [client, wanted] = [
      { host: 'fd00::1', port: 1 },
      { host: 'fd00::2', port: 2 },
    ];
    assert.equal(proxyHeader('v1', client, wanted).toString(), 'PROXY TCP6 fd00::1 fd00::2 1 2\r\n');
    const binary = proxyHeader('v2', client, wanted);
    assert.deepEqual([binary.readUInt8(13), binary.readUInt16BE(14), binary.length], [0x21, 36, 52]);
  });
});
