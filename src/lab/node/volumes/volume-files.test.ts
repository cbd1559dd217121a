import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodSpec, Volume } from '../../../api/generated/core-v1-types.ts';
import { filesOf, isWritten, referencesOf, tokensOf, type VolumeFacts } from './volume-files.ts';

const podOf = (spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [{ name: 'c' }], ...spec },
});

const facts: VolumeFacts = {
  configMap: (name) =>
    name === 'ca'
      ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { 'ca.crt': 'CA' } }
      : undefined,
  secret: (name) =>
    name === 's' ? { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { k: 'dg==' } } : undefined,
  token: ({ audience = 'api' }) => `token for ${audience}`,
  allocatable: {},
};

const accessVolume: Volume = {
  name: 'kube-api-access-abcde',
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};

const shown = (pod: Pod, volume: Volume) =>
  [...filesOf(pod, volume, facts)].map(([path, { bytes, mode }]) => [path, Buffer.from(bytes).toString(), mode]);

describe('filesOf', () => {
  it('lab/N31: makes token, ca.crt and namespace of the volume that admission adds', () => {
    assert.deepEqual(shown(podOf(), accessVolume), [
      ['token', 'token for api', 0o644],
      ['ca.crt', 'CA', 0o644],
      ['namespace', 'n', 0o644],
    ]);
  });

  const user = (runAsUser: number) => ({ securityContext: { runAsUser } });
  for (const { name, spec, mode } of [
    { name: 'nobody says who runs', spec: {}, mode: 0o644 },
    { name: 'the pod says who runs', spec: user(1000), mode: 0o600 },
    { name: 'all containers say the same', spec: { containers: [{ name: 'c', ...user(5) }] }, mode: 0o600 },
    {
      name: 'one container runs as somebody else',
      spec: { ...user(1000), containers: [{ name: 'c' }, { name: 'd', ...user(1) }] },
      mode: 0o644,
    },
    {
      name: 'an init container runs as nobody knows whom',
      spec: { containers: [{ name: 'c', ...user(1) }], initContainers: [{ name: 'i' }] },
      mode: 0o644,
    },
  ]) {
    it(`lab/N31: gives the token mode ${mode.toString(8)} when ${name}`, () =>
      assert.equal(filesOf(podOf(spec), accessVolume, facts).get('token')?.mode, mode));
  }

  it('lab/N26: makes files of all four kinds of sources, alone or projected', () => {
    const volumes: readonly Volume[] = [
      { name: 'v', configMap: { name: 'ca' } },
      { name: 'v', secret: { secretName: 's', defaultMode: 0o400 } },
      { name: 'v', downwardAPI: { items: [{ path: 'me', fieldRef: { fieldPath: 'metadata.name' } }] } },
      { name: 'v', projected: { sources: [{ secret: { name: 's' } }, { configMap: { name: 'ca' } }] } },
    ];
    assert.deepEqual(
      volumes.map((volume) => shown(podOf(), volume)),
      [
        [['ca.crt', 'CA', 0o644]],
        [['k', 'v', 0o400]],
        [['me', 'p', 0o644]],
        [
          ['k', 'v', 0o644],
          ['ca.crt', 'CA', 0o644],
        ],
      ],
    );
    assert.ok(volumes.every(isWritten));
  });

  for (const { volume, message } of [
    { volume: { name: 'v', configMap: { name: 'no' } }, message: 'configmap "no" not found' },
    { volume: { name: 'v', secret: { secretName: 'no' } }, message: 'secret "no" not found' },
    {
      volume: { name: 'v', projected: { sources: [{ clusterTrustBundle: { path: 'x' } }] } },
      message:
        'the lab does not project clusterTrustBundle; it projects configMap, secret, downwardAPI and serviceAccountToken',
    },
  ]) {
    it(`fails: ${message}`, () =>
      assert.throws(() => filesOf(podOf(), volume, facts), { name: 'VolumeProblem', message }));
  }

  it('is nothing for what is optional and not there', () => {
    assert.deepEqual(shown(podOf(), { name: 'v', configMap: { name: 'no', optional: true } }), []);
    assert.deepEqual(shown(podOf(), { name: 'v', secret: { secretName: 'no', optional: true } }), []);
  });
});

describe('what a volume needs', () => {
  it('is named for each source', () => {
    assert.deepEqual(referencesOf({ name: 'v', configMap: { name: 'c' } }), [{ kind: 'ConfigMap', name: 'c' }]);
    assert.deepEqual(referencesOf({ name: 'v', secret: { secretName: 's' } }), [{ kind: 'Secret', name: 's' }]);
    assert.deepEqual(referencesOf(accessVolume), [{ kind: 'ConfigMap', name: 'ca' }]);
    assert.deepEqual(referencesOf({ name: 'v', emptyDir: {} }), []);
    assert.deepEqual(tokensOf(accessVolume), [{ expirationSeconds: 3607, path: 'token' }]);
    assert.equal(isWritten({ name: 'v', emptyDir: {} }), false);
  });
});
