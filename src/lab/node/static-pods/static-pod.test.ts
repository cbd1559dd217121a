import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printYaml } from '../../../object/yaml.ts';
import { staticPod } from './static-pod.ts';

const origin = {
  file: '/etc/kubernetes/manifests/ccm.yaml',
  node: 'W-1',
  seenAt: new Date('2030-01-01T00:00:00Z'),
};
const manifest = (more: object = {}, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'ccm', namespace: 'kube-system', labels: { app: 'ccm' }, annotations: { own: 'x' } },
  spec: { containers: [{ name: 'c', image: 'slipway' }], ...spec },
  ...more,
});
const parsed = (object: object, more: Partial<typeof origin> = {}) =>
  staticPod(printYaml(object), { ...origin, ...more });

describe('static pod', () => {
  it('lab/N37: has the name of its node in its own, where it comes from, and no fear of taints', () => {
    const pod = parsed(manifest());
    const { uid, ...metadata } = pod.metadata;
    assert.match(uid ?? '', /^[\da-f]{32}$/);
    assert.deepEqual(metadata, {
      name: 'ccm-w-1',
      namespace: 'kube-system',
      labels: { app: 'ccm' },
      annotations: {
        own: 'x',
        'kubernetes.io/config.hash': uid,
        'kubernetes.io/config.seen': '2030-01-01T00:00:00.000Z',
        'kubernetes.io/config.source': 'file',
      },
      creationTimestamp: null,
    });
    assert.equal(pod.spec.nodeName, 'W-1');
    assert.deepEqual(pod.spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }]);
    assert.deepEqual(pod.status, { phase: 'Pending' });
  });

  it('lab/N37: has what the API server would have filled in', () => {
    const { spec } = parsed(manifest({ metadata: { name: 'a' } }, { volumes: [{ name: 'v' }] }));
    assert.partialDeepStrictEqual(spec, {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ imagePullPolicy: 'Always', terminationMessagePath: '/dev/termination-log' }],
    });
    assert.equal(parsed(manifest({ metadata: { name: 'a' } })).metadata.namespace, 'default');
  });

  it('lab/N37: has a uid that stands for content, node and file, and for nothing else', () => {
    const uidOf = (text: string, more: Partial<typeof origin> = {}) =>
      staticPod(text, { ...origin, ...more }).metadata.uid;
    const text = printYaml(manifest());
    const { apiVersion, ...rest } = manifest();
    const same = [
      uidOf(`# a comment\n${text}`),
      uidOf(printYaml({ ...rest, apiVersion })),
      uidOf(JSON.stringify(manifest())),
      uidOf(text, { seenAt: new Date(0) }),
    ];
    assert.deepEqual(new Set(same), new Set([uidOf(text)]));
    const others = [
      uidOf(text, { node: 'w-2' }),
      uidOf(text, { file: '/other.yaml' }),
      uidOf(text.replace('image: slipway', 'image: slipway:2')),
    ];
    assert.equal(new Set([...others, uidOf(text)]).size, 4);
  });

  it('does not add a toleration twice', () => {
    const tolerations = [{ operator: 'Exists', effect: 'NoExecute' }];
    assert.deepEqual(parsed(manifest({}, { tolerations })).spec.tolerations, tolerations);
  });

  for (const { name, text, message } of [
    { name: 'nothing', text: '', message: /it holds no object; write a Pod/ },
    { name: 'a list', text: '- a', message: /it holds no object/ },
    { name: 'no YAML', text: 'a: [', message: /not valid YAML/ },
    { name: 'two documents', text: 'a: 1\n---\nb: 2', message: /holds more than one YAML document/ },
    {
      name: 'another kind',
      text: printYaml(manifest({ kind: 'Deployment' })),
      message: /it holds kind "Deployment" of version "v1"; only Pod of v1 is allowed/,
    },
    { name: 'no kind', text: 'spec: {}', message: /it holds kind "" of version ""/ },
    {
      name: 'a value of the wrong type',
      text: printYaml(manifest({}, { containers: 'c' })),
      message: /cannot unmarshal string into Go struct field/,
    },
    { name: 'no name', text: printYaml(manifest({ metadata: {} })), message: /metadata\.name: Required value/ },
    {
      name: 'a name that is none',
      text: printYaml(manifest({ metadata: { name: '../x' } })),
      message: /metadata\.name: a lowercase RFC 1123 subdomain/,
    },
    {
      name: 'a namespace that is none',
      text: printYaml(manifest({ metadata: { name: 'a', namespace: 'A/B' } })),
      message: /metadata\.namespace: a lowercase RFC 1123 label/,
    },
    {
      name: 'no containers',
      text: printYaml(manifest({ spec: {} })),
      message: /spec\.containers: Required value/,
    },
  ]) {
    it(`says what is wrong with ${name}`, () =>
      assert.throws(() => staticPod(text, origin), { disposition: 'user', message }));
  }

  const container = (more: object) => ({ containers: [{ name: 'c', image: 'i', ...more }] });
  for (const { spec, reference } of [
    { spec: { serviceAccountName: 'robot' }, reference: 'serviceaccounts (spec.serviceAccountName)' },
    { spec: { serviceAccount: 'robot' }, reference: 'serviceaccounts (spec.serviceAccountName)' },
    { spec: { imagePullSecrets: [{ name: 's' }] }, reference: 'secrets (spec.imagePullSecrets)' },
    {
      spec: container({ envFrom: [{ configMapRef: { name: 'c' } }] }),
      reference: 'configmaps (spec.containers[0].envFrom[0])',
    },
    {
      spec: container({ envFrom: [{ secretRef: { name: 'c' } }] }),
      reference: 'secrets (spec.containers[0].envFrom[0])',
    },
    {
      spec: container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }),
      reference: 'secrets (spec.containers[0].env[0])',
    },
    {
      spec: container({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 's', key: 'k' } } }] }),
      reference: 'configmaps (spec.containers[0].env[0])',
    },
    {
      spec: { volumes: [{ name: 'v', secret: { secretName: 's' } }] },
      reference: 'secrets (spec.volumes[0].secret)',
    },
    {
      spec: { volumes: [{ name: 'v', configMap: { name: 's' } }] },
      reference: 'configmaps (spec.volumes[0].configMap)',
    },
    {
      spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] },
      reference: 'persistentvolumeclaims (spec.volumes[0].persistentVolumeClaim)',
    },
    {
      spec: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      reference: 'serviceaccounts (spec.volumes[0].projected.sources[0].serviceAccountToken)',
    },
    {
      spec: { volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 's' } }] } }] },
      reference: 'secrets (spec.volumes[0].projected.sources[0].secret)',
    },
  ]) {
    it(`lab/N38: may not reference ${reference}`, () => {
      const message = `static pods may not reference ${reference}: they run without an API server`;
      assert.throws(() => parsed(manifest({}, spec)), { reason: 'InvalidManifest', message });
    });
  }

  it('lab/N38: may use what is on its node', () => {
    const volumes = [
      { name: 'h', hostPath: { path: '/etc/kubernetes' } },
      { name: 'e', emptyDir: {} },
      { name: 'd', downwardAPI: { items: [{ path: 'n', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ];
    assert.equal(parsed(manifest({}, { volumes })).spec.volumes?.length, 3);
  });
});
