import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { registryOf } from '../../../test/support/cloud-operator-world.ts';
import { listenerTls } from '../../kube/serving/listener-tls.ts';
import type { CloudProviderDefinition } from '../definition.ts';
import { CONFIG_SYNC_FLAGS, OPERATOR_FLAGS } from './flags.ts';
import { foreignHolder } from './foreign-leader.ts';
import { readSettings } from './settings.ts';

const ACME: CloudProviderDefinition = {
  id: 'acme',
  match: { type: 'External' },
  images: {},
  assets: { objects: [] },
};
const registry = registryOf(ACME);

const read = (...argv: readonly string[]) =>
  readSettings({ argv, env: {}, flags: OPERATOR_FLAGS, lease: 'operatorLease', registry });

describe('settings of the cloud operator', () => {
  it('operator/R1: are those of upstream where nobody says anything', () => {
    const { settings, problems } = read();
    assert.deepEqual(problems, []);
    assert.deepEqual(settings, {
      mode: 'replace',
      names: {
        managedNamespace: 'openshift-cloud-controller-manager',
        operatorNamespace: 'openshift-cloud-controller-manager-operator',
        clusterOperator: 'cloud-controller-manager',
        operatorLease: 'cluster-cloud-controller-manager-leader',
        configSyncLease: 'cluster-cloud-config-sync-leader',
      },
      releaseVersion: 'unknown',
      gatesVersion: 'unknown',
      lease: { name: 'cluster-cloud-controller-manager-leader', namespace: '' },
      election: { isEnabled: true, leaseMs: 0, renewMs: 0, retryMs: 0 },
      health: ':9440',
      metrics: ':9258',
      certDir: '',
      tls: { minVersion: '', cipherSuites: [] },
      imagesFile: '/etc/cloud-controller-manager-config/images.json',
      prune: false,
      systemTrustBundle: '',
      kubeconfig: '',
      environmentFile: '',
      logLevel: 'info',
      logFormat: 'text',
    });
  });

  it('operator/R1: are read from the command line of the manifests of upstream', () => {
    const { settings, problems } = read(
      '--v=2',
      '--images-json=/etc/images.json',
      '--metrics-bind-address',
      ':9258',
      '--health-addr=127.0.0.1:9259',
      '--webhook-port=9443',
      '--leader-elect=true',
      '--leader-elect-resource-lock=leases',
      '--leader-elect-resource-namespace=openshift-cloud-controller-manager-operator',
      '--leader-elect-lease-duration=10s',
      '-logtostderr',
      '--log_file=x',
    );
    assert.deepEqual(problems, []);
    const { health, imagesFile, election, lease } = settings;
    assert.equal(health, '127.0.0.1:9259');
    assert.equal(imagesFile, '/etc/images.json');
    assert.equal(election.leaseMs, 10_000);
    assert.equal(lease.namespace, 'openshift-cloud-controller-manager-operator');
  });

  it('operator/D1: has names of its own beside the operator of the payload, and prunes there', () => {
    const { settings } = read('--provider=acme');
    assert.equal(settings.mode, 'sidecar');
    assert.equal(settings.names.managedNamespace, 'openshift-acme-cloud-controller-manager');
    assert.equal(settings.lease.name, 'acme-cloud-controller-manager-leader');
    assert.equal(settings.prune, true);
    assert.equal(read('--provider=acme', '--prune=false').settings.prune, false);
    assert.equal(read('--prune').settings.prune, true);
    assert.equal(
      read('--provider=acme', '--mode=replace').settings.names.clusterOperator,
      'cloud-controller-manager',
    );
    assert.equal(read('--provider=acme', '--namespace=mine').settings.names.managedNamespace, 'mine');
    assert.equal(read('--provider=aws').settings.mode, 'replace');
  });

  it('operator/D1: beside the operator of the payload is no place for a provider of its own, or with a long name', () => {
    const long = 'a'.repeat(20);
    const place = { env: {}, flags: OPERATOR_FLAGS, lease: 'operatorLease' } as const;
    const withLong = { ...place, registry: registryOf({ ...ACME, id: long }) };
    assert.deepEqual(read('--provider=aws', '--mode=sidecar').problems, [
      '--mode=sidecar is for a provider of platform External; aws is for AWS',
    ]);
    assert.deepEqual(readSettings({ ...withLong, argv: [`--provider=${long}`] }).problems, [
      `--provider: ${long} is too long for --mode=sidecar: its namespace openshift-${long}-cloud-controller-manager-operator must be no more than 63 characters`,
    ]);
    assert.deepEqual(readSettings({ ...withLong, argv: [`--provider=${long}`, '--mode=replace'] }).problems, []);
    assert.equal(read('--provider=nowhere', '--mode=sidecar').problems.length, 1);
  });

  it('operator/R1: says everything that is wrong at once', () => {
    const { problems } = read(
      '--nonsense',
      '--health-addr=9440',
      '--metrics-bind-address=:99999',
      '--tls-min-version=1.2',
      '--tls-cipher-suites=WEAK',
    );
    const said = [
      '--nonsense',
      '--health-addr',
      '--metrics-bind-address',
      '--tls-min-version',
      '--tls-cipher-suites',
    ];
    assert.equal(problems.length, said.length, problems.join('\n'));
    said.forEach((flag, index) => assert.match(problems[index] ?? '', new RegExp(flag)));
    assert.doesNotMatch(problems.join(), /--help/);
  });

  it('operator/R1: of config-sync are fewer', () => {
    const source = { env: {}, flags: CONFIG_SYNC_FLAGS, lease: 'configSyncLease', registry } as const;
    const { settings, problems } = readSettings({ ...source, argv: ['--system-trust-bundle=/a'] });
    assert.deepEqual(problems, []);
    assert.equal(settings.systemTrustBundle, '/a');
    assert.equal(settings.lease.name, 'cluster-cloud-config-sync-leader');
    assert.equal(settings.metrics, '0');
    assert.equal(readSettings({ ...source, argv: ['--images-json=x'] }).problems.length, 1);
  });
});

describe('the holder of a lease', () => {
  const now = new Date('2026-01-01T12:00:00Z');
  const cases = [
    { name: 'nobody', given: {}, want: undefined },
    { name: 'one that gave it back', given: { holderIdentity: '' }, want: undefined },
    { name: 'one of ours', given: { holderIdentity: 'slipway-a_1', at: '11:59:59' }, want: undefined },
    { name: 'somebody else', given: { holderIdentity: 'a_1', at: '11:59:59' }, want: 'a_1' },
    { name: 'somebody else, long ago', given: { holderIdentity: 'a_1', at: '11:50:00' }, want: undefined },
    { name: 'somebody who never renewed it', given: { holderIdentity: 'a_1' }, want: undefined },
  ];
  for (const { name, given, want } of cases) {
    it(`operator/D1: ${name}: ${want === undefined ? 'free' : 'taken'}`, () => {
      const { at, ...rest } = { at: undefined, ...given };
      const renewed = at === undefined ? {} : { renewTime: `2026-01-01T${at}.000000Z` };
      assert.equal(foreignHolder({ ...rest, ...renewed, leaseDurationSeconds: 137 }, now), want);
    });
  }
});

describe('TLS of the metrics', () => {
  it('operator/R6: takes what the profile names and Node has, by the names of OpenSSL', () => {
    const suites = 'TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_UNHEARD_OF';
    assert.deepEqual(listenerTls({ minVersion: 'VersionTLS12', cipherSuites: suites }), {
      minVersion: 'TLSv1.2',
      ciphers: 'TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256',
    });
    assert.deepEqual(listenerTls({ minVersion: 'VersionTLS13', cipherSuites: '' }), { minVersion: 'TLSv1.3' });
  });
});
