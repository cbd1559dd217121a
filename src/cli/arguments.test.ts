import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Verb } from '../app/verb.ts';
import { parseArguments } from './arguments.ts';

const verb: Verb = {
  name: 'run',
  group: 'start here',
  summary: 's',
  examples: ['slipway run', 'slipway run --v 2'],
  settings: {
    'leader-elect': { type: 'boolean', default: true, description: 'd' },
    v: { type: 'integer', default: 0, min: 0, max: 10, description: 'd' },
    kubeconfig: { type: 'string', default: undefined, description: 'where the cluster is' },
    controllers: { type: 'list', default: [], description: 'd' },
  },
  run: async () => 0,
};
const explain: Verb = {
  ...verb,
  name: 'explain',
  positionals: [{ name: 'CODE', description: 'a code', isRequired: true }],
  settings: {},
  examples: ['slipway explain SW1', 'slipway explain SW2'],
};
const pass: Verb = { ...explain, name: 'pass', passesOn: true, examples: ['slipway pass x', 'slipway pass y'] };
const verbs = [verb, explain, pass];

const flagsOf = (line: string): Record<string, string> => {
  const invocation = parseArguments(line.split(' '), verbs);
  assert.equal(invocation.kind, 'run');
  return invocation.kind === 'run' ? Object.fromEntries(invocation.flags) : {};
};

describe('a verb that passes on', () => {
  it('leaves everything after its word as it stands, requests for help too', () => {
    const argv = ['--output', 'json', 'pass', '--plain', 'x', '--help', '-v=2', '--', 'y', '--nope'];
    const invocation = parseArguments(argv, verbs);
    assert.equal(invocation.kind, 'run');
    if (invocation.kind !== 'run') return;
    assert.deepEqual(Object.fromEntries(invocation.flags), { output: 'json', plain: 'true' });
    assert.deepEqual(invocation.positionals, ['x', '--help', '-v=2', '--', 'y', '--nope']);
  });

  it('is asked for help, or for its word, before that', () => {
    assert.equal(parseArguments(['pass', '--help'], verbs).kind, 'help');
    assert.equal(parseArguments(['pass', '--help', 'x'], verbs).kind, 'help');
    assert.throws(() => parseArguments(['pass'], verbs), /slipway pass needs CODE/);
    assert.throws(() => parseArguments(['pass', '--nope', 'x'], verbs), /unknown option --nope/);
  });
});

describe('parseArguments', () => {
  const good: readonly { line: string; want: Record<string, string> }[] = [
    { line: 'run', want: {} },
    { line: 'run --leader-elect=false', want: { 'leader-elect': 'false' } },
    { line: 'run --leader-elect', want: { 'leader-elect': 'true' } },
    { line: 'run --no-leader-elect', want: { 'leader-elect': 'false' } },
    { line: 'run --leader_elect=false', want: { 'leader-elect': 'false' } },
    { line: 'run -v=2', want: { v: '2' } },
    { line: 'run -v 2', want: { v: '2' } },
    { line: 'run --v=2', want: { v: '2' } },
    { line: 'run -kubeconfig f', want: { kubeconfig: 'f' } },
    { line: 'run --kubeconfig=a=b', want: { kubeconfig: 'a=b' } },
    { line: 'run --kubeconfig=', want: { kubeconfig: '' } },
    { line: 'run --kubeconfig -', want: { kubeconfig: '-' } },
    { line: 'run --controllers=*,-route', want: { controllers: '*,-route' } },
    { line: 'run --controllers a --controllers b', want: { controllers: 'a,b' } },
    { line: 'run -v 1 -v 2', want: { v: '2' } },
    { line: '--output json run', want: { output: 'json' } },
  ];
  for (const { line, want } of good) {
    it(`style/S28: reads "slipway ${line}"`, () => assert.deepEqual(flagsOf(line), want));
  }

  const bad: readonly { line: string; want: string }[] = [
    { line: 'rnu', want: 'unknown verb "rnu". Did you mean run?' },
    { line: 'kubernetes', want: 'unknown verb "kubernetes". See: slipway --help' },
    { line: 'run --leader-elct', want: 'unknown option --leader-elct. Did you mean --leader-elect?' },
    { line: 'run --__proto__', want: 'unknown option --__proto__. See: slipway run --help' },
    { line: 'run --constructor', want: 'unknown option --constructor. See: slipway run --help' },
    { line: 'run --kubeconfig', want: '--kubeconfig needs a value: where the cluster is' },
    {
      line: 'run --leader-elect false',
      want: 'unexpected argument "false". Write a boolean with an equals sign: --name=false',
    },
    {
      line: 'explain SW1 --kubeconfig f',
      want: 'unknown option --kubeconfig: it belongs to slipway run. See: slipway explain --help',
    },
    {
      line: 'explain SW1 --no-leader-elect',
      want: 'unknown option --no-leader-elect: it belongs to slipway run. See: slipway explain --help',
    },
    { line: 'run x', want: 'unexpected argument "x". See: slipway run --help' },
    { line: 'explain', want: 'slipway explain needs CODE: a code. Example: slipway explain SW1' },
    { line: '--prot', want: 'unknown option --prot. See: slipway --help' },
    { line: 'run --no-kubeconfig', want: 'unknown option --no-kubeconfig. Did you mean --kubeconfig?' },
    { line: 'run --no-leader-elect=true', want: 'unknown option --no-leader-elect. Did you mean --leader-elect?' },
    { line: 'run -x=2', want: 'unknown option -x. Did you mean --v?' },
    { line: 'run --formt json', want: 'unknown option --formt. Did you mean --output?' },
    { line: 'explain SW1 --verbose', want: 'unknown option --verbose. Did you mean --debug?' },
    { line: 'hepl', want: 'unknown verb "hepl". Did you mean help?' },
    { line: 'help rnu', want: 'unknown verb "rnu". Did you mean run?' },
  ];
  for (const { line, want } of bad) {
    it(`experience/X11: refuses "slipway ${line}" with one line`, () => {
      assert.throws(() => parseArguments(line.split(' '), verbs), { message: want, exitCode: 2 });
    });
  }

  it('takes --version for the verb, with the flags beside it', () => {
    const version: Verb = { ...verb, name: 'version', settings: {} };
    const invocation = parseArguments(['--version', '--output', 'json'], [version]);
    assert.equal(invocation.kind === 'run' && invocation.verb.name, 'version');
    assert.deepEqual(invocation.kind === 'run' && [...invocation.flags], [['output', 'json']]);
    assert.throws(() => parseArguments(['--version', '--bogus'], [version]), {
      message: 'unknown option --bogus. See: slipway version --help',
    });
  });

  it('takes everything after -- as it is', () => {
    for (const word of ['--output', '--help', '--version']) {
      const invocation = parseArguments(['explain', '--', word], verbs);
      assert.deepEqual(invocation.kind === 'run' && invocation.positionals, [word]);
    }
  });

  it('keeps a line break in a value', () => {
    const invocation = parseArguments(['run', '--kubeconfig=a\nb'], verbs);
    assert.deepEqual(invocation.kind === 'run' && [...invocation.flags.values()], ['a\nb']);
  });

  for (const line of ['', '--help', '-h', '-help', 'help', '--no-color']) {
    it(`shows the overview for "slipway ${line}"`, () => {
      assert.equal(parseArguments(line === '' ? [] : [line], verbs).kind, 'overview');
    });
  }

  for (const line of [
    'run --help',
    'run -h',
    'run -help',
    'help run',
    'help --help run',
    '--help run',
    'explain --help',
  ]) {
    it(`shows the help of one verb for "slipway ${line}"`, () => {
      assert.equal(parseArguments(line.split(' '), verbs).kind, 'help');
    });
  }
});
