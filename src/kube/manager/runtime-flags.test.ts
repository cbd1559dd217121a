import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { environmentName, type Flag, flagHelp } from './flag-parser.ts';
import { parseRuntimeFlags, runtimeFlags } from './runtime-flags.ts';

const parse = (argv: readonly string[], env: Record<string, string> = {}) => parseRuntimeFlags('demo', argv, env);

describe('runtimeFlags', () => {
  it('runtime/M8: has every flag that programs must have', () => {
    const names = new Set(runtimeFlags.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
    const wanted =
      'kubeconfig context namespace namespaces metrics-bind-address metrics-secure health-probe-bind-address ' +
      'leader-elect leader-election-id leader-election-namespace lease-duration renew-deadline retry-period ' +
      'webhook-port webhook-cert-dir log-level log-format concurrency graceful-shutdown-timeout leader-profile';
    assert.deepEqual(
      wanted.split(' ').filter((name) => !names.has(name)),
      [],
    );
  });

  it('runtime/M8: each is in the help with its default, and has a variable of its own', () => {
    const help = flagHelp('demo', runtimeFlags);
    for (const flag of runtimeFlags) assert.match(help, new RegExp(`^  --${flag.name}[ <]`, 'm'));
    assert.match(help, /--metrics-bind-address .*Default :8080\./);
    assert.equal(new Set(runtimeFlags.map(environmentName)).size, runtimeFlags.length);
    assert.match(help, /\n\nEach flag can be set in the environment too: .*\n$/);
  });

  it('runtime/M8: the help speaks of no environment that is not asked, and of no empty choice', () => {
    const flag: Flag = {
      name: 'mode',
      type: 'choice',
      default: '',
      choices: ['', 'a', 'b'],
      description: 'How.',
    };
    assert.equal(
      flagHelp('demo', [flag], { asksEnvironment: false }),
      'Usage: demo [flags]\n\n  --mode <choice>  How. One of a, b.\n',
    );
  });
});

describe('parseRuntimeFlags', () => {
  it('runtime/8.1: the defaults are those of the spec', () => {
    const { config, logLevel, logFormat, isHelp } = parse([]);
    assert.deepEqual(config, {
      leaderElection: false,
      health: { bind: '0' },
      metrics: { bind: ':8080', secure: false },
      webhook: { port: 9443 },
      gracefulShutdownMs: 30_000,
      controllers: { maxConcurrent: 1 },
    });
    assert.deepEqual([logLevel, logFormat, isHelp], ['info', 'json', false]);
  });

  const elections: { argv: string[]; want: [number, number, number] }[] = [
    { argv: ['--leader-elect'], want: [15, 10, 2] },
    { argv: ['--leader-elect', '--leader-profile=openshift'], want: [137, 107, 26] },
    { argv: ['--leader-elect', '--leader-profile', 'openshift-sno'], want: [270, 240, 60] },
    { argv: ['--leader-elect=true', '--leader-profile=openshift', '--retry-period=20s'], want: [137, 107, 20] },
    { argv: ['-leader-elect', '--lease-duration=1m', '-renew-deadline', '40s'], want: [60, 40, 2] },
  ];
  for (const { argv, want } of elections) {
    it(`runtime/8.1: ${argv.join(' ')} is ${want.join('/')} s`, () => {
      const { leaderElection } = parse(argv).config;
      assert.ok(leaderElection);
      const { id, leaseMs = 0, renewMs = 0, retryMs = 0 } = leaderElection;
      assert.deepEqual([id, leaseMs / 1000, renewMs / 1000, retryMs / 1000], ['demo', ...want]);
    });
  }

  it('runtime/M8: reads the syntax of Go', () => {
    const argv = ['-v=2', '--leader-elect=F', '--namespace', 'a,b', '--namespaces=c', '--concurrency=4'];
    const { config, logLevel } = parse([...argv, '--concurrency', '8', '--graceful-shutdown-timeout=-1s']);
    assert.equal(logLevel, 'debug');
    assert.deepEqual(config.namespaces, ['a', 'b', 'c']);
    assert.deepEqual([config.leaderElection, config.controllers?.maxConcurrent], [false, 8]);
    assert.equal(config.gracefulShutdownMs, -1);
  });

  it('runtime/M8: reads the environment, and believes a flag more', () => {
    const env = { SLIPWAY_LOG_LEVEL: 'warn', SLIPWAY_KUBECONFIG: '/k', SLIPWAY_METRICS_SECURE: 'true' };
    const settings = parse(['--log-level=error'], env);
    assert.deepEqual(
      [settings.logLevel, settings.kubeconfig, settings.config.metrics?.secure],
      ['error', '/k', true],
    );
  });

  it('lists all problems at once, as one error of the user', () => {
    const argv = [
      '--leader-elct',
      '--concurrency=0',
      '--log-level=loud',
      '--metrics-bind-address=x',
      'word',
      '--leader-elect',
      '--lease-duration=1s',
      '--kubeconfig',
    ];
    assert.throws(
      () => parse(argv, { SLIPWAY_METRICS_SECURE: 'maybe' }),
      (error) => {
        const text = String(error);
        for (const part of [
          '--leader-elct is not known; did you mean --leader-elect?',
          '--concurrency: "0" is not a whole number from 1 to 1000',
          '--log-level: "loud" is none of error, warn, info, debug',
          '--metrics-bind-address is "x"',
          '"word" is no flag',
          '--lease-duration (1s) must be more than --renew-deadline (10s)',
          '--kubeconfig needs a value',
          'SLIPWAY_METRICS_SECURE: "maybe" is not true or false',
        ]) {
          assert.ok(text.includes(part), `${part} in ${text}`);
        }
        return error instanceof Error && 'disposition' in error && error.disposition === 'user';
      },
    );
  });

  it('takes the word after a flag that is not known for its value', () => {
    assert.throws(
      () => parse(['--kubeconfg', 'file', '--log-level=loud']),
      (error) => !String(error).includes('"file"') && String(error).includes('"loud"'),
    );
  });

  it('suggests nothing when nothing is near, and does not take __proto__ for a flag', () => {
    assert.throws(() => parse(['--xyzzyplugh']), /^[^;]*--xyzzyplugh is not known\n--help lists all flags$/);
    assert.throws(() => parse(['--__proto__=1']), /--__proto__ is not known/);
  });

  it('gives help whatever else is wrong', () => assert.equal(parse(['--help', '--nonsense']).isHelp, true));
});
