import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseScenario, scenarioOptions } from './scenario.ts';

const inFile = () => 'lab.yaml';

describe('scenarioOptions', () => {
  it('lab/B4: takes the same options as startLab', () => {
    const given = {
      clusters: [{ name: 'hub' }, { name: 'c1', controlPlane: 3, workers: 2, cloudProvider: 'external' }],
      cloud: { zones: ['a', 'b'], consistencyMs: 2000, quotas: { instances: 8 } },
      images: { 'acme/npu-plugin': { argv: ['node', 'plugin.ts'] } },
      unknownImages: 'fail',
      clock: 'scaled:20',
      seed: 7,
      replace: { scheduler: 'off' },
    };
    assert.deepEqual(scenarioOptions(given, inFile), { ...given, clock: { scaled: 20 } });
    assert.deepEqual(scenarioOptions({ nodes: 5, clock: 'auto', cloud: true }, inFile), {
      nodes: 5,
      clock: 'auto',
      cloud: true,
    });
  });

  const wrong = [
    {
      name: 'a misspelt word',
      given: { unknownImage: 'fail' },
      want: /lab\.yaml: unknownImage is unknown: did you mean unknownImages\?/,
    },
    {
      name: 'a word below',
      given: { clusters: [{ name: 'a', worker: 1 }] },
      want: /clusters\.0\.worker is unknown: did you mean workers\?/,
    },
    {
      name: 'a word of nobody',
      given: { zzzzzzz: 1 },
      want: /zzzzzzz is unknown: allowed are nodes, clusters, cloud/,
    },
    { name: 'a wrong clock', given: { clock: 'fast' }, want: /clock must be real, auto, or scaled:N/ },
    {
      name: 'a stand-in that is none',
      given: { replace: { schduler: 'off' } },
      want: 'lab.yaml: replace.schduler is unknown: did you mean scheduler?',
    },
    {
      name: 'a number that is none',
      given: { nodes: 'three' },
      want: 'lab.yaml: nodes must be a whole number from 0 to 253, not "three"',
    },
    {
      name: 'a word that is none of the allowed',
      given: { unknownImages: 'ignore' },
      want: 'lab.yaml: unknownImages must be one of simulate, fail, not "ignore"',
    },
    {
      name: 'a cloud that is no answer',
      given: { cloud: 'yes' },
      want: 'lab.yaml: cloud must be true or false or a map, not "yes"',
    },
    {
      name: 'what is missing',
      given: { images: { a: {} } },
      want: 'lab.yaml: images.a.argv is missing: it must be a list of texts',
    },
    {
      name: 'a capacity that is no quantity',
      given: { clusters: [{ name: 'a', capacity: { cpu: 'lots' } }] },
      want: 'lab.yaml: clusters.0.capacity.cpu must be a quantity such as 4, 500m or 16Gi',
    },
    {
      name: 'two clusters of one name',
      given: { clusters: [{ name: 'a' }, { name: 'b' }, { name: 'a' }] },
      want: 'lab.yaml: clusters.2.name a is the name of another cluster',
    },
    {
      name: 'a part of the cloud',
      given: { cloud: { zones: 5 } },
      want: 'lab.yaml: cloud.zones must be a list of texts, not 5',
    },
    {
      name: 'a misspelt part of the cloud',
      given: { cloud: { zone: [] } },
      want: 'lab.yaml: cloud.zone is unknown: did you mean zones?',
    },
    {
      name: 'no program',
      given: { images: { a: { argv: [] } } },
      want: 'lab.yaml: images.a.argv must not be empty',
    },
    { name: 'no folder', given: { data: '' }, want: 'lab.yaml: data must not be empty' },
    {
      name: 'too many clusters',
      given: { clusters: Array.from({ length: 33 }, (_, at) => ({ name: `c${at}` })) },
      want: 'lab.yaml: clusters must have at most 31 entries',
    },
    {
      name: 'a capacity of another type',
      given: { clusters: [{ name: 'a', capacity: { cpu: true } }] },
      want: 'lab.yaml: clusters.0.capacity.cpu must be a quantity such as 4, 500m or 16Gi',
    },
    {
      name: 'a number without end',
      given: { nodes: Infinity },
      want: 'lab.yaml: nodes must be a whole number from 0 to 253, not Infinity',
    },
    {
      name: 'a seed that is too large',
      given: { seed: 2 ** 60 },
      want: 'lab.yaml: seed must be at most 9007199254740991',
    },
    {
      name: 'a program at no place',
      given: { images: { a: { argv: ['a'], programs: { tool: 'b' } } } },
      want: 'lab.yaml: images.a.programs.tool must begin with /',
    },
    {
      name: 'both forms',
      given: { nodes: 1, clusters: [] },
      want: /nodes is the short form of clusters: write one of the two/,
    },
    { name: 'no object', given: 'nodes', want: 'lab.yaml: the file must be a map, not "nodes"' },
    { name: 'several at once', given: { nodes: -1, seed: 'x' }, want: /nodes must .*\nlab\.yaml: seed must / },
  ];
  for (const { name, given, want } of wrong)
    it(`lab/B4: refuses ${name}`, () => {
      assert.throws(() => scenarioOptions(given, inFile), { reason: 'InvalidScenario', message: want });
    });
});

describe('parseScenario', () => {
  it('lab/B4: takes a number for a quantity, as YAML has it', () => {
    const capacity = { cpu: '8', memory: '16Gi' };
    assert.deepEqual(parseScenario('clusters: [{ name: a, capacity: { cpu: 8, memory: 16Gi } }]', 'x.yaml'), {
      clusters: [{ name: 'a', capacity }],
    });
  });

  it('lab/B4: reads YAML, and takes an empty file as a lab with everything as usual', () => {
    assert.deepEqual(parseScenario('nodes: 2 # and nothing else\nclock: scaled:5', 'x.yaml'), {
      nodes: 2,
      clock: { scaled: 5 },
    });
    assert.deepEqual(parseScenario('', 'x.yaml'), {});
  });

  const wrong = [
    {
      name: 'the line of a misspelt word',
      text: 'cloud: true\nclusters:\n  - name: a\n    worker: 1\n',
      want: 'x.yaml:4: clusters.0.worker is unknown: did you mean workers?',
    },
    {
      name: 'the line of each of several problems',
      text: 'seed: 1\nnodes: -1\n\nmaxChildren: 0\n',
      want: /^x\.yaml:2: nodes must .*\nx\.yaml:4: maxChildren must /,
    },
    {
      name: 'the line of what lacks something',
      text: 'images:\n  acme/a:\n    argv: [a]\n  acme/b:\n    env: {}\n',
      want: /^x\.yaml:4: images\.acme\/b\.argv is missing/,
    },
    {
      name: 'the line behind an alias',
      text: 'images:\n  a: &a\n    argv: [a]\n    usr: 1\n  b: *a\n',
      want: /^x\.yaml:4: images\.a\.usr is unknown: did you mean user\?\nx\.yaml:4: images\.b\.usr/,
    },
    {
      name: 'what is no YAML',
      text: 'nodes: [1\n',
      want: /^x\.yaml: not valid YAML: .* at line 2, column 1$/,
    },
    { name: 'a list', text: '- nodes: 1', want: 'x.yaml:1: the file must be a map, not [{"nodes":1}]' },
  ];
  for (const { name, text, want } of wrong)
    it(`lab/B4: names ${name}`, () => {
      assert.throws(() => parseScenario(text, 'x.yaml'), { reason: 'InvalidScenario', message: want });
    });
});
