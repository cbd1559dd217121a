import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { ClusterRole } from '../../api/generated/rbac-v1.ts';
import type { JsonObject } from '../../object/json.ts';
import { APPLIED_KINDS, applyNeeds } from './applier.ts';
import { CONTENT_RULES } from './compare.ts';

interface Row {
  readonly name: string;
  readonly kind: string;
  readonly required: JsonObject;
  readonly existing: JsonObject;
  readonly same: boolean;
}

const GROUP = 'rbac.authorization.k8s.io';
const roleRef = { apiGroup: GROUP, kind: 'Role', name: 'a' };
const served = { type: 'ClusterIP', clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], sessionAffinity: 'None' };
const port = { name: 'https', port: 443, targetPort: 443, protocol: 'TCP' };

const TABLE: readonly Row[] = [
  { name: 'no data is empty data', kind: 'ConfigMap', required: { data: {} }, existing: {}, same: true },
  { name: 'one key more', kind: 'ConfigMap', required: { data: { a: '' } }, existing: {}, same: false },
  {
    name: 'the same in text and in bytes',
    kind: 'ConfigMap',
    required: { data: { a: 'YQ==' } },
    existing: { binaryData: { a: 'YQ==' } },
    same: false,
  },
  {
    name: 'an immutability of others',
    kind: 'ConfigMap',
    required: {},
    existing: { immutable: true },
    same: true,
  },
  {
    name: 'an immutability that is wanted',
    kind: 'ConfigMap',
    required: { immutable: true },
    existing: {},
    same: false,
  },
  {
    name: 'a selector for all and one for none',
    kind: 'PodDisruptionBudget',
    required: { spec: { selector: {} } },
    existing: { spec: {} },
    same: false,
  },
  {
    name: 'rules in another order',
    kind: 'Role',
    required: { rules: [{ verbs: ['get', 'list'] }] },
    existing: { rules: [{ verbs: ['list', 'get'] }] },
    same: false,
  },
  { name: 'no rules', kind: 'Role', required: {}, existing: { rules: [] }, same: true },
  {
    name: 'rules that others make',
    kind: 'ClusterRole',
    required: { rules: [] },
    existing: { rules: [], aggregationRule: {} },
    same: false,
  },
  {
    name: 'groups that the server fills in',
    kind: 'RoleBinding',
    required: {
      roleRef: { kind: 'Role', name: 'a' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: '' },
      ],
    },
    existing: {
      roleRef,
      subjects: [
        { kind: 'User', name: 'u', apiGroup: GROUP },
        { kind: 'Group', name: 'g', apiGroup: GROUP },
        { kind: 'ServiceAccount', name: 's', namespace: 'n' },
      ],
    },
    same: true,
  },
  {
    name: 'another role',
    kind: 'ClusterRoleBinding',
    required: { roleRef },
    existing: { roleRef: { ...roleRef, name: 'b' } },
    same: false,
  },
  {
    name: 'what a server adds to a Service',
    kind: 'Service',
    required: { spec: { ports: [{ name: 'https', port: 443 }] } },
    existing: { spec: { ...served, ports: [port] } },
    same: true,
  },
  {
    name: 'a target port that Go wrote as none',
    kind: 'Service',
    required: { spec: { ports: [{ ...port, targetPort: 0 }] } },
    existing: { spec: { ...served, ports: [port] } },
    same: true,
  },
  {
    name: 'an address that is not wanted',
    kind: 'Service',
    required: { spec: { clusterIP: 'None', ports: [port] } },
    existing: { spec: { ...served, ports: [port] } },
    same: false,
  },
  {
    name: 'a field that nobody knows',
    kind: 'Service',
    required: { spec: { ports: [port] } },
    existing: { spec: { ...served, ports: [port], news: 'x' } },
    same: false,
  },
  {
    name: 'ports in another order',
    kind: 'Service',
    required: { spec: { ports: [port, { ...port, port: 80 }] } },
    existing: { spec: { ...served, ports: [{ ...port, port: 80 }, port] } },
    same: false,
  },
];

describe('CONTENT_RULES', () => {
  for (const { name, kind, required, existing, same } of TABLE) {
    it(`operator/R45: ${kind}: ${name} ${same ? 'is no difference' : 'is a difference'}`, () => {
      assert.equal(CONTENT_RULES.get(kind)?.isSame(required, existing), same);
    });
  }

  it('operator/R45: what was written is the same ever after', () => {
    for (const { kind, required, existing } of TABLE) {
      const rule = CONTENT_RULES.get(kind);
      const written = { ...existing, ...rule?.written(required, existing) };
      const stored = Object.fromEntries(Object.entries(written).filter(([, value]) => value !== undefined));
      assert.equal(rule?.isSame(required, stored as JsonObject), true, kind);
    }
  });

  it('operator/R45: a Service keeps its addresses, unless it has none any more', () => {
    const rule = CONTENT_RULES.get('Service');
    const existing = {
      spec: { ...served, ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', externalIPs: ['1.2.3.4'] },
    };
    assert.deepEqual(rule?.written({ spec: { ports: [port] } }, existing), {
      spec: {
        ports: [port],
        clusterIP: '10.0.0.1',
        clusterIPs: ['10.0.0.1'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
      },
    });
    const external = { type: 'ExternalName', externalName: 'example.com' };
    assert.deepEqual(rule?.written({ spec: external }, existing), { spec: external });
    assert.deepEqual(rule?.written({ spec: { clusterIP: 'None' } }, existing), { spec: { clusterIP: 'None' } });
  });

  it('knows every kind that is no workload', () => {
    const workloads = ['Deployment', 'DaemonSet'];
    assert.deepEqual(
      [...CONTENT_RULES.keys(), ...workloads].toSorted(),
      APPLIED_KINDS.map(({ kind }) => kind).toSorted(),
    );
  });
});

describe('applyNeeds', () => {
  it('operator/R92: asks for operands where they are, for nothing else, and to read what pods read', () => {
    const kinds = [
      { kind: Deployment, namespaces: ['one', 'two'] },
      { kind: ClusterRole, namespaces: [] },
    ];
    const all = applyNeeds(kinds, 'one');
    const spaces = (resource: string) =>
      all.filter((need) => need.resource === resource).map((need) => need.namespace);
    assert.deepEqual(spaces('deployments'), ['one', 'two']);
    assert.deepEqual(spaces('clusterroles'), [undefined]);
    for (const read of ['secrets', 'configmaps']) {
      assert.deepEqual(spaces(read), ['one']);
      assert.deepEqual(all.find(({ resource }) => resource === read)?.verbs, ['get', 'list', 'watch']);
    }
    assert.deepEqual(spaces('daemonsets'), []);
    assert.ok(all.every(({ scope, namespace }) => (scope === 'Cluster') === (namespace === undefined)));
  });
});
