import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Node, NodeCondition } from '../../api/generated/core-v1-types.ts';
import type { NodeAddress } from '../../sdk/capabilities/instances.ts';
import type { CloudRoute } from '../../sdk/capabilities/routes.ts';
import { cidrText, clusterRanges, isWithin } from './cidr-range.ts';
import { networkCondition, planRoutes } from './plan.ts';

const CLUSTER = ['10.244.0.0/14'];
const BOTH = ['10.244.0.0/14', 'fd00:10::/48'];
const NOW = new Date('2026-01-01T00:00:00Z');
const HERE: readonly NodeAddress[] = [
  { type: 'InternalIP', address: '192.0.2.1' },
  { type: 'Hostname', address: 'n1' },
];

interface NodeOptions {
  readonly addresses?: readonly NodeAddress[];
  readonly conditions?: readonly NodeCondition[];
}

const node = (
  name: string,
  podCIDRs: readonly string[] = [],
  { addresses = HERE, conditions = [] }: NodeOptions = {},
): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-${name}` },
  spec: { podCIDRs },
  status: { addresses, conditions },
});

const route = (targetNode: string, destinationCIDR: string, more: Partial<CloudRoute> = {}): CloudRoute => ({
  name: `${targetNode}-${destinationCIDR}`,
  targetNode,
  destinationCIDR,
  ...more,
});

interface Row {
  readonly what: string;
  readonly routes?: readonly CloudRoute[];
  readonly nodes?: readonly Node[];
  readonly clusters?: readonly string[];
  readonly isTracking?: boolean;
  /** `+` created, `-` removed, `=` whose condition is written without that, `?` without a right to any route. */
  readonly want: readonly string[];
}

const [A, B] = ['10.244.1.0/24', '10.244.2.0/24'];
const BLACKHOLE = { blackhole: true };
const reversed = { targetNodeAddresses: HERE.toReversed() };
const moved = { targetNodeAddresses: [{ type: 'InternalIP', address: '192.0.2.9' }] as const };

const ROWS: readonly Row[] = [
  { what: 'ccm/T5: adds what is missing', nodes: [node('a', [A]), node('b', [B])], want: [`+a ${A}`, `+b ${B}`] },
  { what: 'ccm/T5: keeps what fits', routes: [route('a', A)], nodes: [node('a', [A])], want: ['=a'] },
  {
    what: 'ccm/T5: a route of another node is no route',
    routes: [route('b', A)],
    nodes: [node('a', [A]), node('b', [B])],
    want: [`-b ${A}`, `+a ${A}`, `+b ${B}`],
  },
  { what: 'ccm/T4, ccm/C27: skips nodes without pod CIDRs', nodes: [node('a')], want: [] },
  {
    what: 'ccm/T4, ccm/T9: a node without pod CIDRs that has a route loses it',
    routes: [route('a', A)],
    nodes: [node('a')],
    want: [`-a ${A}`, '?a'],
  },
  { what: 'ccm/T6: removes routes of nodes that are gone', routes: [route('gone', A)], want: [`-gone ${A}`] },
  { what: 'ccm/T6: removes routes of nobody', routes: [route('', A)], want: [`- ${A}`] },
  {
    what: 'ccm/T6: removes routes that a node does not want any more',
    routes: [route('a', A), route('a', B)],
    nodes: [node('a', [B])],
    want: [`-a ${A}`, '=a'],
  },
  {
    what: 'ccm/T6, ccm/C25: leaves routes outside the cluster alone',
    routes: [route('gone', '10.248.0.0/24')],
    want: [],
  },
  {
    what: 'ccm/T6, ccm/C26: leaves blackholes outside alone',
    routes: [route('', '10.248.0.0/24', BLACKHOLE)],
    want: [],
  },
  { what: 'ccm/T6, ccm/C26: removes blackholes inside', routes: [route('', A, BLACKHOLE)], want: [`- ${A}`] },
  {
    what: 'ccm/T6: a blackhole to a node that needs the route is made anew',
    routes: [route('a', A, BLACKHOLE)],
    nodes: [node('a', [A])],
    want: [`-a ${A}`, `+a ${A}`],
  },
  {
    what: 'ccm/T6, ccm/C26: removes a blackhole beside the route that it looks like',
    routes: [route('a', A), route('a', A, BLACKHOLE)],
    nodes: [node('a', [A])],
    want: [`-a ${A}`, '=a'],
  },
  {
    what: 'ccm/T6: ignores what is no CIDR',
    routes: [route('gone', 'default'), route('gone', '10.244.1.0')],
    want: [],
  },
  {
    what: 'ccm/T11: makes one route per CIDR of a dual-stack node',
    clusters: BOTH,
    routes: [route('a', A)],
    nodes: [node('a', [A, 'fd00:10:0:1::/64'])],
    want: ['+a fd00:10:0:1::/64'],
  },
  {
    what: 'ccm/T5: another spelling is the same destination',
    clusters: BOTH,
    routes: [route('a', 'fd00:0010:0000:0001:0:0:0:0/64')],
    nodes: [node('a', ['fd00:10:0:1::/64'])],
    want: ['=a'],
  },
  {
    what: 'ccm/T5: replaces a route whose node has other addresses',
    isTracking: true,
    routes: [route('a', A, moved)],
    nodes: [node('a', [A])],
    want: [`-a ${A}`, `+a ${A}`],
  },
  {
    what: 'ccm/T5: the order of addresses does not matter',
    isTracking: true,
    routes: [route('a', A, reversed)],
    nodes: [node('a', [A])],
    want: ['=a'],
  },
  {
    what: 'ccm/T5: nor do addresses that the cloud does not keep',
    routes: [route('a', A, moved)],
    nodes: [node('a', [A])],
    want: ['=a'],
  },
  {
    what: 'ccm/T5: nor those that it does not tell',
    isTracking: true,
    routes: [route('a', A)],
    nodes: [node('a', [A])],
    want: ['=a'],
  },
  {
    what: 'ccm/T6: never replaces a route that is not ours',
    isTracking: true,
    routes: [route('a', '10.0.0.0/24', moved)],
    nodes: [node('a', ['10.0.0.0/24'])],
    want: ['=a'],
  },
];

const planned = ({
  routes = [],
  nodes = [],
  clusters = CLUSTER,
  isTracking = false,
}: Omit<Row, 'what' | 'want'>) =>
  planRoutes({ routes, nodes, clusters: clusterRanges(clusters), tracksNodeAddresses: isTracking });

function textsOf(plan: ReturnType<typeof planRoutes>): readonly string[] {
  const removed = plan.remove.map(({ targetNode, destinationCIDR }) => `-${targetNode} ${destinationCIDR}`);
  const routed = plan.nodes.flatMap(({ node: { metadata }, hasCidrs, create }) => {
    if (create.length === 0) return [`${hasCidrs ? '=' : '?'}${metadata.name}`];
    return create.map(({ targetNode, destinationCIDR }) => `+${targetNode} ${destinationCIDR}`);
  });
  return [...removed, ...routed];
}

describe('planRoutes', () => {
  for (const { what, want, ...row } of ROWS) it(what, () => assert.deepEqual(textsOf(planned(row)), want));

  it('ccm/T8: gives a new route the addresses of its node', () => {
    const odd = { type: 'Weird', address: 'x' } as unknown as NodeAddress;
    const plan = planned({ nodes: [node('a', [A], { addresses: [...HERE, odd] })] });
    const wanted = { targetNode: 'a', targetNodeAddresses: HERE, destinationCIDR: A };
    assert.deepEqual(plan.nodes[0]?.create, [wanted]);
  });

  it('ccm/T5, ccm/T6: has nothing to do after it was carried out, and never touches what is not ours', () => {
    const name = fc.constantFrom('a', 'b', 'c', '');
    const cidr = fc.constantFrom(A, B, '10.244.3.0/24', '10.248.0.0/24', '10.0.0.0/8', 'odd', 'fd00:10:0:1::/64');
    const routes = fc.array(
      fc.record({
        targetNode: name,
        destinationCIDR: cidr,
        blackhole: fc.boolean(),
        targetNodeAddresses: fc.constant(HERE),
      }),
      { maxLength: 8 },
    );
    const cidrs = fc.subarray([A, B, '10.244.3.0/24', 'fd00:10:0:1::/64']);
    fc.assert(
      fc.property(routes, fc.tuple(cidrs, cidrs), fc.boolean(), (found, [one, other], isTracking) => {
        const nodes = [node('a', one), node('b', other)];
        const clusters = BOTH;
        const first = planned({ routes: found, nodes, clusters, isTracking });
        for (const { destinationCIDR } of first.remove)
          assert.ok(isWithin(destinationCIDR, clusterRanges(clusters)));
        const created = first.nodes.flatMap(({ create }) => create);
        const after = [...found.filter((each) => !first.remove.includes(each)), ...created];
        const second = planned({ routes: after, nodes, clusters, isTracking });
        assert.deepEqual([second.remove, second.nodes.flatMap(({ create }) => create)], [[], []]);
        for (const { metadata, spec } of nodes)
          for (const wanted of spec.podCIDRs ?? [])
            assert.ok(after.some((each) => each.targetNode === metadata.name && each.destinationCIDR === wanted));
      }),
    );
  });
});

describe('networkCondition', () => {
  const said = (status: string, reason: string): Node =>
    node('a', [A], { conditions: [{ type: 'NetworkUnavailable', status, reason }] });
  const created = {
    type: 'NetworkUnavailable',
    status: 'False',
    reason: 'RouteCreated',
    message: 'RouteController created a route',
    lastHeartbeatTime: '2026-01-01T00:00:00Z',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const missing = {
    ...created,
    status: 'True',
    reason: 'NoRouteCreated',
    message: 'RouteController failed to create a route',
  };

  it('ccm/T9: says whether the routes are there', () => {
    assert.deepEqual(networkCondition(node('a', [A]), true, NOW), created);
    assert.deepEqual(networkCondition(node('a', [A]), false, NOW), missing);
  });

  it('ccm/T9, ccm/C28: is left alone only when status and reason are right', () => {
    assert.equal(networkCondition(said('False', 'RouteCreated'), true, NOW), undefined);
    assert.equal(networkCondition(said('True', 'NoRouteCreated'), false, NOW), undefined);
    assert.deepEqual(networkCondition(said('False', 'CalicoIsUp'), true, NOW), created);
    assert.deepEqual(networkCondition(said('True', 'RouteCreated'), true, NOW), created);
    assert.deepEqual(networkCondition(said('False', 'RouteCreated'), false, NOW), missing);
  });
});

describe('ranges of addresses', () => {
  it('ccm/T6: a destination is ours when it begins or ends inside', () => {
    const clusters = clusterRanges(['10.244.0.0/16', 'fd00:10::/48']);
    const rows: readonly (readonly [string, boolean])[] = [
      ['10.244.0.0/24', true],
      ['10.244.255.0/24', true],
      ['10.244.0.0/15', true],
      ['10.245.0.0/24', false],
      ['10.0.0.0/8', false],
      ['0.0.0.0/0', false],
      ['10.244.7.9/24', true],
      ['fd00:10:0:ffff::/64', true],
      ['fd00:11::/64', false],
      ['::ffff:10.244.0.0/120', false],
      ['10.244.0.0', false],
      ['', false],
    ];
    for (const [destination, want] of rows) assert.equal(isWithin(destination, clusters), want, destination);
  });

  it('has one spelling for each', () => {
    assert.deepEqual(['10.1.2.3/16', 'FD00:0:0:0::1/64', 'odd'].map(cidrText), [
      '10.1.0.0/16',
      'fd00::/64',
      'odd',
    ]);
  });

  it('ccm/T1: takes one network, or one of each family', () => {
    for (const texts of [['10.0.0.0/8'], ['fd00::/48'], BOTH, BOTH.toReversed()])
      assert.equal(clusterRanges(texts).length, texts.length);
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /must be set/],
      [['10.0.0.0'], /not "10\.0\.0\.0"/],
      [['10.0.0.0/8', 'x'], /not "x"/],
      [[''], /not ""/],
      [['10.0.0.0/8', '11.0.0.0/8'], /one of IPv4 and one of IPv6/],
      [['fd00::/48', 'fd01::/48'], /one of IPv4 and one of IPv6/],
      [['10.0.0.0/8', 'fd00::/48', '11.0.0.0/8'], /two networks at most, not 3/],
    ];
    for (const [texts, message] of rows)
      assert.throws(() => clusterRanges(texts), { disposition: 'user', message });
  });
});
