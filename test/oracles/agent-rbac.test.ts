import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import type { Provider } from '../../src/agent/index.ts';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { assistedDefinitions } from '../../src/api/assisted/definitions.schema.ts';
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  Machine,
  MachineDeployment,
} from '../../src/api/cluster-api/core-v1beta2.ts';
import { clusterApiDefinitions } from '../../src/api/cluster-api/definitions.schema.ts';
import { ConfigMap, Namespace, Secret } from '../../src/api/generated/core-v1.ts';
import { hiveDefinitions } from '../../src/api/hive/definitions.schema.ts';
import { ClusterDeployment } from '../../src/api/hive/hive-v1.ts';
import { metal3Definitions } from '../../src/api/metal3/definitions.schema.ts';
import { Metal3Machine, Metal3MachineTemplate } from '../../src/api/metal3/infrastructure-v1beta2.ts';
import { type KubeObject, keyOf, type ObjectKey } from '../../src/api/object.ts';
import { ApiServerConfig } from '../../src/api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../src/api/openshift/definitions.schema.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { coreControllers } from '../../src/lab/metal/core/controllers.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import {
  conditionLines,
  eventually,
  type OracleOutside,
  type OracleProgram,
  startOutside,
  startProviders,
} from '../support/agent-oracle-hub.ts';
import {
  accountOf,
  applyAll,
  placedAgent,
  renderedAgent,
  type WebhookPlace,
  webhookFlags,
  webhookPlace,
} from '../support/agent-oracle-installation.ts';
import { startAudited, unusedRights } from '../support/audited-kubernetes.ts';
import type { AuditedRequest, Permission, ServerAudit } from '../support/ccm-oracle-audit.ts';
import { tokenKubeconfig, withoutStreamedLists } from '../support/ccm-oracle-program.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kube-controller-manager'),
);

const NAMESPACE = 'test-capi';
const mirrorOf = (name: string): string =>
  `[[registry]]\nlocation = "registry.example.com"\n[[registry.mirror]]\nlocation = "${name}.example.com"\n`;
const PROVIDERS: readonly Provider[] = ['bootstrap', 'control-plane'];

/** Whoever applies what is not there needs the right to create it, too. */
const withCreation = (request: AuditedRequest): readonly AuditedRequest[] =>
  request.verb === 'patch' && request.code === 201 ? [request, { ...request, verb: 'create' }] : [request];

describe('the roles of the Agent providers, on a real Kubernetes that says it is OpenShift', needs, () => {
  const parts = new AsyncDisposableStack();
  let audit: ServerAudit;
  let cluster: ControlPlane;
  let client: KubeClient;
  let outside: OracleOutside;
  let places: Readonly<Record<Provider, WebhookPlace>>;
  const programs = new Map<Provider, OracleProgram>();

  before(async () => {
    const started = await startAudited(parts, { controllerManager: true });
    ({ audit, cluster, client } = started);
    const { directory } = started;
    const definitions = [
      ...clusterApiDefinitions(),
      ...assistedDefinitions(),
      ...hiveDefinitions(),
      ...metal3Definitions(),
      ...openshiftDefinitions(),
    ];
    await applyAll(client, definitions as unknown as readonly KubeObject[]);
    await client.apply(ApiServerConfig, { metadata: { name: 'cluster' }, spec: {} });
    places = {
      bootstrap: await webhookPlace(directory, 'bootstrap'),
      'control-plane': await webhookPlace(directory, 'control-plane'),
    };
    await applyAll(client, placedAgent(places.bootstrap, places['control-plane']));
    await client.create(Namespace, { metadata: { name: NAMESPACE } });
    outside = parts.use(
      await startOutside(client, cluster.admin, (workloads) =>
        coreControllers({ connectWorkload: (kubeconfig) => workloads.connect(kubeconfig) }),
      ),
    );
    for (const provider of PROVIDERS) await startAs(provider);
  });
  after(() => parts.disposeAsync());

  /** As the rendered Deployment starts it, with its rendered account; the server may seem too old to stream lists. */
  async function startAs(provider: Provider, isOld = false): Promise<void> {
    const { namespace, name } = accountOf(provider);
    const { token } = await client.createToken({ namespace, name });
    const kubeconfig = await tokenKubeconfig(cluster, provider, token);
    const argv = [
      '--leader-elect',
      `--leader-elect-namespace=${namespace}`,
      `--kubeconfig=${kubeconfig}`,
      ...webhookFlags(places[provider]),
    ];
    const old = isOld ? { kube: await withoutStreamedLists(parts, kubeconfig) } : {};
    const program = parts.use(startProviders({ providers: [provider], argv, outside, ...old }));
    programs.set(provider, program);
    await eventually('it is ready', () => Promise.resolve(program.log.includes('"Ready"')), {
      seconds: 30,
      explain: () => Promise.resolve(program.log),
    });
  }

  async function until(what: string, isSo: () => Promise<boolean>, seconds = 120): Promise<void> {
    await eventually(what, isSo, {
      seconds,
      explain: async () => {
        const lists = await Promise.all([
          client.live.list(Cluster),
          client.live.list(OpenshiftAssistedControlPlane),
          client.live.list(Machine),
          client.live.list(OpenshiftAssistedConfig),
        ]);
        const logs = [...programs.values()].map(({ log }) => log.slice(-3000));
        return `${conditionLines(lists.flatMap(({ items }) => [...items]))}\n${logs.join('\n')}`;
      },
    });
  }

  const controlPlane = (name: string) =>
    client.live.get(OpenshiftAssistedControlPlane, { namespace: NAMESPACE, name });
  const machines = async (name: string): Promise<readonly Machine[]> =>
    (await client.live.list(Machine, { namespace: NAMESPACE })).items.filter(
      ({ spec }) => spec.clusterName === name,
    );

  async function installed(name: string, count: number): Promise<void> {
    await until(`${name} is available`, async () => isTrue(await controlPlane(name), 'Available'));
    await until(`${count} Machines of ${name} run`, async () => {
      const found = await machines(name);
      return found.length === count && found.every(({ status }) => status?.phase === 'Running');
    });
  }

  async function deleted(name: string): Promise<void> {
    await client.delete(Cluster, { namespace: NAMESPACE, name });
    await until(`${name} is gone`, async () => {
      const infraEnvs = (await client.live.list(InfraEnv, { namespace: NAMESPACE })).items;
      const isLeft = (await client.live.find(Cluster, { namespace: NAMESPACE, name })) !== undefined;
      return !isLeft && infraEnvs.every(({ spec }) => spec?.clusterRef?.name !== name);
    });
  }

  const merge = (spec: object) => ({ type: 'merge' as const, body: { spec } as never });

  it('agent/P3: live through an installation, an update, scaling, a repair and a deletion with them alone', async () => {
    const name = 'ignited';
    await applyAll(client, [...hostManifests(9), ...clusterManifests({ name })]);
    await installed(name, 5);
    const key = { namespace: NAMESPACE, name };
    await client.patch(OpenshiftAssistedControlPlane, key, merge({ distributionVersion: '4.20.2' }));
    await until('it is updated', async () => (await controlPlane(name)).status?.distributionVersion === '4.20.2');
    await leaveHalfMade(name);
    await client.patch(OpenshiftAssistedControlPlane, key, merge({ replicas: 4 }));
    await until('it has grown', async () => (await controlPlane(name)).status?.readyReplicas === 4);
    await client.patch(OpenshiftAssistedControlPlane, key, merge({ replicas: 3 }));
    await until('it has shrunk', async () => (await machines(name)).length === 5);
    await deleted(name);
  });

  /** What is left when a provider of another template ended in the middle of its work. */
  async function leaveHalfMade(name: string): Promise<void> {
    const { metadata } = await controlPlane(name);
    const left = `${name}-left0`;
    const owner = {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
      kind: 'OpenshiftAssistedControlPlane',
      name,
      uid: metadata.uid ?? '',
    };
    const found = (await machines(name)).find(
      (machine) => machine.metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined,
    );
    const meta = {
      name: left,
      namespace: NAMESPACE,
      labels: { ...found?.metadata.labels },
      annotations: { 'cluster.x-k8s.io/cloned-from-name': 'another' },
      ownerReferences: [owner],
    };
    await client.create(Metal3Machine, { metadata: meta, spec: {} } as unknown as Metal3Machine);
    await client.create(OpenshiftAssistedConfig, {
      metadata: meta,
      spec: {},
    } as unknown as OpenshiftAssistedConfig);
  }

  it('agent/P3: do the same for hosts that boot a live ISO, and put right what others change', async () => {
    const name = 'live';
    const key = { namespace: NAMESPACE, name };
    const mirrors = { namespace: NAMESPACE, name: 'mirrors' };
    await client.apply(ConfigMap, { metadata: mirrors, data: { 'registries.conf': mirrorOf('one') } });
    const setup = { name, bootMethod: 'live-iso', controlPlane: 1, workers: 2 } as const;
    await applyAll(client, clusterManifests({ ...setup, config: { imageRegistryRef: { name: 'mirrors' } } }));
    await installed(name, 3);
    for (const provider of PROVIDERS) {
      assert.equal(await programs.get(provider)?.stop(), 0);
      if (provider === 'bootstrap') await disturbBootstrap(name);
      else await disturbControlPlane(key, mirrors);
      await startAs(provider, true);
    }
    await until('templates and Secrets are as they were', () => isUndisturbed(name), 60);
    await until('the ClusterDeployment is as it was', async () => {
      const { spec } = await client.live.get(ClusterDeployment, key);
      return spec?.clusterInstallRef?.name === name;
    });
    await client.patch(
      MachineDeployment,
      { namespace: NAMESPACE, name: `${name}-worker` },
      merge({ replicas: 1 }),
    );
    await until('a worker is gone', async () => (await machines(name)).length === 2);
    await deleted(name);
  });

  const derivedKey = (name: string) => ({ namespace: NAMESPACE, name: `${name}-workers-live-iso` });
  const configOf = async (name: string): Promise<OpenshiftAssistedConfig> => {
    const { items } = await client.live.list(OpenshiftAssistedConfig, { namespace: NAMESPACE });
    const found = items.find(({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === name);
    assert.ok(found);
    return found;
  };

  /** A label is missing, and nobody knows whether the Secret was made. */
  async function disturbBootstrap(name: string): Promise<void> {
    const labels = { [CLUSTER_NAME_LABEL]: null };
    const unlabelled = { type: 'merge' as const, body: { metadata: { labels } } };
    const template = await client.live.get(Metal3MachineTemplate, derivedKey(name));
    const image = { ...template.spec.template.spec.image, url: 'http://images.example.com/another.iso' };
    await client.patch(Metal3MachineTemplate, derivedKey(name), merge({ template: { spec: { image } } }));
    const config = keyOf(await configOf(name));
    await client.patch(Secret, config, unlabelled);
    const status = { initialization: null, dataSecretName: null };
    await client.subresource('status').patch(OpenshiftAssistedConfig, config, { type: 'merge', body: { status } });
  }

  async function isUndisturbed(name: string): Promise<boolean> {
    const template = await client.live.get(Metal3MachineTemplate, derivedKey(name));
    const secret = await client.live.get(Secret, keyOf(await configOf(name)));
    const { url = '' } = template.spec.template.spec.image ?? {};
    return !url.includes('another') && secret.metadata.labels?.[CLUSTER_NAME_LABEL] === name;
  }

  async function disturbControlPlane(key: ObjectKey, mirrors: ObjectKey): Promise<void> {
    await client.apply(ConfigMap, { metadata: { ...mirrors }, data: { 'registries.conf': mirrorOf('two') } });
    await client.patch(ClusterDeployment, key, merge({ clusterInstallRef: null }));
  }

  for (const provider of PROVIDERS) {
    it(`agent/P3: nothing was refused, and all of them are used: ${provider}`, async (t) => {
      assert.equal(await programs.get(provider)?.stop(), 0);
      const { user } = accountOf(provider);
      const requests = (await audit.requestsOf(user)).flatMap(withCreation);
      const objects = renderedAgent();
      const tell = (text: string) => t.diagnostic(text);
      // Admission asks for finalizers, and nobody else does.
      const isSilent = ({ resource }: Permission) => resource.endsWith('/finalizers');
      const unused = unusedRights({ user, requests, objects, isSilent, tell });
      // Events of one sort are written into the first of them; how often that happens is a matter of luck.
      assert.deepEqual(
        unused.filter((one) => one !== 'patch events.events.k8s.io'),
        [],
      );
    });
  }
});
