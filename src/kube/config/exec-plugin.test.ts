import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  base64,
  clientPair,
  KubeconfigWorld,
  oneContext,
  testAuthority,
} from '../../../test/support/kubeconfig-world.ts';
import { SlipwayError } from '../../base/errors.ts';
import { isRecord } from '../../object/record.ts';
import type { ProgramResult } from './exec-process.ts';

const V1 = 'client.authentication.k8s.io/v1';

const exec = (extra: readonly string[] = [], version = V1): readonly string[] => [
  'exec:',
  `  apiVersion: ${version}`,
  '  command: get-token',
  '  args: [--cluster, "a b"]',
  '  env: [{name: PROFILE, value: dev}]',
  '  interactiveMode: Never',
  '  installHint: "brew install get-token"',
  ...extra.map((line) => `  ${line}`),
];

function worldWith(
  user: readonly string[],
  cluster: readonly string[] = ['server: https://127.0.0.1:6443'],
): KubeconfigWorld {
  const world = new KubeconfigWorld();
  world.files.set('/cfg/config', oneContext(cluster, user));
  world.programs.add('/usr/bin/get-token');
  return world;
}

const env = { KUBECONFIG: '/cfg/config', PATH: '/bin:/usr/bin', HOME: '/home/me', GONE: undefined };

const printed = (status: unknown, version = V1): ProgramResult => ({
  outcome: 'exited',
  exitCode: 0,
  stdout: JSON.stringify({ kind: 'ExecCredential', apiVersion: version, status }),
  stderr: '',
});

const thrownBy = async (promise: Promise<unknown>): Promise<SlipwayError> => {
  const error = await promise.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof SlipwayError);
  return error;
};

const infoOf = (world: KubeconfigWorld): Record<string, unknown> => {
  const info: unknown = JSON.parse(world.runs.at(-1)?.env['KUBERNETES_EXEC_INFO'] ?? '');
  assert.ok(isRecord(info));
  return info;
};

describe('an exec plugin', () => {
  it('runtime/C4: runs the program of PATH with its arguments, its variables and KUBERNETES_EXEC_INFO', async () => {
    const world = worldWith(exec());
    world.results = [printed({ token: 'tok' })];
    const { credentials } = await world.load({ env });
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer tok' });
    const [run] = world.runs;
    assert.deepEqual([run?.command, run?.args], ['/usr/bin/get-token', ['--cluster', 'a b']]);
    assert.deepEqual(
      [run?.env['PROFILE'], run?.env['HOME'], Object.keys(run?.env ?? {}).includes('GONE')],
      ['dev', '/home/me', false],
    );
    assert.deepEqual(infoOf(world), { kind: 'ExecCredential', apiVersion: V1, spec: { interactive: false } });
  });

  it('runtime/C4: tells the plugin about the cluster when it wants to know, with the CA inline and its own config', async () => {
    const { certificatePem } = await testAuthority();
    const cluster = [
      'server: https://h/prefix',
      'certificate-authority: ca',
      'tls-server-name: sni',
      'proxy-url: http://127.0.0.1:1',
      'disable-compression: true',
      'extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}, {name: other, extension: {}}]',
    ];
    const world = worldWith(exec(['provideClusterInfo: true'], `${V1}beta1`), cluster);
    world.files.set('/cfg/ca', certificatePem);
    world.results = [printed({ token: 'tok' }, `${V1}beta1`)];
    await (await world.load({ env })).credentials.headers();
    assert.deepEqual(infoOf(world)['spec'], {
      cluster: {
        server: 'https://h/prefix',
        'tls-server-name': 'sni',
        'certificate-authority-data': base64(certificatePem),
        'proxy-url': 'http://127.0.0.1:1',
        'disable-compression': true,
        config: { audience: 'x' },
      },
      interactive: false,
    });
  });

  it('runtime/C4: runs once for callers at the same time and keeps the result until 10 s before it ends', async () => {
    const world = worldWith(exec());
    world.results = [
      printed({ token: 'one', expirationTimestamp: '2026-03-01T12:01:00Z' }),
      printed({ token: 'two' }),
    ];
    const { credentials } = await world.load({ env });
    await Promise.all([credentials.headers(), credentials.headers(), credentials.clientCertificate()]);
    await world.clock.advance(49_000);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer one' });
    assert.equal(world.runs.length, 1);
    await world.clock.advance(1000);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer two' });
    assert.equal(world.runs.length, 2);
  });

  it('runtime/C4: runs once more after a 401, however many requests were refused', async () => {
    const world = worldWith(exec());
    world.results = [printed({ token: 'one' }), printed({ token: 'two' })];
    const { credentials } = await world.load({ env });
    const refused = await credentials.headers();
    credentials.refresh(refused);
    credentials.refresh(refused);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer two' });
    credentials.refresh(refused);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer two' });
    assert.equal(world.runs.length, 2);
  });

  it('runtime/C4: runs again once for a credential that has expired already, then fails with its end', async () => {
    const world = worldWith(exec());
    const old = printed({ token: 'old', expirationTimestamp: '2026-03-01T11:00:00Z' });
    world.results = [old, printed({ token: 'good' })];
    const { credentials } = await world.load({ env });
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer good' });
    credentials.refresh();
    world.results = [old];
    const error = await thrownBy(credentials.headers());
    assert.match(
      error.message,
      /printed twice a credential that had expired already \(2026-03-01T11:00:00\.000Z\)/,
    );
    assert.equal(world.runs.length, 4);
  });

  it('runtime/C4: gives the certificate, and tells when a later run gives another', async () => {
    const world = worldWith(exec());
    const [first, second] = [await clientPair('first'), await clientPair('second')];
    const status = ({ certPem, keyPem }: typeof first) => ({
      clientCertificateData: certPem,
      clientKeyData: keyPem,
    });
    world.results = [
      printed({ ...status(first), token: 'a' }),
      printed({ ...status(first), token: 'b' }),
      printed(status(second)),
    ];
    const { credentials } = await world.load({ env });
    let changes = 0;
    const subscription = credentials.onCertificateChange(() => changes++);
    assert.deepEqual(await credentials.clientCertificate(), first);
    credentials.refresh();
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer b' });
    assert.equal(changes, 0);
    credentials.refresh();
    assert.deepEqual(await credentials.headers(), {});
    assert.equal(changes, 1);
    assert.deepEqual(await credentials.clientCertificate(), second);
    subscription[Symbol.dispose]();
  });

  it('runs again when the certificate it gave ends, even if it said nothing about that', async () => {
    const world = worldWith(exec());
    const { certPem, keyPem } = await clientPair('short', 60_000);
    world.results = [
      printed({ clientCertificateData: certPem, clientKeyData: keyPem }),
      printed({ token: 'new' }),
    ];
    const { credentials } = await world.load({ env });
    await credentials.clientCertificate();
    await world.clock.advance(51_000);
    assert.equal(await credentials.clientCertificate(), undefined);
  });

  it('runtime/C4: hands standard input on only if the mode allows it and it is a terminal', async () => {
    const cases: readonly [string, boolean, boolean | string][] = [
      ['Never', true, false],
      ['IfAvailable', true, true],
      ['IfAvailable', false, false],
      ['Always', true, true],
      ['Always', false, 'ExecPluginNeedsTerminal'],
    ];
    for (const [mode, isTerminal, expected] of cases) {
      const world = worldWith(exec().map((line) => line.replace('Never', mode)));
      world.results = [printed({ token: 't' })];
      const { credentials } = await world.load({ env, isTerminal });
      const reason = await credentials.headers().then(
        () => world.runs[0]?.isInteractive,
        (error: unknown) => (error instanceof SlipwayError ? error.reason : error),
      );
      assert.equal(reason, expected, `${mode} ${isTerminal}`);
    }
  });

  it('aborts the program when the last caller gave up, and runs anew for the next', async () => {
    const world = worldWith(exec());
    world.results = [printed({ token: 't' })];
    const { credentials } = await world.load({ env });
    const stop = new AbortController();
    const gone = credentials.headers(stop.signal).catch((error: unknown) => error);
    stop.abort(new Error('gave up'));
    assert.equal(String(await gone), 'Error: gave up');
    assert.equal(world.runs[0]?.signal.aborted, true);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer t' });
  });

  const failures: readonly [string, ProgramResult, RegExp][] = [
    [
      'an exit code',
      { outcome: 'exited', exitCode: 3, stdout: '', stderr: 'token=abcdefgh denied\n' },
      /failed with exit code 3; it said: token=\[redacted\] denied\. Its install hint says: brew install/,
    ],
    ['a signal', { outcome: 'exited', stdout: '', stderr: '' }, /was ended by a signal/],
    [
      'a timeout',
      { outcome: 'timeout', stdout: '', stderr: 'waiting' },
      /did not end within 60 s; it said: waiting/,
    ],
    ['too much output', { outcome: 'too-much-output', stdout: '', stderr: '' }, /printed more than 1 MiB/],
    [
      'a file that is no program',
      { outcome: 'not-runnable', stdout: '', stderr: 'EACCES' },
      /cannot be run; it said: EACCES/,
    ],
    [
      'a program that is gone',
      { outcome: 'not-found', stdout: '', stderr: '' },
      /is not installed.*brew install get-token/,
    ],
    [
      'nothing',
      { outcome: 'exited', exitCode: 0, stdout: ' ', stderr: '' },
      /printed nothing instead of an ExecCredential/,
    ],
    [
      'other text',
      { outcome: 'exited', exitCode: 0, stdout: 'secret', stderr: '' },
      /printed 6 characters of other text/,
    ],
    [
      'another kind',
      { outcome: 'exited', exitCode: 0, stdout: '{"kind":"Token"}', stderr: '' },
      /printed kind "Token" instead of/,
    ],
    [
      'another version',
      printed({ token: 't' }, `${V1}beta1`),
      /printed apiVersion "client.authentication.k8s.io\/v1beta1", but the kubeconfig says/,
    ],
    ['no status', printed(undefined), /without status/],
    ['an empty status', printed({}), /printed neither a token nor a certificate/],
    ['half a certificate', printed({ clientKeyData: 'x' }), /printed only one of certificate and key/],
    ['a wrong type', printed({ token: 5 }), /status\.token that is not text/],
    ['a wrong time', printed({ token: 't', expirationTimestamp: 'soon' }), /is no RFC 3339 time/],
    ['a token with a line break', printed({ token: 'a\nb' }), /printed a token that cannot be used/],
    [
      'a broken certificate',
      printed({ clientCertificateData: 'c', clientKeyData: 'k' }),
      /printed a client certificate that cannot be used/,
    ],
  ];
  for (const [what, result, expected] of failures) {
    it(`runtime/C4: explains ${what} with the install hint, and tries again at the next request`, async () => {
      const world = worldWith(exec());
      world.results = [result, printed({ token: 'later' })];
      const { credentials } = await world.load({ env });
      const { message } = await thrownBy(credentials.headers());
      assert.match(message, expected);
      assert.match(message, /brew install get-token/);
      assert.deepEqual(await credentials.headers(), { authorization: 'Bearer later' });
    });
  }

  it('runtime/C4: says at once that the program is missing, with the install hint', async () => {
    const world = worldWith(exec());
    world.programs.clear();
    const message = await world.failure({ env });
    assert.match(
      message,
      /:16: users\["u"\]\.user\.exec\.command: the credential plugin "get-token" is not installed: no such program in PATH\. Its install hint says: brew install get-token/,
    );
  });

  it('looks for a command with a slash beside the kubeconfig', async () => {
    const world = worldWith(exec().map((line) => line.replace('get-token', './bin/login')));
    assert.match(await world.failure({ env }), /no such program at that path/);
    world.programs.add('/cfg/bin/login');
    world.results = [printed({ token: 't' })];
    await (await world.load({ env })).credentials.headers();
    assert.equal(world.runs[0]?.command, '/cfg/bin/login');
  });

  it('lists what is wrong with the section', async () => {
    const wrong = ['exec:', '  apiVersion: client.authentication.k8s.io/v1alpha1', '  env: [{value: x}]'];
    const message = await worldWith(wrong).failure({ env });
    assert.match(message, /exec\.apiVersion: found ".*v1alpha1"; allowed is .*v1 or .*v1beta1; v1alpha1 is gone/);
    assert.match(message, /exec\.interactiveMode: is missing; allowed is Never, IfAvailable, Always/);
    assert.match(message, /exec\.command: is missing/);
    assert.match(message, /exec\.env\[0\]\.name: is missing/);
  });

  it('does not run beside a token, as kubectl does not', async () => {
    const world = worldWith(['token: fixed', ...exec()]);
    const { credentials } = await world.load({ env });
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer fixed' });
    assert.equal(world.runs.length, 0);
  });
});
