import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import { objectNamed, replaceInstallation, titleOf } from '../../../test/support/operator-installation.ts';
import type { ConfigMap, Namespace, Service } from '../../api/generated/core-v1.ts';
import type { NetworkPolicy } from '../../api/generated/networking-v1.ts';
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
} from '../../api/generated/rbac-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { printYaml } from '../../object/yaml.ts';
import { lintHeldRights, lintInstallation } from '../lint/lint-installation.ts';
import { PLATFORMS } from '../platforms/index.ts';
import type { CredentialsRequest } from '../registry/payload.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { specimenContext } from '../render/specimen.ts';
import { dayOneFiles, installationFiles } from './files.ts';

const OPERATOR = 'openshift-cloud-controller-manager-operator';
const MANAGED = 'openshift-cloud-controller-manager';
const PREFIX = '0000_26_cloud-controller-manager-operator_';

const files = installationFiles(replaceInstallation());
const objects = files.flatMap((file) => file.objects);
const named = <T extends KubeObject>(title: string): T => objectNamed<T>(objects, title);

const partOf = (part: string): readonly KubeObject[] =>
  files.find(({ name }) => name === `${PREFIX}${part}.yaml`)?.objects ?? assert.fail(`no file ${part}`);
const titlesIn = (part: string): readonly string[] => partOf(part).map(titleOf);

describe('the files that install the operator in the place of that of the payload', () => {
  it('operator/R90, operator/R92: are what they were', () => {
    const text = files
      .flatMap(({ name, objects: held }) => [`# ${name}\n`, ...held.map((object) => `---\n${printYaml(object)}`)])
      .join('');
    assertGoldenFile(join(import.meta.dirname, 'testdata', 'replace.golden.yaml'), text);
  });

  it('are the same for the same input', () => {
    assert.deepEqual(installationFiles(replaceInstallation()), files);
  });

  it('operator/R91: come in the order of their names, credentials before what waits for them, monitoring last', () => {
    const names = files.map(({ name }) => name);
    assert.deepEqual(names, names.toSorted());
    assert.deepEqual(
      names.filter((name) => !name.includes('credentialsrequest')),
      [
        `${PREFIX}00_namespace.yaml`,
        `${PREFIX}01_images.configmap.yaml`,
        `${PREFIX}02_rbac_operator.yaml`,
        `${PREFIX}03_rbac_provider.yaml`,
        `${PREFIX}04_rbac_provider_openstack.yaml`,
        `${PREFIX}05_metrics-service.yaml`,
        `${PREFIX}10_networkpolicy-default-deny.yaml`,
        `${PREFIX}50_deployment.yaml`,
        `${PREFIX}60_clusteroperator.yaml`,
        '0000_90_cloud-controller-manager-operator_00_servicemonitor.yaml',
        '0000_90_cloud-controller-manager-operator_01_alerts.yaml',
      ],
    );
    const requests = names.filter((name) => name.includes('credentialsrequest'));
    assert.equal(requests.length, 7);
    for (const name of requests) assert.ok(name > `${PREFIX}13` && name < `${PREFIX}50`, name);
  });

  it('operator/R90: say of every object which capability and which profiles it is of', () => {
    for (const object of objects) {
      const { annotations = {} } = object.metadata;
      const isRequest = object.kind === 'CredentialsRequest';
      const capability = isRequest ? 'CloudCredential+CloudControllerManager' : 'CloudControllerManager';
      assert.equal(annotations['capability.openshift.io/name'], capability, titleOf(object));
      for (const profile of ['self-managed-high-availability', 'single-node-developer'])
        assert.equal(annotations[`include.release.openshift.io/${profile}`], 'true', titleOf(object));
    }
  });

  it('operator/CCM-M01, operator/CCM-M02, operator/CCM-M03: are without a finding', () => {
    assert.deepEqual(lintInstallation(files, [OPERATOR, MANAGED]), []);
  });

  it('operator/R89: are fewer for an installer: neither ClusterOperator nor monitoring', () => {
    const kept = new Set(dayOneFiles(replaceInstallation()).map(({ name }) => name));
    assert.deepEqual(
      files.map(({ name }) => name).filter((name) => !kept.has(name)),
      [
        `${PREFIX}60_clusteroperator.yaml`,
        '0000_90_cloud-controller-manager-operator_00_servicemonitor.yaml',
        '0000_90_cloud-controller-manager-operator_01_alerts.yaml',
      ],
    );
  });
});

describe('what is in them, by the table of section 16', () => {
  it('00: both namespaces, out of the way of what is not there yet', () => {
    assert.deepEqual(titlesIn('00_namespace'), [`Namespace/${OPERATOR}`, `Namespace/${MANAGED}`]);
    for (const { metadata } of partOf('00_namespace') as readonly Namespace[]) {
      assert.equal(metadata.annotations?.['openshift.io/node-selector'], '');
      assert.equal(metadata.annotations?.['workload.openshift.io/allowed'], 'management');
      assert.deepEqual(metadata.labels, {
        'openshift.io/run-level': '0',
        'openshift.io/cluster-monitoring': 'true',
        'pod-security.kubernetes.io/enforce': 'privileged',
        'pod-security.kubernetes.io/audit': 'privileged',
        'pod-security.kubernetes.io/warn': 'privileged',
      });
    }
  });

  it('01: images by key, that of the operator as its Deployment has it', () => {
    const { data = {} } = named<ConfigMap>(`ConfigMap/cloud-controller-manager-images in ${OPERATOR}`);
    const images: unknown = JSON.parse(data['images.json'] ?? '');
    assert.deepEqual(images, replaceInstallation().images);
    assert.equal(Object(images).cloudControllerManagerOperator, 'example.com/operator:1');
    assert.equal(Object.keys(Object(images)).length, 10);
  });

  it('02: the account of the operator, and roles where it works', () => {
    const titles = titlesIn('02_rbac_operator');
    assert.equal(titles[0], `ServiceAccount/cluster-cloud-controller-manager in ${OPERATOR}`);
    assert.ok(titles.includes('ClusterRole/system:openshift:operator:cloud-controller-manager'));
    assert.ok(titles.includes('ClusterRoleBinding/system:openshift:operator:cloud-controller-manager'));
    for (const namespace of [OPERATOR, MANAGED, 'openshift-config', 'openshift-config-managed', 'kube-system']) {
      assert.ok(titles.includes(`Role/cloud-controller-manager-operator in ${namespace}`), namespace);
      assert.ok(titles.includes(`RoleBinding/cloud-controller-manager-operator in ${namespace}`), namespace);
    }
    const host = named<ClusterRoleBinding>(
      'ClusterRoleBinding/system:openshift:operator:cloud-controller-manager:hostaccess',
    );
    assert.equal(host.roleRef.name, 'system:openshift:scc:hostaccess');
  });

  it('02: reads the configuration of people, and deletes none of what operators share', () => {
    const verbsIn = (namespace: string) =>
      verbsOn(named<Role>(`Role/cloud-controller-manager-operator in ${namespace}`), 'configmaps');
    assert.deepEqual(verbsIn('openshift-config'), ['get', 'list', 'watch']);
    assert.deepEqual(verbsIn('openshift-config-managed'), ['create', 'get', 'list', 'update', 'watch']);
  });

  it('operator/R92: the operator may do what it needs with conditions, and delete what it makes again', () => {
    const role = named<ClusterRole>('ClusterRole/system:openshift:operator:cloud-controller-manager');
    const status = role.rules?.find(({ resources }) => resources?.includes('clusteroperators/status'));
    assert.deepEqual([status?.resourceNames, status?.verbs], [['cloud-controller-manager'], ['patch']]);
    for (const resource of ['clusterroles', 'clusterrolebindings', 'validatingadmissionpolicies'])
      assert.ok(verbsOn(role, resource).includes('delete'), resource);
    for (const resource of [
      'clusterversions',
      'infrastructures',
      'featuregates',
      'networks',
      'proxies',
      'apiservers',
    ])
      assert.deepEqual(verbsOn(role, resource), ['get', 'list', 'watch'], resource);
  });

  it('operator/R92, operator/CCM-R01: its roles hold whatever it grants', () => {
    const roles = partOf('02_rbac_operator').filter(({ kind }) => kind.endsWith('Role')) as readonly Role[];
    const held = roles.map(({ metadata: { namespace }, rules = [] }) => ({
      rules: rules as readonly PolicyRule[],
      ...(namespace !== undefined && { namespace }),
    }));
    const providers = PLATFORMS.map(defineCloudProvider);
    const operands = providers.flatMap((one) => one.getResources(specimenContext(one.definition)));
    assert.deepEqual(lintHeldRights(operands, held), []);
  });

  it('03: accounts of cloud controller managers and node managers, with what upstream gives them', () => {
    assert.deepEqual(titlesIn('03_rbac_provider'), [
      `ServiceAccount/cloud-controller-manager in ${MANAGED}`,
      `Role/cloud-controller-manager in ${MANAGED}`,
      `RoleBinding/cloud-controller-manager in ${MANAGED}`,
      'Role/cloud-controller-manager in kube-system',
      'RoleBinding/cloud-controller-manager in kube-system',
      'ClusterRole/cloud-controller-manager',
      'ClusterRoleBinding/cloud-controller-manager',
      'RoleBinding/cloud-controller-manager:apiserver-authentication-reader in kube-system',
      `ServiceAccount/cloud-node-manager in ${MANAGED}`,
      'ClusterRole/cloud-node-manager',
      'ClusterRoleBinding/cloud-node-manager',
    ]);
    const node = named<ClusterRole>('ClusterRole/cloud-node-manager');
    assert.deepEqual(verbsOn(node, 'nodes'), ['get', 'list', 'patch', 'update', 'watch']);
    assert.deepEqual(verbsOn(node, 'nodes/status'), ['patch']);
    const reader = named<RoleBinding>(
      'RoleBinding/cloud-controller-manager:apiserver-authentication-reader in kube-system',
    );
    assert.equal(reader.roleRef.name, 'extension-apiserver-authentication-reader');
  });

  it('04: the account of that of OpenStack in kube-system', () => {
    assert.deepEqual(titlesIn('04_rbac_provider_openstack'), [
      'ServiceAccount/cloud-controller-manager in kube-system',
      'ClusterRole/openstack-cloud-controller-manager',
      'ClusterRoleBinding/openstack-cloud-controller-manager',
    ]);
  });

  it('05: a headless Service with a certificate', () => {
    const { metadata, spec } = named<Service>(`Service/cloud-controller-manager-operator in ${OPERATOR}`);
    assert.equal(spec?.clusterIP, 'None');
    assert.deepEqual(
      spec.ports?.map(({ port }) => port),
      [9258, 9443],
    );
    assert.deepEqual(spec.selector, { 'k8s-app': 'cloud-manager-operator' });
    assert.equal(
      metadata.annotations?.['service.alpha.openshift.io/serving-cert-secret-name'],
      'cloud-controller-manager-operator-tls',
    );
  });

  it('10: no traffic for pods of either namespace', () => {
    assert.deepEqual(titlesIn('10_networkpolicy-default-deny'), [
      `NetworkPolicy/default-deny in ${OPERATOR}`,
      `NetworkPolicy/default-deny in ${MANAGED}`,
    ]);
    for (const { spec } of partOf('10_networkpolicy-default-deny') as readonly NetworkPolicy[])
      assert.deepEqual(spec, { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  });

  it('13–18: a request for each platform that has credentials, and none for AWS', () => {
    const isRequest = (object: KubeObject): object is CredentialsRequest => object.kind === 'CredentialsRequest';
    const requests = objects.filter(isRequest);
    const secrets = requests.map(({ metadata, spec }) => [metadata.name, spec.secretRef.name]);
    assert.deepEqual(Object.fromEntries(secrets), {
      'openshift-openstack-cloud-controller-manager': 'openstack-cloud-credentials',
      'openshift-azure-cloud-controller-manager': 'azure-cloud-credentials',
      'openshift-ibm-cloud-controller-manager': 'ibm-cloud-credentials',
      'openshift-powervs-cloud-controller-manager': 'ibm-cloud-credentials',
      'openshift-gcp-ccm': 'gcp-ccm-cloud-credentials',
      'openshift-vsphere-cloud-controller-manager': 'vsphere-cloud-credentials',
      'openshift-nutanix-cloud-controller-manager': 'nutanix-credentials',
    });
    for (const { metadata, spec } of requests) {
      assert.equal(metadata.namespace, 'openshift-cloud-credential-operator');
      assert.equal(spec.secretRef.namespace, MANAGED);
    }
    const request = (name: string) => requests.find(({ metadata }) => metadata.name === name);
    assert.deepEqual(request('openshift-azure-cloud-controller-manager')?.spec.serviceAccountNames, [
      'cloud-controller-manager',
    ]);
    assert.equal(request('openshift-gcp-ccm')?.spec.providerSpec['skipServiceCheck'], true);
  });

  it('60: the ClusterOperator with the version that is waited for, and what must-gather collects', () => {
    const { metadata, status } = named<ClusterOperator>('ClusterOperator/cloud-controller-manager');
    assert.equal(metadata.annotations?.['exclude.release.openshift.io/internal-openshift-hosted'], 'true');
    assert.deepEqual(status?.versions, [{ name: 'operator', version: '0.0.1-snapshot' }]);
    assert.deepEqual(
      status.relatedObjects?.map(({ resource, name }) => `${resource}/${name}`),
      [`namespaces/${OPERATOR}`, 'clusteroperators/cloud-controller-manager', `namespaces/${MANAGED}`],
    );
  });
});

/** What a role allows with a resource, in order. */
const verbsOn = ({ rules = [] }: Role | ClusterRole, resource: string): readonly string[] =>
  [
    ...new Set(rules.filter(({ resources }) => resources?.includes(resource)).flatMap(({ verbs }) => verbs)),
  ].toSorted();
