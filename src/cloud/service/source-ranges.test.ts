import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { balancedService } from '../../../test/support/balanced-services.ts';
import { SlipwayError } from '../../base/errors.ts';
import { allowsEverybody, SOURCE_RANGES_ANNOTATION, sourceRanges } from './source-ranges.ts';

const ranges = (spec: readonly string[] | undefined, annotation?: string): readonly string[] =>
  sourceRanges(
    balancedService({
      ...(annotation !== undefined && { metadata: { annotations: { [SOURCE_RANGES_ANNOTATION]: annotation } } }),
      ...(spec !== undefined && { spec: { loadBalancerSourceRanges: spec } }),
    }),
  );

describe('who may connect', () => {
  const cases: readonly {
    readonly name: string;
    readonly spec?: readonly string[];
    readonly annotation?: string;
    readonly want: readonly string[];
  }[] = [
    { name: 'everybody, when nobody says otherwise', want: ['0.0.0.0/0'] },
    { name: 'everybody, when the annotation is blank', annotation: ' ', want: ['0.0.0.0/0'] },
    { name: 'what the spec says', spec: ['10.0.0.0/8', '192.0.2.0/24'], want: ['10.0.0.0/8', '192.0.2.0/24'] },
    {
      name: 'what the spec says before the annotation',
      spec: ['10.0.0.0/8'],
      annotation: '192.0.2.0/24',
      want: ['10.0.0.0/8'],
    },
    {
      name: 'what the annotation says when the spec is empty',
      spec: [],
      annotation: '192.0.2.0/24',
      want: ['192.0.2.0/24'],
    },
    { name: 'without blanks', annotation: ' 10.0.0.0/8 ,192.0.2.0/24 ', want: ['10.0.0.0/8', '192.0.2.0/24'] },
    { name: 'each network once', spec: ['10.1.2.3/8', '10.0.0.0/8', ' 10.9.9.9/8'], want: ['10.0.0.0/8'] },
    { name: 'one host', spec: ['192.0.2.77/32'], want: ['192.0.2.77/32'] },
    { name: 'a network that ends inside a byte', spec: ['192.0.2.77/26'], want: ['192.0.2.64/26'] },
    { name: 'IPv6', spec: ['2001:DB8:1:2:3:4:5:6/48', '::/0'], want: ['2001:db8:1::/48', '::/0'] },
    { name: 'IPv6 with an IPv4 end', spec: ['64:ff9b::192.0.2.33/120'], want: ['64:ff9b::c000:200/120'] },
  ];
  for (const { name, spec, annotation, want } of cases)
    it(`ccm/S29: is ${name}`, () => assert.deepEqual(ranges(spec, annotation), want));

  for (const text of ['10.0.0.1/32, ', '10.0.0.1', '10.0.0.0/33', 'office', '10.0.0.0/8,,192.0.2.0/24', '/8'])
    it(`ccm/S29, ccm/C29: is not to be told from ${JSON.stringify(text)}, and says so`, () => {
      assert.throws(
        () => ranges(undefined, text),
        (error) =>
          error instanceof SlipwayError &&
          error.disposition === 'user' &&
          error.message.startsWith(`metadata.annotations[${SOURCE_RANGES_ANNOTATION}] must hold CIDRs`),
      );
    });

  it('ccm/S29: names the field and what was found in it', () => {
    assert.throws(() => ranges(['10.0.0.0/8', 'x']), {
      message: 'spec.loadBalancerSourceRanges must hold CIDRs such as 10.0.0.0/8, not "x"',
    });
  });

  it('ccm/S29: is everybody as soon as one range has no bits', () => {
    assert.equal(allowsEverybody(ranges(['10.0.0.0/8', '192.168.0.0/0'])), true);
    assert.equal(allowsEverybody(ranges(['10.0.0.0/8'])), false);
  });

  it('ccm/S29: does not change when it is worked out again', () => {
    const v4 = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`);
    const v6 = fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`);
    fc.assert(
      fc.property(fc.array(fc.oneof(v4, v6), { minLength: 1, maxLength: 5 }), (texts) => {
        const once = ranges(texts);
        assert.deepEqual(ranges(once), once);
        assert.equal(new Set(once).size, once.length);
      }),
    );
  });
});
