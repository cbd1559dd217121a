import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { acmeDefinition, acmeNeeds, plainDefinition } from '../../../test/support/acme-definition.ts';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import { lintManifests } from '../../../test/support/install-linter.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Container, PodSpec } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { parseFlags } from '../../kube/manager/flag-parser.ts';
import { dnsLabelProblems, labelValueProblems } from '../../object/names.ts';
import { parseYaml, printYaml } from '../../object/yaml.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { installNeeds } from '../index.ts';
import { CLOUD_FLAGS } from '../program/flags.ts';
import { installManifests, installObjects } from './install-manifests.ts';
import { type InstallOptions, installNames } from './install-options.ts';
import { bootstrapPod } from './static-pod.ts';

const IMAGE = 'example.com/acme/ccm:1';

const render = (definition: ProviderDefinition, options: Partial<InstallOptions> = {}) =>
  installManifests(definition, acmeNeeds(installNames(definition, options).namespace), {
    image: IMAGE,
    ...options,
  });

const deployment = (options: Partial<InstallOptions> = {}, definition = acmeDefinition()): Deployment =>
  render(definition, options).deployment as Deployment;

const podOf = (options: Partial<InstallOptions> = {}, definition = acmeDefinition()): PodSpec =>
  deployment(options, definition).spec.template.spec ?? assert.fail('no pod');

const containerOf = ({ containers: [container] }: PodSpec): Container => container ?? assert.fail('no container');

const text = (objects: readonly KubeObject[]): string =>
  objects.map((object) => `---\n${printYaml(object)}`).join('');

/** What the program makes of its arguments; fails for a flag that it does not have. */
function flagsOf({ args = [] }: Container): ReadonlyMap<string, unknown> {
  assert.deepEqual(args.slice(0, 2), ['run', 'cloud-controller-manager']);
  return parseFlags(CLOUD_FLAGS, args.slice(2), {}).values;
}

describe('what installs a cloud controller manager', () => {
  for (const definition of [acmeDefinition(), plainDefinition()]) {
    it(`ccm/O4: is all there for ${definition.name}, in the order in which it can be created`, () => {
      const golden = join(import.meta.dirname, 'testdata', `${definition.name}.golden.yaml`);
      assertGoldenFile(golden, text(installObjects(render(definition))));
    });
  }

  it('ccm/O5: has a namespace of its own, free of what would hold it up before the OpenShift API is there', () => {
    const { metadata } = render(acmeDefinition()).namespace;
    assert.equal(metadata.name, 'acme-cloud-controller-manager');
    assert.deepEqual(metadata.annotations, {
      'openshift.io/node-selector': '',
      'workload.openshift.io/allowed': 'management',
    });
    const labels = metadata.labels ?? {};
    for (const level of ['enforce', 'audit', 'warn']) {
      assert.equal(labels[`pod-security.kubernetes.io/${level}`], 'privileged');
    }
    assert.equal(labels['pod-security.kubernetes.io/enforce-version'], 'latest');
    assert.equal(labels['security.openshift.io/scc.podSecurityLabelSync'], 'false');
    assert.equal(labels['openshift.io/run-level'], '0');
  });

  it('ccm/O5: is in another namespace when told so, with everything that is in one', () => {
    const objects = installObjects(render(acmeDefinition(), { namespace: 'elsewhere' }));
    const places = new Set(objects.flatMap(({ metadata: { namespace } }) => namespace ?? []));
    assert.deepEqual(places, new Set(['elsewhere', 'kube-system']));
    assert.equal(
      flagsOf(containerOf(podOf({ namespace: 'elsewhere' }))).get('leader-elect-resource-namespace'),
      'elsewhere',
    );
    assert.throws(() => render(acmeDefinition(), { namespace: 'Not One' }), { reason: 'InvalidNamespace' });
  });

  it('ccm/O7: is a Deployment of two that are never two of different versions', () => {
    const { metadata, spec } = deployment();
    const labels = {
      'k8s-app': 'acme-cloud-controller-manager',
      'infrastructure.openshift.io/cloud-controller-manager': 'acme',
    };
    assert.equal(spec.replicas, 2);
    assert.deepEqual(spec.strategy, { type: 'Recreate' });
    assert.deepEqual(metadata.labels, labels);
    assert.deepEqual(spec.selector, { matchLabels: labels });
    assert.deepEqual(spec.template.metadata?.labels, labels);
    assert.deepEqual(spec.template.metadata?.annotations, {
      'target.workload.openshift.io/management': '{"effect": "PreferredDuringScheduling"}',
    });
  });

  it('ccm/O7: is on the network of the hosts of the control plane, one on each', () => {
    const pod = podOf();
    assert.equal(pod.hostNetwork, true);
    assert.equal(pod.priorityClassName, 'system-cluster-critical');
    assert.deepEqual(pod.nodeSelector, { 'node-role.kubernetes.io/master': '' });
    const [term] = pod.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    assert.equal(term?.topologyKey, 'kubernetes.io/hostname');
    assert.deepEqual(term.labelSelector, deployment().spec.selector);
  });

  it('ccm/O7: asks for little, is not limited, and is found by its name and port', () => {
    const container = containerOf(podOf());
    assert.equal(container.name, 'cloud-controller-manager');
    assert.equal(container.image, IMAGE);
    assert.deepEqual(container.resources, { requests: { cpu: '200m', memory: '50Mi' } });
    assert.deepEqual(container.ports, [{ name: 'https', containerPort: 10258, protocol: 'TCP' }]);
    const probed = [container.livenessProbe, container.readinessProbe].map((probe) => probe?.httpGet);
    assert.deepEqual(probed, [
      { path: '/healthz', port: 'https', scheme: 'HTTPS' },
      { path: '/readyz', port: 'https', scheme: 'HTTPS' },
    ]);
  });

  it('ccm/O8: tolerates what keeps everybody else off a new node, whatever the value of the taint', () => {
    const tolerations = podOf().tolerations ?? [];
    assert.ok(tolerations.every(({ operator, value }) => operator === 'Exists' && value === undefined));
    assert.deepEqual(
      tolerations.map(({ key, effect, tolerationSeconds }) => [key, effect, tolerationSeconds]),
      [
        ['CriticalAddonsOnly', undefined, undefined],
        ['node-role.kubernetes.io/master', 'NoSchedule', undefined],
        ['node.cloudprovider.kubernetes.io/uninitialized', 'NoSchedule', undefined],
        ['node.kubernetes.io/not-ready', 'NoSchedule', undefined],
        ['node.kubernetes.io/not-ready', 'NoExecute', 120],
        ['node.kubernetes.io/unreachable', 'NoExecute', 120],
      ],
    );
  });

  it('ccm/O9: is told by the host where the API server is', () => {
    const pod = podOf();
    const volume = pod.volumes?.find(({ hostPath }) => hostPath?.path === '/etc/kubernetes');
    const mount = containerOf(pod).volumeMounts?.find(({ name }) => name === volume?.name);
    assert.deepEqual(mount, { name: 'host-etc-kube', mountPath: '/etc/kubernetes', readOnly: true });
    assert.equal(flagsOf(containerOf(pod)).get('apiserver-env-file'), '/etc/kubernetes/apiserver-url.env');
  });

  it('ccm/O10: trusts what the cluster trusts, through a ConfigMap of its own that may be missing', () => {
    const { metadata, ...rest } = render(acmeDefinition()).trustedCa;
    assert.equal(metadata.labels?.['config.openshift.io/inject-trusted-cabundle'], 'true');
    assert.ok(!('data' in rest), 'applying it again would take the injected bundle away');
    const pod = podOf();
    const volume = { name: 'trusted-ca', configMap: { name: metadata.name, optional: true } };
    assert.deepEqual(pod.volumes?.[1], volume);
    const mountPath = '/etc/slipway/trusted-ca';
    const { volumeMounts = [], env = [] } = containerOf(pod);
    assert.deepEqual(volumeMounts[1], { name: 'trusted-ca', mountPath, readOnly: true });
    assert.deepEqual(env[0], { name: 'NODE_EXTRA_CA_CERTS', value: `${mountPath}/ca-bundle.crt` });
  });

  it('operator/CCM-W27, operator/CCM-W29: trusts, reads and is called as the cloud operator has it, when that one deploys it', () => {
    const pod = podOf({ operated: true });
    assert.deepEqual(pod.volumes?.slice(1), [
      {
        name: 'trusted-ca',
        configMap: { name: 'ccm-trusted-ca', items: [{ key: 'ca-bundle.crt', path: 'tls-ca-bundle.pem' }] },
      },
      { name: 'cloud-config', configMap: { name: 'cloud-conf' } },
    ]);
    const container = containerOf(pod);
    assert.deepEqual(container.volumeMounts?.slice(1), [
      { name: 'trusted-ca', mountPath: '/etc/pki/ca-trust/extracted/pem', readOnly: true },
      { name: 'cloud-config', mountPath: '/etc/cloud/config', readOnly: true },
    ]);
    assert.deepEqual(container.env?.slice(0, 2), [
      { name: 'OCP_INFRASTRUCTURE_NAME', value: '' },
      { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem' },
    ]);
    const flags = flagsOf(container);
    assert.equal(flags.get('cloud-config'), '/etc/cloud/config/cloud.conf');
    assert.equal(flags.get('cluster-name'), '$(OCP_INFRASTRUCTURE_NAME)');
  });

  it('ccm/O11: elects its leader as the platform does, in its own namespace', () => {
    const flags = flagsOf(containerOf(podOf()));
    const told = ['cloud-provider', 'configure-cloud-routes', 'leader-elect', 'leader-elect-resource-namespace'];
    assert.deepEqual(
      told.map((name) => flags.get(name)),
      ['acme', false, true, 'acme-cloud-controller-manager'],
    );
    const times = ['lease-duration', 'renew-deadline', 'retry-period'].map((name) =>
      flags.get(`leader-elect-${name}`),
    );
    assert.deepEqual(times, [137_000, 107_000, 26_000]);
    assert.equal(flags.get('use-service-account-credentials'), false);
    assert.deepEqual(flags.get('controllers'), ['cloud-node', 'cloud-node-lifecycle', 'service']);
  });

  for (const controllers of [[], ['route']] as const) {
    it(`ccm/O11, ccm/P1: runs nothing where the definition leaves nothing to run: [${controllers.join()}]`, () => {
      const definition = acmeDefinition({ ccm: { external: true, controllers } });
      const { process, accounts } = installNeeds(definition, { securePort: 0 });
      assert.deepEqual([...accounts], []);
      assert.ok(process.every(({ resource }) => resource === 'leases' || resource === 'events'));
    });
  }

  it('ccm/O11: uses an account per controller when told so', () => {
    const flags = flagsOf(containerOf(podOf({ usesAccounts: true })));
    assert.equal(flags.get('use-service-account-credentials'), true);
  });

  it('ccm/O12: listens on another port when told so, and on none with 0', () => {
    const other = containerOf(podOf({ securePort: 10259 }));
    assert.equal(flagsOf(other).get('secure-port'), 10259);
    assert.equal(other.ports?.[0]?.containerPort, 10259);
    const none = containerOf(podOf({ securePort: 0 }));
    assert.equal(flagsOf(none).get('secure-port'), 0);
    assert.deepEqual([none.ports, none.livenessProbe, none.readinessProbe], [undefined, undefined, undefined]);
  });

  it('gets credentials from a Secret that may be missing, by the names that the definition lists', () => {
    const variables = containerOf(podOf()).env?.filter(({ valueFrom }) => valueFrom !== undefined);
    assert.deepEqual(variables, [
      {
        name: 'ACME_KEY',
        valueFrom: { secretKeyRef: { name: 'cloud-credentials', key: 'ACME_KEY', optional: true } },
      },
      {
        name: 'ACME_SECRET',
        valueFrom: { secretKeyRef: { name: 'cloud-credentials', key: 'ACME_SECRET', optional: true } },
      },
    ]);
  });

  it('ccm/P7: gets a cloud configuration only when there is one', () => {
    assert.equal(flagsOf(containerOf(podOf())).get('cloud-config'), '');
    for (const cloudConfig of ['ConfigMap', 'Secret'] as const) {
      const pod = podOf({ cloudConfig });
      assert.equal(flagsOf(containerOf(pod)).get('cloud-config'), '/etc/cloud/config/cloud.conf');
      const source =
        cloudConfig === 'Secret'
          ? { secret: { secretName: 'cloud-config', optional: true } }
          : { configMap: { name: 'cloud-config', optional: true } };
      assert.deepEqual(pod.volumes?.at(-1), { name: 'cloud-config', ...source });
    }
  });

  it('ccm/C30: is one replica with all tolerations and no limits on a single node', () => {
    const { spec } = deployment({ topology: 'sno' });
    assert.equal(spec.replicas, 1);
    assert.deepEqual(spec.template.spec, podOf({ topology: 'ha' }));
    assert.equal(containerOf(podOf({ topology: 'sno' })).resources?.limits, undefined);
  });

  it('ccm/O17: has a pod for the bootstrap machine that needs no object of the cluster', () => {
    const options = { image: IMAGE, cloudConfig: 'Secret' } as const;
    const pod = bootstrapPod(acmeDefinition(), options);
    assertGoldenFile(join(import.meta.dirname, 'testdata', 'acme-bootstrap.golden.yaml'), text([pod]));
    assert.equal(pod.metadata.namespace, 'kube-system');
    const flags = flagsOf(containerOf(pod.spec));
    assert.deepEqual(
      ['controllers', 'leader-elect', 'use-service-account-credentials'].map((name) => flags.get(name)),
      [['cloud-node'], false, false],
    );
    const told = ['kubeconfig', 'cloud-config'].map((name) => String(flags.get(name)));
    const folders = told.map((file) => hostPathOf(pod.spec, file));
    assert.deepEqual(folders, [
      '/etc/kubernetes/bootstrap-secrets/kubeconfig',
      '/etc/kubernetes/bootstrap-configs/cloud.conf',
    ]);
    const bare = bootstrapPod(acmeDefinition(), { image: IMAGE });
    assert.equal(flagsOf(containerOf(bare.spec)).get('cloud-config'), '');
  });

  it('ccm/O18: does not hold the pod for the bootstrap machine: the Deployment tolerates the taints', () => {
    const kinds = installObjects(render(acmeDefinition())).map(({ kind }) => kind);
    assert.ok(!kinds.includes('Pod'));
  });

  it('ccm/B11: is valid for every definition that is', () => {
    fc.assert(
      fc.property(definitions, installs, (definition, options) => {
        const objects = [
          ...installObjects(render(definition, options)),
          bootstrapPod(definition, { image: IMAGE, ...options }),
        ];
        assert.deepEqual(lintManifests(objects), []);
        for (const object of objects) {
          assert.deepEqual(nameProblems(object), []);
          assert.deepEqual(parseYaml(printYaml(object)), object);
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** Where a file of the container is on the host. */
function hostPathOf(pod: PodSpec, file: string): string | undefined {
  const mount = containerOf(pod).volumeMounts?.find(({ mountPath }) => file.startsWith(`${mountPath}/`));
  const volume = pod.volumes?.find(({ name }) => name === mount?.name);
  return volume === undefined || mount === undefined
    ? undefined
    : `${volume.hostPath?.path}${file.slice(mount.mountPath.length)}`;
}

const nameProblems = ({
  kind,
  metadata: { name, namespace = name, labels = {} },
}: KubeObject): readonly string[] => [
  ...(kind === 'Deployment' || kind === 'Namespace' ? dnsLabelProblems(name) : []),
  ...(kind.startsWith('Cluster') || kind === 'MachineConfig' ? [] : dnsLabelProblems(namespace)),
  ...Object.values(labels).flatMap(labelValueProblems),
];

const definitions = fc
  .record({
    name: fc.stringMatching(/^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/),
    secrets: fc.uniqueArray(fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,20}$/), { maxLength: 3 }),
    format: fc.constantFrom('{id}', '{zone}/{id}', '#{id}'),
    hasMetadata: fc.boolean(),
    external: fc.boolean(),
  })
  .map(({ name, secrets, format, hasMetadata, external }) => {
    const { instances, metadata } = acmeDefinition().capabilities;
    return acmeDefinition({
      name,
      secrets,
      ccm: { external },
      providerID: { scheme: 'x', format, pattern: /^x:\/\/.+$/ },
      capabilities: {
        ...(instances !== undefined && { instances }),
        ...(hasMetadata && metadata !== undefined && { metadata }),
      },
    });
  });

const installs: fc.Arbitrary<Partial<InstallOptions>> = fc.record(
  {
    namespace: fc.stringMatching(/^[a-z]([a-z0-9-]{0,60}[a-z0-9])?$/),
    topology: fc.constantFrom('ha' as const, 'sno' as const),
    securePort: fc.integer({ min: 0, max: 65_535 }),
    cloudConfig: fc.constantFrom('ConfigMap' as const, 'Secret' as const),
    usesAccounts: fc.boolean(),
  },
  { requiredKeys: [] },
);
