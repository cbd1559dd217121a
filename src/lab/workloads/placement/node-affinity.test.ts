import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node, NodeSelectorRequirement, NodeSelectorTerm } from '../../../api/generated/core-v1-types.ts';
import { matchesTerms, namedNodes, nodeMatches } from './node-affinity.ts';

const node = (labels: Record<string, string> = {}, name = 'n1'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  spec: {},
  status: {},
});

const terms = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

type Operator = NodeSelectorRequirement['operator'];
const expression = (operator: Operator, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key: 'size', operator, ...(values.length > 0 && { values }) }],
});
const field = (operator: Operator, ...values: string[]): NodeSelectorTerm => ({
  matchFields: [{ key: 'metadata.name', operator, values }],
});

describe('node affinity', () => {
  const OPERATORS: readonly (readonly [
    term: NodeSelectorTerm,
    labels: Record<string, string>,
    isMatch: boolean,
  ])[] = [
    [expression('In', '3', '4'), { size: '3' }, true],
    [expression('In', '3', '4'), { size: '5' }, false],
    [expression('In', '3'), {}, false],
    [expression('In'), { size: '3' }, false],
    [expression('NotIn', '3'), { size: '4' }, true],
    [expression('NotIn', '3'), {}, true],
    [expression('NotIn', '3'), { size: '3' }, false],
    [expression('Exists'), { size: '' }, true],
    [expression('Exists'), {}, false],
    [expression('Exists', 'x'), { size: 'x' }, false],
    [expression('DoesNotExist'), {}, true],
    [expression('DoesNotExist'), { size: '1' }, false],
    [expression('Gt', '5'), { size: '10' }, true],
    [expression('Gt', '10'), { size: '10' }, false],
    [expression('Gt', '5'), { size: 'big' }, false],
    [expression('Gt', '5'), {}, false],
    [expression('Gt', '5', '6'), { size: '10' }, false],
    [expression('Gt', 'big'), { size: '10' }, false],
    [expression('Lt', '10'), { size: '5' }, true],
    [expression('Lt', '10'), { size: '10' }, false],
    [{ matchExpressions: [{ key: 'no key!', operator: 'Exists' }] }, { 'no key!': '' }, false],
  ];
  for (const [term, labels, isMatch] of OPERATORS) {
    it(`${JSON.stringify(term)} ${isMatch ? 'matches' : 'does not match'} ${JSON.stringify(labels)}`, () => {
      assert.equal(matchesTerms([term], node(labels)), isMatch);
    });
  }

  const FIELDS: readonly (readonly [term: NodeSelectorTerm, isMatch: boolean])[] = [
    [field('In', 'n1'), true],
    [field('In', 'n2'), false],
    [field('In', 'n1', 'n2'), false],
    [field('NotIn', 'n2'), true],
    [field('NotIn', 'n1'), false],
    [field('Exists'), false],
    [{ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['u'] }] }, false],
    [{ ...field('In', 'n1'), ...expression('Exists') }, false],
  ];
  for (const [term, isMatch] of FIELDS) {
    it(`${JSON.stringify(term)} ${isMatch ? 'matches' : 'does not match'} the node n1`, () => {
      assert.equal(matchesTerms([term], node()), isMatch);
    });
  }

  it('is met by one term of several, and by none when there is none or an empty one', () => {
    assert.equal(matchesTerms([expression('In', '1'), expression('In', '2')], node({ size: '2' })), true);
    assert.equal(matchesTerms([], node()), false);
    assert.equal(matchesTerms([{}], node()), false);
    assert.equal(matchesTerms([{ matchExpressions: [], matchFields: [] }], node()), false);
  });

  it('is met by all expressions of a term, not by some', () => {
    const both = {
      matchExpressions: [
        ...(expression('Gt', '1').matchExpressions ?? []),
        { key: 'gpu', operator: 'Exists' } as const,
      ],
    };
    assert.equal(matchesTerms([both], node({ size: '2', gpu: '' })), true);
    assert.equal(matchesTerms([both], node({ size: '2' })), false);
  });

  it('needs both the node selector and the required terms', () => {
    const spec = { nodeSelector: { zone: 'a' }, ...terms(expression('In', '1')) };
    assert.equal(nodeMatches(spec, node({ zone: 'a', size: '1' })), true);
    assert.equal(nodeMatches(spec, node({ zone: 'b', size: '1' })), false);
    assert.equal(nodeMatches(spec, node({ zone: 'a' })), false);
  });

  it('asks for nothing when a pod asks for nothing', () => {
    assert.equal(nodeMatches({}, node()), true);
    assert.equal(nodeMatches({ affinity: { nodeAffinity: {} } }, node()), true);
    assert.equal(nodeMatches(terms(), node()), false);
  });

  it('does not take what every object has for a label', () => {
    assert.equal(nodeMatches({ nodeSelector: { constructor: 'x' } }, node()), false);
    const inherited = { matchExpressions: [{ key: 'toString', operator: 'Exists' }] } as const;
    assert.equal(matchesTerms([inherited], node()), false);
  });
});

describe('nodes that are asked for by name', () => {
  const byName = (operator: 'In' | 'NotIn', ...values: string[]) => ({ key: 'metadata.name', operator, values });
  const labelled = { matchExpressions: [{ key: 'zone', operator: 'Exists' as const }] };
  const cases = [
    ['none', [], undefined],
    ['of each term', [{ matchFields: [byName('In', 'a')] }, { matchFields: [byName('In', 'b')] }], ['a', 'b']],
    ['that all fields of a term name', [{ matchFields: [byName('In', 'a'), byName('In', 'b')] }], []],
    ['whatever their labels', [{ ...labelled, matchFields: [byName('In', 'a')] }], ['a']],
    ['or others', [{ matchFields: [byName('In', 'a')] }, labelled], undefined],
    ['all but one', [{ matchFields: [byName('NotIn', 'a')] }], undefined],
  ] as const;
  for (const [what, nodeSelectorTerms, names] of cases) {
    it(`lab/K2: ${what}`, () => {
      const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
      const found = namedNodes({ affinity: { nodeAffinity: required } });
      assert.deepEqual(found === undefined ? undefined : [...found], names);
    });
  }
});
