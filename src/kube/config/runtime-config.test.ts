import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  clientPair,
  HOUR_MS,
  KubeconfigWorld,
  NOW,
  testAuthority,
} from '../../../test/support/kubeconfig-world.ts';
import { VirtualClock } from '../../base/clock.ts';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import type { RuntimeConfig } from './runtime-config.ts';
import { validateRuntimeConfig } from './runtime-config-check.ts';

const problemsOf = (config: unknown): string => {
  try {
    validateRuntimeConfig(config as RuntimeConfig);
  } catch (error) {
    assert.ok(error instanceof SlipwayError);
    assert.equal(error.reason, 'InvalidConfiguration');
    return messageOf(error);
  }
  return '';
};

describe('the configuration of a program', () => {
  it('takes nothing at all, and everything that is allowed', () => {
    assert.equal(problemsOf({}), '');
    const config: RuntimeConfig = {
      kube: { url: 'https://127.0.0.1:6443' },
      fieldManager: 'my operator',
      namespaces: ['a', 'b'],
      leaderElection: {
        id: 'lock.example.io',
        namespace: 'ns',
        leaseMs: 15_000,
        renewMs: 10_000,
        retryMs: 2000,
        release: true,
      },
      health: { bind: ':8081' },
      metrics: { bind: '[::1]:8443', secure: true, auth: true, certDir: '/certs' },
      webhook: { port: 9443, host: '0.0.0.0', selfSigned: { secretName: 'webhook-cert', service: 'webhook' } },
      gracefulShutdownMs: 0,
      cache: {
        resyncMs: 0,
        keepManagedFields: false,
        byKind: { 'deployments.apps': {} },
        consistency: 'own-writes',
      },
      controllers: { maxConcurrent: 4, byGroupKind: { 'Deployment.apps': 2 }, cacheSyncTimeoutMs: 1 },
      clock: new VirtualClock(),
      signal: new AbortController().signal,
    };
    assert.equal(problemsOf(config), '');
    assert.equal(
      problemsOf({ leaderElection: false, health: { bind: '0' }, kube: () => Promise.reject(new Error()) }),
      '',
    );
  });

  it('runtime/C8: fails with all problems at once', () => {
    const message = problemsOf({
      fieldManger: 'x',
      fieldManager: '',
      namespaces: [],
      leaderElection: { id: 'Bad_Name', leaseMs: 5000 },
      health: {},
      metrics: { bind: 'localhost' },
      webhook: { port: 70_000, certDir: '/c', selfSigned: { secretName: 's', service: 'w' } },
      gracefulShutdownMs: -2,
      cache: { consistency: 'strong', resyncMs: '1h' },
      controllers: { maxConcurrent: 0, byGroupKind: { A: 0.5 } },
      kube: { url: 'h:1' },
    });
    assert.match(message, /^the configuration has 15 problems:/);
    for (const expected of [
      'fieldManger: is not known; allowed are kube, fieldManager',
      'fieldManager: found "", but it must be 1 to 128 printable characters',
      'namespaces: found [], but it must be a list of different namespaces',
      'leaderElection.id: found "Bad_Name"',
      'leaderElection.leaseMs: found 5000, but it must be above renewMs (10000)',
      'health.bind: found nothing, but it must be "host:port"',
      'metrics.bind: found "localhost"',
      'webhook.port: found 70000',
      'webhook.selfSigned: certDir is there too',
      'gracefulShutdownMs: found -2',
      'cache.consistency: found "strong", but it must be "own-writes" or "eventual"',
      'cache.resyncMs: found "1h"',
      'controllers.maxConcurrent: found 0',
      'controllers.byGroupKind: found {"A":0.5}',
      'kube.url: found "h:1"',
    ]) {
      assert.ok(message.includes(expected), `${expected}\nis missing in\n${message}`);
    }
  });

  const wrong: readonly [unknown, RegExp][] = [
    [{ leaderElection: true }, /leaderElection: found true, but it must be an object with id/],
    [
      { leaderElection: { id: 'a', renewMs: 2400 } },
      /renewMs: found 2400, but it must be above 1\.2 × retryMs \(2400\)/,
    ],
    [{ namespaces: ['a', 'a'] }, /different namespaces/],
    [{ health: { bind: 'h:99999' } }, /health\.bind/],
    [{ kube: {} }, /kube: must be a transport, what loadKubeconfig gave, or an object with url/],
    [{ kube: 5 }, /kube: must be a transport/],
    [{ signal: () => {} }, /signal: found a function, but it must be an AbortSignal/],
    [{ gracefulShutdownMs: Number.NaN }, /gracefulShutdownMs/],
    [{ webhook: { selfSigned: {} } }, /webhook\.selfSigned\.secretName: found nothing/],
  ];
  for (const [config, expected] of wrong) {
    it(`explains what is wrong: ${String(expected)}`, () => assert.match(problemsOf(config), expected));
  }
});

describe('an access that a program names itself', () => {
  it('runtime/C1: gives the server, the CA, the token and the certificate as told', async () => {
    const world = new KubeconfigWorld();
    const { certificatePem } = await testAuthority();
    const pair = await clientPair();
    const url = 'https://127.0.0.1:6443/prefix';
    const bytes = { ca: Buffer.from(certificatePem), cert: Buffer.from(pair.certPem), key: pair.keyPem };
    const access = await world.load({ explicit: { url, ...bytes, token: 't' } });
    assert.deepEqual([access.server.pathname, await access.ca?.()], ['/prefix', certificatePem]);
    assert.deepEqual(await access.credentials.clientCertificate(), pair);
    assert.deepEqual(await access.credentials.headers(), { authorization: 'Bearer t' });
    using _subscription = access.credentials.onCertificateChange(() => {});
  });

  it('asks a token function before every request', async () => {
    let count = 0;
    const token = () => Promise.resolve(`t${count++}`);
    const { credentials } = await new KubeconfigWorld().load({ explicit: { url: 'https://h', token } });
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer t0' });
    credentials.refresh();
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer t1' });
  });

  it('runtime/C8: lists everything that is wrong with it', async () => {
    const world = new KubeconfigWorld();
    const pair = await clientPair();
    const half = await world.failure({
      explicit: { url: 'h', ca: 'x', insecure: true, token: 'a b', cert: pair.certPem },
    });
    assert.match(half, /the access to the API server has 5 problems/);
    for (const field of ['url: ', 'ca: ', 'insecure: ', 'token: ', 'cert and key: '])
      assert.ok(half.includes(field));
    await world.clock.advance(2 * HOUR_MS);
    const expired = await world.failure({ explicit: { url: 'https://h', cert: pair.certPem, key: 'no key' } });
    const end = new Date(NOW.getTime() + HOUR_MS).toISOString();
    assert.ok(expired.includes(`expired on ${end}`) && expired.includes('key: it holds no PEM block'));
  });
});
