import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Node, NodeAddress } from '../../api/generated/core-v1.ts';
import { canonicalAddress, isSameAddresses, nodeAddresses, PROVIDED_IP_ANNOTATION } from './addresses.ts';
import { NodeProblem } from './node-problem.ts';

const TYPES: Readonly<Record<string, string>> = {
  H: 'Hostname',
  I: 'InternalIP',
  E: 'ExternalIP',
  D: 'InternalDNS',
};
/** `I 10.0.0.1`. */
const address = (text: string): NodeAddress => {
  const [letter = '', value = ''] = text.split(' ');
  return { type: TYPES[letter] ?? letter, address: value };
};
const textOf = ({ type, address: value }: NodeAddress): string =>
  `${Object.keys(TYPES).find((letter) => TYPES[letter] === type) ?? type} ${value}`;

function node(annotation: string | undefined, shown: readonly string[] = []): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'n1',
      ...(annotation !== undefined && { annotations: { [PROVIDED_IP_ANNOTATION]: annotation } }),
    },
    spec: {},
    status: { addresses: shown.map(address) },
  };
}

interface Row {
  readonly rule: string;
  readonly annotation?: string;
  readonly shown?: readonly string[];
  readonly offered: readonly string[];
  /** Absent: the Node stays as it is. */
  readonly want?: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    rule: 'ccm/A1: leaves the status alone when the provider has no addresses',
    shown: ['I 10.0.0.9'],
    offered: [],
  },
  {
    rule: 'ccm/A1: does so even when the kubelet was told an address',
    annotation: '10.0.0.1',
    offered: [],
  },
  {
    rule: 'ccm/A2: keeps the names of the kubelet, at the end, when the provider has none',
    shown: ['H one', 'I 10.0.0.9', 'H two'],
    offered: ['I 10.0.0.1', 'E 203.0.113.5'],
    want: ['I 10.0.0.1', 'E 203.0.113.5', 'H one', 'H two'],
  },
  {
    rule: 'ccm/A2: lets the names of the provider replace those of the kubelet',
    shown: ['H one'],
    offered: ['H cloud', 'I 10.0.0.1'],
    want: ['H cloud', 'I 10.0.0.1'],
  },
  {
    rule: 'ccm/A4: puts what the kubelet uses first, and leaves out others of that type',
    annotation: '10.0.0.1',
    shown: ['H n1.internal'],
    offered: ['I 10.0.0.9', 'I 10.0.0.1', 'E 203.0.113.5'],
    want: ['I 10.0.0.1', 'E 203.0.113.5', 'H n1.internal'],
  },
  {
    rule: 'ccm/C8: keeps an address that has two types under both',
    annotation: '10.1.1.1',
    shown: ['H n1'],
    offered: ['E 10.1.1.1', 'I 10.1.1.1', 'I 10.2.2.2'],
    want: ['E 10.1.1.1', 'I 10.1.1.1', 'H n1'],
  },
  {
    rule: 'ccm/A4: compares numbers and keeps the spelling of the provider',
    annotation: '2001:db8::1',
    offered: ['I 2001:0DB8:0:0:0:0:0:1', 'D n1.internal'],
    want: ['I 2001:0DB8:0:0:0:0:0:1', 'D n1.internal'],
  },
  {
    rule: 'ccm/A3: reads zeros in front as decimal',
    annotation: '010.001.1.08',
    offered: ['I 10.1.1.8'],
    want: ['I 10.1.1.8'],
  },
  {
    rule: 'ccm/A4: takes an IPv4 address within IPv6 for that address',
    annotation: '::ffff:10.1.1.8',
    offered: ['I 10.1.1.8'],
    want: ['I 10.1.1.8'],
  },
  {
    rule: 'ccm/A4: follows the order of the annotation, not that of the provider',
    annotation: 'fd00::1,10.0.0.1',
    offered: ['I 10.0.0.1', 'I fd00::1', 'I fd00::2', 'E 203.0.113.5'],
    want: ['I fd00::1', 'I 10.0.0.1', 'E 203.0.113.5'],
  },
  {
    rule: 'ccm/A5: drops the other family of a matched type, and keeps other types whole',
    annotation: '10.0.0.1',
    offered: ['E 203.0.113.5', 'I fd00::1', 'E 2001:db8::5', 'I 10.0.0.1'],
    want: ['I 10.0.0.1', 'E 203.0.113.5', 'E 2001:db8::5'],
  },
];

describe('nodeAddresses', () => {
  for (const { rule, annotation, shown = [], offered, want } of ROWS) {
    it(rule, () => {
      const found = nodeAddresses(node(annotation, shown), offered.map(address));
      assert.deepEqual(found?.map(textOf), want);
    });
  }

  const REFUSED: readonly (readonly [string, string, RegExp])[] = [
    ['ccm/A3: an empty annotation', '', /"" is no IP address/],
    ['ccm/A3: a blank beside an address', '10.0.0.1, fd00::1', /" fd00::1" is no IP address/],
    ['ccm/A3: a name', 'n1.internal', /is no IP address/],
    ['ccm/A3: a number beyond a byte', '10.0.0.256', /is no IP address/],
    ['ccm/A3: three numbers', '10.0.1', /is no IP address/],
    ['ccm/A3: a zone', 'fe80::1%eth0', /is no IP address/],
    ['ccm/C7: two addresses of one family', '10.1.1.1,10.1.1.2', /one IPv4 and one IPv6/],
    ['ccm/A3: three addresses', '10.0.0.1,fd00::1,10.0.0.2', /one IPv4 and one IPv6/],
    ['ccm/A3: nothing in particular within a pair', '0.0.0.0,fd00::1', /0\.0\.0\.0 and ::/],
    ['ccm/A3: the same in IPv6', '10.0.0.1,::', /0\.0\.0\.0 and ::/],
  ];
  for (const [rule, annotation, message] of REFUSED) {
    it(`${rule} is refused`, () => {
      assert.throws(() => nodeAddresses(node(annotation), [address('I 10.0.0.1')]), {
        name: 'NodeProblem',
        reason: 'InvalidNodeAddress',
        message,
      });
    });
  }

  it('ccm/A4, ccm/O16: says which address is missing, what there is and what to do', () => {
    const offered = ['I 10.0.0.9', 'E 203.0.113.5', 'I 10.0.0.9'].map(address);
    assert.throws(
      () => nodeAddresses(node('10.0.0.01'), offered),
      (error: unknown) => {
        assert.ok(error instanceof NodeProblem);
        assert.equal(error.reason, 'NodeAddressMismatch');
        assert.equal(error.disposition, 'retry');
        assert.match(
          error.message,
          /^failed to get node address from cloud provider that matches ip: 10\.0\.0\.1;/,
        );
        assert.match(
          error.message,
          /kubelet uses 10\.0\.0\.01 \(annotation alpha\.kubernetes\.io\/provided-node-ip\)/,
        );
        assert.match(
          error.message,
          /returned ExternalIP 203\.0\.113\.5, InternalIP 10\.0\.0\.9; make the provider/,
        );
        return true;
      },
    );
  });

  it('ccm/A4: one of a pair that the provider does not know is a mismatch', () => {
    assert.throws(() => nodeAddresses(node('10.0.0.1,fd00::1'), [address('I 10.0.0.1')]), /matches ip: fd00::1/);
  });

  it('ccm/A4, ccm/A5: loses no type, invents nothing, and says the same when asked again', () => {
    const one = fc.record({
      type: fc.constantFrom('InternalIP', 'ExternalIP', 'InternalDNS'),
      address: fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1', 'a.example'),
    });
    const arbitrary = [
      fc.array(one, { minLength: 1 }),
      fc.constantFrom('10.0.0.1', 'fd00::1', undefined),
    ] as const;
    fc.assert(
      fc.property(...arbitrary, (offered: readonly NodeAddress[], annotation) => {
        const known = annotation === undefined || offered.some((each) => each.address === annotation);
        if (!known) return assert.throws(() => nodeAddresses(node(annotation), offered), NodeProblem);
        const found = nodeAddresses(node(annotation), offered) ?? [];
        const types = (list: readonly NodeAddress[]) => new Set(list.map(({ type }) => type));
        assert.deepEqual(types(found), types(offered));
        assert.ok(found.every((each) => offered.includes(each)));
        assert.ok(annotation === undefined || found[0]?.address === annotation);
        assert.ok(isSameAddresses(nodeAddresses(node(annotation), found) ?? [], found));
      }),
    );
  });
});

describe('canonicalAddress', () => {
  it('ccm/A4: spells every text of an address in one way', () => {
    const texts = [
      'FD00:0:0::1',
      'fd00::0001',
      '0::0',
      '1.2.3.4',
      '001.02.3.4',
      '::ffff:1.2.3.4',
      'x',
      '1.2.3.4/24',
    ];
    const want = ['fd00::1', 'fd00::1', '::', '1.2.3.4', '1.2.3.4', '1.2.3.4', undefined, undefined];
    assert.deepEqual(texts.map(canonicalAddress), want);
  });
});

describe('isSameAddresses', () => {
  it('ccm/B1: sees another order, and no change between two addresses of one type', () => {
    const pair = ['I 10.0.0.1', 'I 10.0.0.2'].map(address);
    assert.equal(isSameAddresses(pair, [...pair]), true);
    assert.equal(isSameAddresses(pair, pair.toReversed()), false);
    assert.equal(isSameAddresses(pair, pair.slice(0, 1)), false);
    assert.equal(isSameAddresses(pair.slice(0, 1), pair), false);
  });
});
