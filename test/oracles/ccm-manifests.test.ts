import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { SubjectAccessReview } from '../../src/api/generated/authorization-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { unstructured } from '../../src/api/unstructured.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { messageOf } from '../../src/base/errors.ts';
import { type InstallOptions, installManifests, installNeeds, installObjects } from '../../src/cloud/index.ts';
import { type Infrastructure, infrastructureChangeProblems } from '../../src/cloud/manifests/infrastructure.ts';
import { bootstrapPod } from '../../src/cloud/manifests/static-pod.ts';
import { applyYamlText } from '../../src/kube/apply/apply-yaml.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Need } from '../../src/kube/rbac/need.ts';
import { printYaml } from '../../src/object/yaml.ts';
import type { ProviderDefinition } from '../../src/sdk/provider/provider-definition.ts';
import { acmeDefinition, plainDefinition } from '../support/acme-definition.ts';
import { adminClient } from '../support/admin-client.ts';
import { kubectl } from '../support/kubectl.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

/** The definitions of OpenShift's kinds; they are not part of this repository. */
const CORPUS = join(import.meta.dirname, '../../../shared/crds/openshift');
const DEFINITIONS = [
  '80_machine-config_01_machineconfigs.crd.yaml',
  '10_config-operator_01_infrastructures.crd.yaml',
].map((name) => join(CORPUS, name));
const corpus = {
  skip: existsSync(CORPUS) ? false : 'the definitions of the kinds of OpenShift are not on this machine',
};

const IMAGE = 'example.com/acme/ccm:1';
/** The label that OpenShift gives its control plane (O7); Kubernetes itself would like another. */
const KNOWN_WARNING = 'nodeSelector[node-role.kubernetes.io/master]';
const NAMESPACE = 'acme-cloud-controller-manager';

const rendered = (definition: ProviderDefinition, options: Partial<InstallOptions> = {}) => {
  const all = { image: IMAGE, ...options };
  return installManifests(definition, installNeeds(definition, all), all);
};

const stream = (objects: readonly KubeObject[]): string => objects.map((one) => `---\n${printYaml(one)}`).join('');

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kubectl'),
);

describe('what installs a cloud controller manager, on a real Kubernetes', needs, () => {
  let cluster: ControlPlane;
  let client: KubeClient;
  const parts = new AsyncDisposableStack();
  before(async () => {
    cluster = parts.use(await startKubernetes());
    client = await adminClient(parts, cluster.admin);
    if (corpus.skip !== false) return;
    for (const file of DEFINITIONS) {
      await applyYamlText(client, new SystemClock(), await readFile(file, 'utf8'));
    }
    const waited = await kubectl(cluster.admin, 'wait', '--for=condition=Established', '--all', 'crd');
    assert.equal(waited.code, 0, waited.stderr);
  });
  after(() => parts.disposeAsync());

  /** Refuses fields that the server does not know, instead of dropping them. */
  async function apply(objects: readonly KubeObject[], ...flags: readonly string[]): Promise<void> {
    const file = join(cluster.directory, 'manifests.yaml');
    await writeFile(file, stream(objects));
    const { code, stderr } = await kubectl(
      cluster.admin,
      'apply',
      '--server-side',
      '--validate=strict',
      ...flags,
      `--filename=${file}`,
    );
    assert.equal(code, 0, stderr);
    const others = stderr.split('\n').filter((line) => line.includes('Warning:') && !line.includes(KNOWN_WARNING));
    assert.deepEqual(others, []);
  }

  const cases: readonly {
    readonly name: string;
    readonly definition: ProviderDefinition;
    readonly options: Partial<InstallOptions>;
  }[] = [
    { name: 'a definition with everything', definition: acmeDefinition(), options: {} },
    { name: 'a definition with little', definition: plainDefinition(), options: {} },
    {
      name: 'a single node',
      definition: acmeDefinition(),
      options: { topology: 'sno', securePort: 0, cloudConfig: 'Secret', clusterName: 'east' },
    },
    {
      name: 'an account per controller in another namespace',
      definition: acmeDefinition(),
      options: { usesAccounts: true, namespace: 'clouds', cloudConfig: 'ConfigMap' },
    },
  ];
  for (const { name, definition, options } of cases) {
    it(`ccm/O6, ccm/O7: is accepted as a whole for ${name}`, async () => {
      const manifests = rendered(definition, options);
      await apply([manifests.namespace]);
      const pod = bootstrapPod(definition, { image: IMAGE, ...options });
      const objects = [...installObjects({ ...manifests, machines: { roles: [] } }), pod];
      await apply(objects, '--dry-run=server');
    });
  }

  it('ccm/O13: is accepted with the MachineConfigs', corpus, async () => {
    const { machines } = rendered(acmeDefinition());
    assert.equal(machines.roles.length, 2);
    await apply(
      machines.roles.map(({ machineConfig }) => machineConfig),
      '--dry-run=server',
    );
  });

  async function mayDo(user: string, need: Need, verb: string): Promise<boolean> {
    const [resource = '', subresource = ''] = need.resource.split('/');
    const { group, namespace = '', names: [name = ''] = [] } = need;
    const isNamed = verb !== 'create';
    const { status } = await client.create(SubjectAccessReview, {
      metadata: { name: '' },
      spec: {
        user: `system:serviceaccount:${user}`,
        groups: ['system:serviceaccounts', 'system:authenticated'],
        resourceAttributes: { group, resource, subresource, namespace, verb, ...(isNamed && { name }) },
      },
    });
    return status?.allowed === true;
  }

  const refused = async (user: string, all: readonly Need[]): Promise<readonly string[]> => {
    const asked = all.flatMap((need) => need.verbs.map((verb) => ({ need, verb })));
    const answers = await Promise.all(asked.map(({ need, verb }) => mayDo(user, need, verb)));
    return asked.filter((_, at) => answers[at] === false).map(({ need, verb }) => `${verb} ${need.resource}`);
  };

  it('ccm/O6: lets the one identity do all that the program needs, and not more', async () => {
    const definition = acmeDefinition();
    const { namespace, roles } = rendered(definition);
    await apply([namespace, ...roles]);
    const { process, accounts } = installNeeds(definition);
    const user = `${NAMESPACE}:cloud-controller-manager`;
    assert.deepEqual(await refused(user, [...process, ...[...accounts.values()].flat()]), []);
    const other: Need = { group: '', resource: 'services', verbs: ['update', 'patch', 'delete'] };
    assert.deepEqual(await refused(user, [other]), ['update services', 'patch services', 'delete services']);
    const authorities: Need = { group: '', resource: 'configmaps', verbs: ['get'], namespace: 'kube-system' };
    assert.deepEqual(await refused(user, [{ ...authorities, names: ['extension-apiserver-authentication'] }]), []);
    assert.deepEqual(await refused(user, [{ ...authorities, names: ['kubeadm-config'] }]), ['get configmaps']);
  });

  it('ccm/O6, ccm/O11: needs hardly more than the roles that Kubernetes has for an account per controller', async () => {
    const definition = acmeDefinition();
    const options = { usesAccounts: true, namespace: 'clouds' };
    const { namespace, roles } = rendered(definition, options);
    await apply([namespace, ...roles]);
    const { process, accounts } = installNeeds(definition, options);
    assert.deepEqual(await refused('clouds:cloud-controller-manager', process), []);
    for (const [account, wanted] of accounts) {
      assert.deepEqual(await refused(`kube-system:${account}`, wanted), [], account);
    }
  });

  describe('with the Infrastructure of OpenShift', corpus, () => {
    const kind = unstructured({
      group: 'config.openshift.io',
      version: 'v1',
      kind: 'Infrastructure',
      plural: 'infrastructures',
      scope: 'Cluster',
    });
    type Entry = { readonly state?: string } | undefined;
    /** The name of the platform, and what is said about the cloud controller manager. */
    type Said = readonly [string | undefined, Entry];
    const infrastructure = (name: string, platformName: string | undefined, ccm: Entry): Infrastructure => ({
      apiVersion: 'config.openshift.io/v1',
      kind: 'Infrastructure',
      metadata: { name },
      spec: { platformSpec: { type: 'External', external: platformName === undefined ? {} : { platformName } } },
      status: {
        platformStatus: { type: 'External', external: ccm === undefined ? {} : { cloudControllerManager: ccm } },
      },
    });

    /** What the server says about a change of a new object, spec and status each by its own endpoint. */
    async function change(from: Infrastructure, to: Infrastructure): Promise<string | undefined> {
      const created = await client.create(kind, { ...from });
      // The status that the installer leaves has fields that the server insists on.
      const required = {
        infrastructureName: 'x',
        etcdDiscoveryDomain: '',
        apiServerURL: '',
        apiServerInternalURI: '',
      };
      const status = { ...required, controlPlaneTopology: 'External', infrastructureTopology: 'HighlyAvailable' };
      const first = await client.updateStatus(kind, { ...created, status: { ...status, ...from.status } });
      try {
        const second = await client.update(kind, { ...first, spec: to.spec });
        await client.updateStatus(kind, { ...second, status: { ...status, ...to.status } });
        return undefined;
      } catch (error) {
        return messageOf(error);
      } finally {
        await client.delete(kind, { name: from.metadata.name });
      }
    }

    const names = [undefined, 'Unknown', 'Acme', 'Other'];
    const entries: readonly Entry[] = [undefined, {}, { state: '' }, { state: 'None' }, { state: 'External' }];
    const same = { state: 'None' };
    const pairs: readonly (readonly [Said, Said])[] = [
      ...names.flatMap((one) =>
        names.map(
          (two) =>
            [
              [one, same],
              [two, same],
            ] as const,
        ),
      ),
      ...entries.flatMap((one) =>
        entries.map(
          (two) =>
            [
              ['Acme', one],
              ['Acme', two],
            ] as const,
        ),
      ),
    ];

    it('ccm/O1, ccm/O2: judges every change as the server does', async () => {
      for (const [at, [one, two]] of pairs.entries()) {
        const [from, to] = [infrastructure(`case-${at}`, ...one), infrastructure(`case-${at}`, ...two)];
        const [problem] = infrastructureChangeProblems(from, to);
        const said = await change(from, to);
        const shown = `${JSON.stringify(one)} to ${JSON.stringify(two)}`;
        assert.equal(said === undefined, problem === undefined, `${shown}: ${said ?? 'accepted'}, not ${problem}`);
        if (problem !== undefined) assert.ok(said?.includes(problem), `${shown}: ${said}, not ${problem}`);
      }
    });
  });
});
