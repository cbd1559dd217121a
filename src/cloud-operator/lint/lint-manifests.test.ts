import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AcmeManifest, acmeText, type Breakage, lintedText } from '../../../test/support/acme-manifests.ts';

const D = 'Deployment/acme-cloud-controller-manager';
const ROLE = 'Role/acme-cloud-controller-manager';

const CASES: readonly {
  readonly rule: string;
  readonly when: string;
  readonly manifest: AcmeManifest;
  readonly broken: readonly Breakage[];
  readonly says: string;
  readonly severity?: 'warning';
}[] = [
  {
    rule: 'CCM-T01',
    when: 'a template names a value that nobody gives',
    manifest: 'deployment',
    broken: [['value: "eu"', 'value: "{{ .region }}"']],
    says: 'there is no value .region',
  },
  {
    rule: 'CCM-T01',
    when: 'a template is none',
    manifest: 'deployment',
    broken: [['value: "eu"', 'value: "{{ range .x }}"']],
    says: '{{ range .x }} is not supported; use {{ .name }}, if, else and end only',
  },
  {
    rule: 'CCM-T02',
    when: 'a field is unknown',
    manifest: 'deployment',
    broken: [['  replicas: 2', '  replicas: 2\n  replica: 2']],
    says: 'spec.replica: unknown field, did you mean replicas?',
  },
  {
    rule: 'CCM-T02',
    when: 'a field is in another case, null or not',
    manifest: 'role',
    broken: [['rules:', 'Rules:']],
    says: `${ROLE}: Rules: the field is spelled rules`,
  },
  {
    rule: 'CCM-T02',
    when: 'a field in another case is null besides, which is one mistake',
    manifest: 'deployment',
    broken: [['secret: {secretName: acme-credentials}', 'emptydir:']],
    says: `${D}: spec.template.spec.volumes[2].emptydir: the field is spelled emptyDir`,
  },
  {
    rule: 'CCM-T02',
    when: 'a key is there twice',
    manifest: 'role',
    broken: [['  name: acme', '  name: other\n  name: acme']],
    says: 'line 5: key "name" already set in map',
  },
  {
    rule: 'CCM-T02',
    when: 'a value has the wrong type',
    manifest: 'deployment',
    broken: [['replicas: 2', 'replicas: two']],
    says: 'spec.replicas: expected an integer, found the text "two"',
  },
  {
    rule: 'CCM-T02',
    when: 'it is no YAML',
    manifest: 'role',
    broken: [['rules:', 'rules: ]']],
    says: 'yaml: line 9: did not find expected key',
  },
  {
    rule: 'CCM-T02',
    when: 'a file of a definition holds two documents',
    manifest: 'role',
    broken: [['rules:', '---\nrules:']],
    says: 'holds more than one YAML document',
  },
  {
    rule: 'CCM-T03',
    when: 'the operator does not apply the kind',
    manifest: 'role',
    broken: [['kind: Role', 'kind: ServiceAccount']],
    says: 'unhandled type ServiceAccount; the operator applies Deployment, DaemonSet, ConfigMap, PodDisruptionBudget, Role, ClusterRole, RoleBinding, ClusterRoleBinding, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, Service',
  },
  {
    rule: 'CCM-T04',
    when: 'a variable is a boolean',
    manifest: 'deployment',
    broken: [['value: "eu"', 'value: false']],
    says: `${D}: spec.template.spec.containers[0].env[0].value: false is not a text; quote it`,
  },
  {
    rule: 'CCM-T04',
    when: 'a variable is null',
    manifest: 'deployment',
    broken: [['value: "eu"', 'value:']],
    says: `${D}: spec.template.spec.containers[0].env[0].value: null is left out`,
  },
  {
    rule: 'CCM-T04',
    when: 'a label is a number',
    manifest: 'role',
    broken: [['metadata:', 'metadata:\n  labels: {release: 4}']],
    says: `${ROLE}: metadata.labels[release]: 4 is not a text; quote it`,
  },
  {
    rule: 'CCM-T04',
    when: 'an annotation is null',
    manifest: 'role',
    broken: [['metadata:', 'metadata:\n  annotations: {a/b:}']],
    says: `${ROLE}: metadata.annotations[a/b]: null is taken for the empty text`,
  },
  {
    rule: 'CCM-T05',
    when: 'the apiVersion is an old one',
    manifest: 'role',
    broken: [['k8s.io/v1', 'k8s.io/v1beta1']],
    says: `${ROLE}: apiVersion: rbac.authorization.k8s.io/v1beta1 is out of use; Role is sent as rbac.authorization.k8s.io/v1`,
    severity: 'warning',
  },
  {
    rule: 'CCM-B01',
    when: 'something else than a Pod is for the bootstrap machine',
    manifest: 'pod',
    broken: [['kind: Pod', 'kind: Deployment']],
    says: 'bootstrap/pod.yaml: only static pods are allowed, found Deployment',
  },
  {
    rule: 'CCM-R02',
    when: 'a role has a wildcard',
    manifest: 'role',
    broken: [['verbs: [get]', 'verbs: ["*"]']],
    says: `${ROLE}: grants a wildcard`,
    severity: 'warning',
  },
  {
    rule: 'CCM-R02',
    when: 'a role reads Secrets everywhere',
    manifest: 'role',
    broken: [
      ['kind: Role', 'kind: ClusterRole'],
      ['  namespace: kube-system\n', ''],
    ],
    says: 'ClusterRole/acme-cloud-controller-manager: grants Secrets of all namespaces',
    severity: 'warning',
  },
];

describe('lintManifests', () => {
  for (const { rule, when, manifest, broken, says, severity = 'error' } of CASES) {
    it(`operator/${rule}: finds that, and nothing else, when ${when}`, () => {
      assert.deepEqual(lintedText(manifest, acmeText(manifest, ...broken)), [`${severity} ${rule} ${says}`]);
    });
  }

  it('operator/CCM-T04: says nothing about the creationTimestamp that kubectl prints', () => {
    const text = acmeText('role', ['metadata:', 'metadata:\n  creationTimestamp: null']);
    assert.deepEqual(lintedText('role', text), []);
  });

  it('operator/CCM-R02: allows Secrets by their names', () => {
    const text = acmeText(
      'role',
      ['kind: Role', 'kind: ClusterRole'],
      ['  namespace: kube-system\n', ''],
      ['verbs:', 'resourceNames: [acme]\n  verbs:'],
    );
    assert.deepEqual(lintedText('role', text), []);
  });
});
