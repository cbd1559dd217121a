import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlPlane } from '../../../test/support/agent-control-plane-world.ts';
import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { askedVersionProblem, isVersionReached } from './asked-version.ts';

const cluster: Cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'ocp', uid: 'u' },
};
const asking = (version: string | undefined): OpenshiftAssistedControlPlane =>
  controlPlane(cluster, { spec: { ...(version !== undefined && { version }) } });

describe('the version of Kubernetes that a topology asks for', () => {
  for (const version of [undefined, 'v1.33.5', '1.33.5', 'v1.33.0', 'v1.32.9', 'v1.33.5-rc.1'])
    it(`is what the release has, or older: ${version}`, () =>
      assert.equal(askedVersionProblem(asking(version), '1.33.5'), undefined));

  for (const version of ['v1.33.6', 'v1.34.0', 'v4.20.1', 'v1.33.5+build', 'latest'])
    it(`is more than the release has: ${version}`, () =>
      assert.equal(
        askedVersionProblem(asking(version), '1.33.5'),
        `spec.version is ${version}, and OpenShift 4.20.1 has Kubernetes 1.33.5; set distributionVersion to a release that has ${version}, or make the Cluster anew with spec.topology.version v1.33.5 or older`,
      ));
});

describe('whether status.version says what the wanted release has', () => {
  const initialized = { initialization: { controlPlaneInitialized: true }, version: '1.33.5' };
  const status = (version: string | undefined, fields: OpenshiftAssistedControlPlane['status']) => ({
    ...asking(version),
    status: fields ?? {},
  });

  it('at once where no topology asks for one, as upstream does', () =>
    assert.equal(isVersionReached(status(undefined, initialized), '4.19.0'), true));

  it('before the installation, for core to make workers', () => {
    assert.equal(isVersionReached(status('v1.33.0', {}), undefined), true);
    assert.equal(isVersionReached(status('v1.33.0', { version: '1.33.5' }), undefined), true);
    assert.equal(
      isVersionReached(status('v1.33.0', { ...initialized, version: undefined } as object), '4.19.0'),
      true,
    );
  });

  it('not while the cluster runs another release', () => {
    assert.equal(isVersionReached(status('v1.33.0', initialized), '4.19.0'), false);
    assert.equal(isVersionReached(status('v1.33.0', initialized), undefined), false);
    assert.equal(isVersionReached(status('v1.33.0', initialized), '4.20.1'), true);
  });
});
