import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { AdmissionServer, type Loose } from '../../../test/support/admission-server.ts';
import type { JsonObject } from '../../object/json.ts';

const NAMESPACE = '/api/v1/namespaces/default';
const PODS = `${NAMESPACE}/pods`;
const TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

const pod = (name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

describe('built-in admission', () => {
  let server: AdmissionServer;
  before(async () => {
    server = await AdmissionServer.start();
    await server.made(`${NAMESPACE}/serviceaccounts`, {
      metadata: { name: 'robot', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'known' }],
      imagePullSecrets: [{ name: 'pull' }],
      automountServiceAccountToken: false,
    });
  });
  after(() => server[Symbol.asyncDispose]());
  const refusal = async (body: JsonObject): Promise<string> => {
    const answer = await server.send('POST', PODS, body);
    assert.equal(answer.status, 403, JSON.stringify(answer.body));
    return answer.body.message;
  };

  it('apiserver/V1: a pod gets the default account and a token volume as upstream mounts it', async () => {
    const { spec } = await server.made(PODS, pod('plain', { initContainers: [{ name: 'n', image: 'i' }] }));
    assert.equal(spec.serviceAccountName, 'default');
    const [{ name, projected }] = spec.volumes;
    assert.match(name, /^kube-api-access-[a-z0-9]{5}$/);
    assert.deepEqual(projected, {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 420,
    });
    const mount = { name, readOnly: true, mountPath: TOKEN_PATH };
    assert.deepEqual(spec.containers[0].volumeMounts, [mount]);
    assert.deepEqual(spec.initContainers[0].volumeMounts, [mount]);
  });

  it('apiserver/V1: a container that mounts something there, or a pod that wants none, gets no token', async () => {
    const volumeMounts = [{ name: 'v', mountPath: TOKEN_PATH }];
    const volumes = [{ name: 'v', emptyDir: {} }];
    const own = await server.made(
      PODS,
      pod('own', { volumes, containers: [{ name: 'c', image: 'i', volumeMounts }] }),
    );
    assert.deepEqual([own.spec.volumes.length, own.spec.containers[0].volumeMounts.length], [1, 1]);
    const none = await server.made(PODS, pod('none', { automountServiceAccountToken: false }));
    assert.equal(none.spec.volumes, undefined);
  });

  it('apiserver/V1: the account decides about the token and brings its pull secrets', async () => {
    const { spec } = await server.made(PODS, pod('robot', { serviceAccountName: 'robot' }));
    assert.equal(spec.volumes, undefined);
    assert.deepEqual(spec.imagePullSecrets, [{ name: 'pull' }]);
  });

  it('apiserver/V1: an account that is not there refuses the pod', async () => {
    const why = 'error looking up service account default/nobody: serviceaccount "nobody" not found';
    assert.equal(await refusal(pod('x', { serviceAccountName: 'nobody' })), `pods "x" is forbidden: ${why}`);
  });

  it('apiserver/V1: a pod waits for the account of a namespace that is new', async () => {
    await server.made('/api/v1/namespaces', { metadata: { name: 'new' } });
    const { spec } = await server.made('/api/v1/namespaces/new/pods', pod('fast'));
    assert.equal(spec.serviceAccountName, 'default');
  });

  for (const [what, spec, why] of [
    ['a volume', { volumes: [{ name: 'v', secret: { secretName: 'x' } }] }, 'volume with secret.secretName="x"'],
    [
      'a variable',
      {
        containers: [
          { name: 'c', image: 'i', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'x', key: 'k' } } }] },
        ],
      },
      'container c with envVar E referencing secret.secretName="x"',
    ],
    [
      'variables',
      { initContainers: [{ name: 'n', image: 'i', envFrom: [{ secretRef: { name: 'x' } }] }] },
      'init container n with envFrom referencing secret.secretName="x"',
    ],
    ['a pull secret', { imagePullSecrets: [{ name: 'x' }] }, 'imagePullSecrets[0].name="x"'],
  ] satisfies [string, JsonObject, string][]) {
    it(`apiserver/V1: a strict account refuses a Secret it does not list in ${what}`, async () => {
      const message = await refusal(pod('strict', { serviceAccountName: 'robot', ...spec }));
      assert.ok(
        message.includes(`${why} is not allowed because service account robot does not reference that`),
        message,
      );
    });
  }

  for (const [what, spec, why] of [
    ['an account', { serviceAccountName: 'robot' }, 'service accounts'],
    ['a Secret', { volumes: [{ name: 'v', secret: { secretName: 'x' } }] }, 'secrets'],
    ['a pull secret', { imagePullSecrets: [{ name: 'x' }] }, 'secrets'],
  ] satisfies [string, JsonObject, string][]) {
    it(`apiserver/V1: a mirror pod may not refer to ${what}`, async () => {
      const message = await refusal(pod('mirror', spec, { annotations: { 'kubernetes.io/config.mirror': 'x' } }));
      assert.equal(message, `pods "mirror" is forbidden: a mirror pod may not reference ${why}`);
    });
  }

  it('lab/E3: a pod tolerates a node that is gone for five minutes, and a priority class gives it its number', async () => {
    const { spec } = await server.made(PODS, pod('urgent', { priorityClassName: 'system-cluster-critical' }));
    const gone = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
    assert.deepEqual(spec.tolerations, [
      { ...gone, key: 'node.kubernetes.io/not-ready' },
      { ...gone, key: 'node.kubernetes.io/unreachable' },
    ]);
    assert.equal(spec.priority, 2_000_000_000);
  });

  it('lab/E3: a new node takes no pods until it says that it is ready', async () => {
    const { spec } = await server.made('/api/v1/nodes', { metadata: { name: 'w-1' } });
    assert.deepEqual(spec.taints, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
  });

  it('lab/E2: a mirror pod has no account', async () => {
    const mirror = pod('static-w-1', {}, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    const { spec } = await server.made(PODS, mirror);
    assert.equal(spec.serviceAccountName, undefined);
  });

  it('apiserver/V1: a mirror pod may not ask for a token', async () => {
    const volumes = [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }];
    const message = await refusal(
      pod('mirror', { volumes }, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
    );
    assert.match(message, /a mirror pod may not use ServiceAccountToken volume projections$/);
  });

  it('apiserver/V1: a claim without a class gets the newest default one', async () => {
    const classes = '/apis/storage.k8s.io/v1/storageclasses';
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
    await server.made(classes, { metadata: { name: 'plain' }, provisioner: 'p' });
    await server.made(classes, { metadata: { name: 'b', annotations }, provisioner: 'p' });
    await server.made(classes, { metadata: { name: 'a', annotations }, provisioner: 'p' });
    const claim = (name: string, more: JsonObject = {}): JsonObject => ({
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
    });
    const claims = `${NAMESPACE}/persistentvolumeclaims`;
    assert.match((await server.made(claims, claim('one'))).spec.storageClassName, /^[ab]$/);
    assert.equal((await server.made(claims, claim('two', { storageClassName: '' }))).spec.storageClassName, '');
  });

  it('apiserver/V1: an ingress without a class gets the default one', async () => {
    await server.made('/apis/networking.k8s.io/v1/ingressclasses', {
      metadata: { name: 'in', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'ex.io/c' },
    });
    const spec = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
    const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
    const made = await server.made(ingresses, { metadata: { name: 'one' }, spec });
    assert.equal(made.spec.ingressClassName, 'in');
  });

  it('apiserver/V1: nothing is made in a namespace that is not there or is going', async () => {
    const missing = await server.send('POST', '/api/v1/namespaces/nowhere/configmaps', {
      metadata: { name: 'a' },
    });
    assert.deepEqual([missing.status, missing.body.message], [404, 'namespaces "nowhere" not found']);
    await server.made('/api/v1/namespaces', { metadata: { name: 'going' } });
    await server.made('/api/v1/namespaces/going/configmaps', {
      metadata: { name: 'held', finalizers: ['ex.io/f'] },
    });
    await server.send('DELETE', '/api/v1/namespaces/going');
    const { status, body } = await server.send('POST', '/api/v1/namespaces/going/configmaps', {
      metadata: { name: 'a' },
    });
    assert.equal(status, 403);
    assert.equal(body.details.causes[0].reason, 'NamespaceTerminating');
    const spec = { user: 'a', resourceAttributes: { namespace: 'going', verb: 'get', resource: 'pods' } };
    for (const namespace of ['going', 'nowhere']) {
      const target = `/apis/authorization.k8s.io/v1/namespaces/${namespace}/localsubjectaccessreviews`;
      const asked = { spec: { ...spec, resourceAttributes: { ...spec.resourceAttributes, namespace } } };
      assert.equal((await server.send('POST', target, asked)).status, 201);
    }
  });

  it('apiserver/E19: the first namespaces stay', async () => {
    for (const name of ['default', 'kube-system', 'kube-public']) {
      const { status, body }: Loose = await server.send('DELETE', `/api/v1/namespaces/${name}`);
      assert.equal(status, 403);
      assert.equal(body.message, `namespaces "${name}" is forbidden: this namespace may not be deleted`);
    }
  });
});
