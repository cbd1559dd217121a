import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap as ConfigMapKind } from '../../../api/generated/core-v1.ts';
import type { ConfigMap, Container, EnvVar, Pod, Secret, Service } from '../../../api/generated/core-v1-types.ts';
import { retryError } from '../../../base/errors.ts';
import { TestEnv } from '../../../testing/index.ts';
import { ContainerProblem } from '../runtime/container-runtime.ts';
import { resolveStart } from './start-resolution.ts';
import { liveStartSources, type StartSources } from './start-sources.ts';

const service = (namespace: string, name: string, clusterIP: string): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { clusterIP, ports: [{ name: 'https', port: 443 }] },
});

const configMap = (name: string, data: Readonly<Record<string, string>>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name },
  data,
});

const secret = (name: string, data: Readonly<Record<string, string>>): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'shop', name },
  data: Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
});

const OBJECTS = [
  service('default', 'kubernetes', '10.16.96.1'),
  service('default', 'elsewhere', '10.16.96.2'),
  service('shop', 'web', '10.16.96.3'),
  configMap('settings', { COLOUR: 'red', 'odd.name-1': 'kept', A: 'from config' }),
  secret('keys', { TOKEN: 'sesame', A: 'from secret', UMLAUT: 'ü' }),
];

type Held = ConfigMap | Secret | Service;

/** A small cluster that answers on a later turn. */
function sources(objects: readonly Held[] = OBJECTS, failing: readonly string[] = []): StartSources {
  const all = async <K extends Held['kind']>(kind: K) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (failing.includes(kind)) throw retryError('NetworkError', 'connect ECONNREFUSED');
    return objects.filter((object): object is Extract<Held, { kind: K }> => object.kind === kind);
  };
  const one = async <K extends Held['kind']>(
    kind: K,
    key: { readonly namespace: string; readonly name: string },
  ) =>
    (await all(kind)).find(({ metadata }) => metadata.name === key.name && metadata.namespace === key.namespace);
  return {
    configMap: (key) => one('ConfigMap', key),
    secret: (key) => one('Secret', key),
    service: (key) => one('Service', key),
    services: async (namespace) =>
      (await all('Service')).filter(({ metadata }) => metadata.namespace === namespace),
    node: () => ({ hostIPs: ['10.16.1.1'], allocatable: { cpu: '4', memory: '1Gi' } }),
    podIPs: () => ['10.16.32.5'],
  };
}

const pod = (spec: Partial<Pod['spec']> = {}, annotations: Readonly<Record<string, string>> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'shop', uid: 'u-1', annotations },
  spec: { containers: [], enableServiceLinks: false, ...spec },
});

const container = (fields: Partial<Container>): Container => ({ name: 'c', ...fields });

/** Without what every container gets. */
async function own(fields: Partial<Container>, from = sources()): Promise<Readonly<Record<string, string>>> {
  const { env } = await resolveStart(pod(), container(fields), from);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('KUBERNETES_')));
}

const key = (kind: 'configMapKeyRef' | 'secretKeyRef', name: string, at: string, optional?: boolean): EnvVar => ({
  name: 'V',
  valueFrom: { [kind]: { name, key: at, ...(optional !== undefined && { optional }) } },
});

describe('resolveStart', () => {
  it('lab/N24: tells every container where the API server is, and of other services only with links', async () => {
    const without = await resolveStart(pod(), container({}), sources());
    assert.equal(without.env['KUBERNETES_SERVICE_HOST'], '10.16.96.1');
    assert.equal(without.env['KUBERNETES_SERVICE_PORT'], '443');
    assert.equal(without.env['WEB_SERVICE_HOST'], undefined);
    for (const spec of [{ enableServiceLinks: true }, {}]) {
      const { enableServiceLinks: _unset, ...rest } = pod().spec;
      const linked = await resolveStart({ ...pod(), spec: { ...rest, ...spec } }, container({}), sources());
      assert.equal(linked.env['WEB_SERVICE_HOST'], '10.16.96.3');
      assert.equal(linked.env['KUBERNETES_SERVICE_HOST'], '10.16.96.1');
      assert.equal(linked.env['ELSEWHERE_SERVICE_HOST'], undefined);
    }
  });

  it('lab/N24: lets a service of the own namespace take the name of that of the API server', async () => {
    const objects = [...OBJECTS, service('shop', 'kubernetes', '10.16.96.9')];
    const { env } = await resolveStart(pod({ enableServiceLinks: true }), container({}), sources(objects));
    assert.equal(env['KUBERNETES_SERVICE_HOST'], '10.16.96.9');
    const headless = [...OBJECTS, service('shop', 'kubernetes', 'None')];
    const kept = await resolveStart(pod({ enableServiceLinks: true }), container({}), sources(headless));
    assert.equal(kept.env['KUBERNETES_SERVICE_HOST'], '10.16.96.1');
  });

  it('lab/N24: takes services, then envFrom in order, then env in order; the later one wins', async () => {
    const { env } = await resolveStart(
      pod(),
      container({
        envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'keys' } }],
        env: [
          { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
          { name: 'COLOUR', value: 'blue' },
          { name: 'COLOUR', value: 'green' },
        ],
      }),
      sources(),
    );
    assert.equal(env['A'], 'from secret');
    assert.equal(env['COLOUR'], 'green');
    assert.equal(env['TOKEN'], 'sesame');
    assert.equal(env['UMLAUT'], 'ü');
    assert.equal(env['odd.name-1'], 'kept');
    assert.equal(env['KUBERNETES_SERVICE_PORT'], '6443');
  });

  it('lab/N24: puts the prefix of envFrom before each key', async () => {
    const found = await own({ envFrom: [{ prefix: 'CFG_', configMapRef: { name: 'settings' } }] });
    assert.deepEqual(found, { CFG_COLOUR: 'red', 'CFG_odd.name-1': 'kept', CFG_A: 'from config' });
  });

  it('lab/N24: leaves names out that no environment can hold, and says which', async () => {
    const objects = [...OBJECTS, configMap('wrong', { 'a=b': '1', ä: '2', fine: '3' })];
    const given = container({ envFrom: [{ prefix: 'P_', configMapRef: { name: 'wrong' } }] });
    const { env, warnings } = await resolveStart(pod(), given, sources(objects));
    assert.equal(env['P_fine'], '3');
    assert.equal(env['P_a=b'], undefined);
    assert.deepEqual(warnings, [
      {
        reason: 'InvalidEnvironmentVariableNames',
        message:
          'Keys [P_a=b, P_ä] from the EnvFrom configMap shop/wrong were skipped since they are considered invalid environment variable names.',
      },
    ]);
  });

  it('lab/N24: expands references to what was defined before, and to nothing else', async () => {
    const found = await own({
      envFrom: [{ configMapRef: { name: 'settings' } }],
      env: [
        { name: 'FIRST', value: '$(SECOND)-$(COLOUR)' },
        { name: 'SECOND', value: '2' },
        { name: 'THIRD', value: '$(FIRST)+$(SECOND)+$(NONE)+$$(SECOND)' },
        { name: 'HOST', value: 'https://$(KUBERNETES_SERVICE_HOST)' },
        { name: 'EMPTY', value: '' },
      ],
    });
    assert.equal(found['FIRST'], '$(SECOND)-red');
    assert.equal(found['THIRD'], '$(SECOND)-red+2+$(NONE)+$(SECOND)');
    assert.equal(found['HOST'], 'https://10.16.96.1');
    assert.equal(found['EMPTY'], '');
  });

  it('lab/N24: does not expand what comes from a ConfigMap or a Secret', async () => {
    const objects = [...OBJECTS, configMap('raw', { RAW: '$(TOKEN)$$' })];
    const env = [
      { name: 'TOKEN', value: 't' },
      { ...key('configMapKeyRef', 'raw', 'RAW'), name: 'V' },
    ];
    const found = await own({ envFrom: [{ configMapRef: { name: 'raw' } }], env }, sources(objects));
    assert.deepEqual([found['RAW'], found['V']], ['$(TOKEN)$$', '$(TOKEN)$$']);
  });

  it('lab/N24: expands command and arguments with the whole environment', async () => {
    const fields = { command: ['run', '$(A)'], args: ['--at=$(KUBERNETES_SERVICE_HOST)', '$(B)', '$$(A)'] };
    const found = await resolveStart(pod(), container({ ...fields, env: [{ name: 'A', value: 'x' }] }), sources());
    assert.deepEqual(found.command, ['run', 'x']);
    assert.deepEqual(found.args, ['--at=10.16.96.1', '$(B)', '$(A)']);
  });

  it('lab/N24: leaves command and arguments to the image when the container has none', async () => {
    const found = await resolveStart(pod(), container({ command: [], args: [] }), sources());
    assert.deepEqual([Object.hasOwn(found, 'command'), Object.hasOwn(found, 'args')], [false, false]);
  });

  it('lab/N24: keeps a variable called as a part of every object', async () => {
    const { env } = await resolveStart(pod(), container({ env: [{ name: '__proto__', value: 'x' }] }), sources());
    assert.equal(Object.entries(env).find(([name]) => name === '__proto__')?.[1], 'x');
  });

  it('lab/N25: resolves fields of the pod and resources of containers', async () => {
    const found = await own({
      resources: { limits: { cpu: '2' } },
      env: [
        { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
        { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
        { name: 'URL', value: 'http://$(IP)' },
      ],
    });
    assert.deepEqual(found, {
      NAME: 'p',
      IP: '10.16.32.5',
      HOST: '10.16.1.1',
      CPU: '2000',
      MEMORY: '1024',
      URL: 'http://10.16.32.5',
    });
  });

  it('lab/N25: leaves an optional variable out when its object or key is missing', async () => {
    const found = await own({
      envFrom: [
        { secretRef: { name: 'none', optional: true } },
        { configMapRef: { name: 'none', optional: true } },
      ],
      env: [
        { ...key('secretKeyRef', 'none', 'k', true), name: 'A' },
        { ...key('secretKeyRef', 'keys', 'none', true), name: 'B' },
        { ...key('configMapKeyRef', 'none', 'k', true), name: 'C' },
        { ...key('configMapKeyRef', 'settings', 'none', true), name: 'D' },
        { name: 'E', value: '$(A)' },
      ],
    });
    assert.deepEqual(found, { E: '$(A)' });
  });

  it('lab/N25: an optional name that is missing does not excuse the same name where it is needed', async () => {
    const env = [key('secretKeyRef', 'none', 'k', true), key('secretKeyRef', 'none', 'k')];
    await assert.rejects(own({ env }), /secret "none" not found/);
  });

  const problems: readonly (readonly [string, Partial<Container>, string])[] = [
    ['a ConfigMap', { env: [key('configMapKeyRef', 'none', 'k')] }, 'configmap "none" not found'],
    ['a Secret', { env: [key('secretKeyRef', 'none', 'k')] }, 'secret "none" not found'],
    [
      'a key of a ConfigMap',
      { env: [key('configMapKeyRef', 'settings', 'k')] },
      "couldn't find key k in ConfigMap shop/settings",
    ],
    ['a key of a Secret', { env: [key('secretKeyRef', 'keys', 'k')] }, "couldn't find key k in Secret shop/keys"],
    ['a ConfigMap as a whole', { envFrom: [{ configMapRef: { name: 'none' } }] }, 'configmap "none" not found'],
    ['a Secret as a whole', { envFrom: [{ secretRef: { name: 'none' } }] }, 'secret "none" not found'],
    [
      'a resource',
      { env: [{ name: 'V', valueFrom: { resourceFieldRef: { resource: 'limits.gpu' } } }] },
      'unsupported container resource : limits.gpu',
    ],
    [
      'a container',
      { env: [{ name: 'V', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', containerName: 'x' } } }] },
      'container x not found',
    ],
    ['a source', { env: [{ name: 'V', valueFrom: {} }] }, 'valueFrom names no source that the lab knows'],
  ];
  for (const [what, fields, message] of problems) {
    it(`lab/N25: refuses to start without ${what}, with the reason CreateContainerConfigError`, async () => {
      await assert.rejects(own(fields), new ContainerProblem('CreateContainerConfigError', message));
    });
  }

  it('lab/N25: names the fields that exist when one does not', async () => {
    const env = [{ name: 'V', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } }];
    await assert.rejects(own({ env }), /unsupported fieldPath: status\.phase; allowed are metadata\.name, /);
  });

  it('lab/N25: finds on another try what came meanwhile', async () => {
    const objects: Held[] = [...OBJECTS];
    const later = sources(objects);
    const env = [key('secretKeyRef', 'late', 'k')];
    await assert.rejects(own({ env }, later), /secret "late" not found/);
    objects.push(secret('late', { k: 'v' }));
    assert.deepEqual(await own({ env }, later), { V: 'v' });
  });

  it('lab/N25: waits, with a reason, when the cluster cannot be asked', async () => {
    const reason = 'CreateContainerConfigError';
    await assert.rejects(
      own({ env: [key('secretKeyRef', 'keys', 'TOKEN', true)] }, sources(OBJECTS, ['Secret'])),
      new ContainerProblem(reason, 'secret "keys" cannot be read: connect ECONNREFUSED'),
    );
    await assert.rejects(
      own({}, sources(OBJECTS, ['Service'])),
      new ContainerProblem(reason, 'services cannot be read: connect ECONNREFUSED'),
    );
  });

  it('lab/N37: starts a static pod although no service can be read', async () => {
    const given = pod({}, { 'kubernetes.io/config.source': 'file' });
    const { env } = await resolveStart(
      given,
      container({ env: [{ name: 'A', value: 'x' }] }),
      sources([], ['Service']),
    );
    assert.deepEqual(env, { A: 'x' });
  });

  it('lab/N25: refuses a value that would be cut at a NUL byte', async () => {
    const objects = [...OBJECTS, secret('binary', { k: 'a\0b' })];
    await assert.rejects(
      own({ env: [key('secretKeyRef', 'binary', 'k')] }, sources(objects)),
      /V holds a NUL byte/,
    );
  });
});

describe('liveStartSources', () => {
  it('lab/N24: reads the objects of a cluster', async () => {
    await using env = await TestEnv.start();
    const { client } = env;
    const metadata = { namespace: 'default', name: 'settings' };
    await client.create(ConfigMapKind, { metadata, data: { COLOUR: 'red' } });
    const from = liveStartSources({ client, node: () => ({ hostIPs: ['10.16.1.1'], allocatable: {} }) });
    const given: Pod = {
      ...pod({ enableServiceLinks: true }),
      metadata: { name: 'p', namespace: 'default' },
      status: { podIP: '10.16.32.7' },
    };
    const spec = {
      envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'none', optional: true } }],
      env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
    };
    const found = await resolveStart(given, container(spec), from);
    assert.deepEqual([found.env['COLOUR'], found.env['IP']], ['red', '10.16.32.7']);
    assert.match(found.env['KUBERNETES_SERVICE_HOST'] ?? '', /^10\./);
  });

  it('lab/N25: takes all addresses of a status, and none where there is none', () => {
    const sourcesOfStatus = liveStartSources({
      client: { find: () => Promise.reject(new Error('unused')), list: () => Promise.reject(new Error('unused')) },
      node: () => ({ hostIPs: [], allocatable: {} }),
    });
    assert.deepEqual(
      sourcesOfStatus.podIPs({ ...pod(), status: { podIPs: [{ ip: '1.2.3.4' }, { ip: 'fd00::1' }] } }),
      ['1.2.3.4', 'fd00::1'],
    );
    assert.deepEqual(sourcesOfStatus.podIPs(pod()), []);
  });
});
