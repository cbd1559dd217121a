import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replaceInstallation } from '../../../test/support/operator-installation.ts';
import type { Container, PodSpec } from '../../api/generated/core-v1.ts';
import { operatorNames } from '../names.ts';
import { CONFIG_SYNC_FLAGS, OPERATOR_FLAGS } from '../program/flags.ts';
import { readSettings } from '../program/settings.ts';
import { builtInRegistry } from '../registry/built-in.ts';
import type { Installation } from './installation.ts';
import { metricsService, operatorDeployment } from './operator-deployment.ts';

const podOf = (installation: Installation = replaceInstallation()): PodSpec =>
  operatorDeployment(installation).spec.template.spec ?? assert.fail('no pod');

const sidecar = (): Installation => ({
  ...replaceInstallation(),
  mode: 'sidecar',
  names: operatorNames('sidecar', 'acme'),
  provider: '/provider/provider.ts',
});

function containers(installation?: Installation): readonly [Container, Container] {
  const [operator, configSync, ...others] = podOf(installation).containers;
  assert.deepEqual(others, []);
  return [operator ?? assert.fail('no operator'), configSync ?? assert.fail('no config sync')];
}

/** What a program makes of its arguments, which must be without a problem. */
function settingsOf({ args = [], env = [] }: Container) {
  const [run, component, ...argv] = args;
  assert.equal(run, 'run');
  const isOperator = component === 'cloud-operator';
  const { settings, problems } = readSettings({
    argv,
    env: Object.fromEntries(env.map(({ name, value = '' }) => [name, value])),
    flags: isOperator ? OPERATOR_FLAGS : CONFIG_SYNC_FLAGS,
    lease: isOperator ? 'operatorLease' : 'configSyncLease',
    registry: builtInRegistry(),
  });
  assert.deepEqual(problems, []);
  return settings;
}

describe('the Deployment of the operator (section 16)', () => {
  it('is one pod that gives way to the next', () => {
    const { metadata, spec } = operatorDeployment(replaceInstallation());
    assert.deepEqual(
      [metadata.name, metadata.namespace],
      ['cluster-cloud-controller-manager-operator', 'openshift-cloud-controller-manager-operator'],
    );
    assert.deepEqual([spec.replicas, spec.strategy], [1, { type: 'Recreate' }]);
    assert.deepEqual(spec.selector.matchLabels, { 'k8s-app': 'cloud-manager-operator' });
    assert.deepEqual(spec.template.metadata?.labels, { 'k8s-app': 'cloud-manager-operator' });
    assert.equal(spec.template.metadata.annotations?.['openshift.io/required-scc'], 'hostaccess');
  });

  it('starts where nothing else can: on the network of an uninitialised machine of the control plane', () => {
    const pod = podOf();
    assert.equal(pod.hostNetwork, true);
    assert.equal(pod.priorityClassName, 'system-node-critical');
    assert.equal(pod.serviceAccountName, 'cluster-cloud-controller-manager');
    assert.deepEqual(pod.nodeSelector, { 'node-role.kubernetes.io/master': '' });
    const tolerated = pod.tolerations?.map(({ key, effect }) => `${key}:${effect}`) ?? [];
    assert.ok(tolerated.includes('node.cloudprovider.kubernetes.io/uninitialized:NoSchedule'));
    assert.ok(tolerated.includes('node.kubernetes.io/not-ready:NoSchedule'));
  });

  it('has both programs, by the names of upstream', () => {
    assert.deepEqual(
      containers().map(({ name, args }) => [name, args?.slice(0, 2).join(' ')]),
      [
        ['cluster-cloud-controller-manager', 'run cloud-operator'],
        ['config-sync-controllers', 'run cloud-config-sync'],
      ],
    );
  });

  it('operator/R1: gives each program flags that it takes', () => {
    const [operator, configSync] = containers().map(settingsOf);
    assert.equal(operator?.imagesFile, '/etc/cloud-controller-manager-config/images.json');
    assert.deepEqual(
      [operator.lease.name, operator.lease.namespace],
      ['cluster-cloud-controller-manager-leader', 'openshift-cloud-controller-manager-operator'],
    );
    assert.equal(operator.environmentFile, '/etc/kubernetes/apiserver-url.env');
    assert.equal(configSync?.lease.name, 'cluster-cloud-config-sync-leader');
    assert.equal(configSync.systemTrustBundle, '/etc/slipway/system-trust/tls-ca-bundle.pem');
  });

  it('says which release it is of by a stub that the cluster version operator replaces', () => {
    for (const { env } of containers())
      assert.deepEqual(env, [{ name: 'RELEASE_VERSION', value: '0.0.1-snapshot' }]);
  });

  it('mounts what its programs read, and waits for no certificate', () => {
    const { volumes = [] } = podOf();
    const secret = volumes.find(({ name }) => name === 'serving-cert')?.secret;
    assert.deepEqual(secret, { secretName: 'cloud-controller-manager-operator-tls', optional: true });
    const names = new Set(volumes.map(({ name }) => name));
    for (const { volumeMounts = [] } of containers())
      for (const { name, readOnly } of volumeMounts) assert.ok(names.has(name) && readOnly === true, name);
  });

  it('operator/R91: has the registered ports of the host', () => {
    const ports = containers().flatMap(({ ports: declared = [] }) => declared.map((one) => one.containerPort));
    assert.deepEqual(ports, [9258, 9259, 9260]);
    assert.equal(settingsOf(containers()[0]).metrics, ':9258');
    assert.deepEqual(
      containers().map((one) => settingsOf(one).health),
      ['127.0.0.1:9259', '127.0.0.1:9260'],
    );
  });

  it('operator/D1: has other names and other ports beside the operator of the payload, which is on the same hosts', () => {
    const { metadata } = operatorDeployment(sidecar());
    assert.deepEqual(
      [metadata.name, metadata.namespace],
      ['acme-cloud-controller-manager-operator', 'openshift-acme-cloud-controller-manager-operator'],
    );
    const ports = containers(sidecar()).flatMap(({ ports: declared = [] }) =>
      declared.map((one) => one.containerPort),
    );
    assert.deepEqual(ports, [9268, 9269, 9270]);
    assert.deepEqual(metricsService(sidecar()).spec?.ports, [
      { name: 'metrics', port: 9268, targetPort: 'metrics' },
    ]);
    assert.ok(containers(sidecar())[0].args?.includes('--provider=/provider/provider.ts'));
  });
});
