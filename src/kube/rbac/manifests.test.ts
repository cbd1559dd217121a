import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import type { ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { type AuditDifference, AuditLog, audited, compareWithRules } from './audit.ts';
import { type Component, roleFor } from './component-roles.ts';
import { type ManifestOptions, manifests, printManifests } from './manifests.ts';
import type { Need } from './need.ts';
import { electionNeeds, eventNeeds, reviewNeeds } from './runtime-needs.ts';

const NEEDS: readonly Need[] = [
  { group: '', resource: 'pods', verbs: ['get', 'list', 'watch'] },
  { group: '', resource: 'nodes', verbs: ['get'], scope: 'Cluster' },
  { group: '', resource: 'secrets', verbs: ['list'], reason: 'finds pull secrets\nby their label' },
  ...electionNeeds({ namespace: 'system', name: 'lock' }),
  ...eventNeeds(),
  ...reviewNeeds(),
];
const COMPONENT: Component = { name: 'robot', namespace: 'system', needs: NEEDS };
const OPTIONS: ManifestOptions = {
  ...COMPONENT,
  deployment: { image: 'example.com/robot:1' },
  ports: { webhook: 9443, metrics: 8080 },
  certificateSecret: 'robot-certs',
  webhooks: [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'v' },
    },
  ],
  definitions: [
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'c' } },
  ],
  more: [{ apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata: { name: 'p' } }],
};

interface Container {
  readonly args?: readonly string[];
  readonly ports?: readonly { readonly name: string }[];
}
interface Deployed {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

const shown = (component: Component): readonly string[] =>
  roleFor(component).map(({ kind, metadata: { namespace = '-', name } }) => `${kind} ${namespace}/${name}`);

describe('manifests of a component', () => {
  it('runtime/B5: one ClusterRole, or Roles in each namespace and a ClusterRole for what has none', () => {
    assert.deepEqual(shown(COMPONENT), [
      'ServiceAccount system/robot',
      'ClusterRole -/robot',
      'ClusterRoleBinding -/robot',
      'Role system/robot',
      'RoleBinding system/robot',
    ]);
    assert.deepEqual(shown({ ...COMPONENT, namespaces: ['b', 'a', 'b'] }), [
      'ServiceAccount system/robot',
      'ClusterRole -/robot',
      'ClusterRoleBinding -/robot',
      'Role a/robot',
      'RoleBinding a/robot',
      'Role b/robot',
      'RoleBinding b/robot',
      'Role system/robot',
      'RoleBinding system/robot',
    ]);
    assert.deepEqual(shown({ ...COMPONENT, needs: [] }), ['ServiceAccount system/robot']);
  });

  it('runtime/B2: lists everything that installs a component in one order', () => {
    assert.deepEqual(
      manifests(OPTIONS).map(({ kind }) => kind),
      [
        'CustomResourceDefinition',
        'ServiceAccount',
        'Secret',
        'ClusterRole',
        'ClusterRoleBinding',
        'Role',
        'RoleBinding',
        'Service',
        'Deployment',
        'ValidatingWebhookConfiguration',
        'PrometheusRule',
      ],
    );
    const shuffled = { ...OPTIONS, needs: [...NEEDS].reverse() };
    assert.equal(printManifests(shuffled), printManifests(OPTIONS));
    const { ports: _ports, webhooks: _webhooks, certificateSecret: _secret, ...fewer } = OPTIONS;
    const kinds = manifests(fewer).map(({ kind }) => kind);
    assert.deepEqual(
      kinds.filter((kind) => ['Service', 'Secret', 'ValidatingWebhookConfiguration'].includes(kind)),
      [],
    );
  });

  it('runtime/B4: prints the reason for what a role has beyond single objects, above the role', () => {
    const text = printManifests(OPTIONS);
    assert.match(
      text,
      /---\n# secrets \(list\): finds pull secrets by their label\napiVersion: rbac\S+\nkind: ClusterRole\n/,
    );
    assert.equal(text.split('finds pull secrets').length, 2);
    const documents = parseAllDocuments(text);
    assert.deepEqual(
      documents.map((document) => document.toJS()),
      manifests(OPTIONS).map((object) => JSON.parse(JSON.stringify(object))),
    );
  });

  for (const { name, ports, want } of [
    { name: 'nowhere without a port for them', ports: {}, want: ['0', undefined] },
    { name: 'nowhere when only webhooks have a port', ports: { webhook: 9443 }, want: ['0', ['webhook']] },
    { name: 'at the port for them', ports: { metrics: 9090 }, want: [':9090', ['metrics']] },
  ]) {
    it(`runtime/B2: the Deployment serves metrics ${name}, and lists only ports that there are`, () => {
      const deployment = manifests({ ...OPTIONS, ports }).find(({ kind }) => kind === 'Deployment');
      const { spec } = JSON.parse(JSON.stringify(deployment)) as Deployed;
      const [{ args = [], ports: listed } = {}] = spec.template.spec.containers;
      const flag = args.find((arg) => arg.startsWith('--metrics-bind-address='));
      assert.deepEqual([flag?.split('=')[1], listed?.map((port) => port.name)], want);
    });
  }

  it('runtime/B2: an API server accepts what is generated', async () => {
    await using server = await startApiServer({ listen: false, clock: new VirtualClock() });
    const { definitions: _definitions, more: _more, webhooks: _webhooks, ...plain } = OPTIONS;
    for (const object of manifests(plain)) assert.equal(await create(server, object), 201, object.kind);
  });

  it('reliability/P62: a service account with the generated roles can do its needs and nothing else', async () => {
    await using server = await startApiServer({ listen: false, clock: new VirtualClock() });
    for (const object of roleFor({ ...COMPONENT, namespaces: ['default'] })) {
      assert.equal(await create(server, object), 201, object.kind);
    }
    const log = new AuditLog();
    const transport = audited(server.client('system:serviceaccount:system:robot'), log.record);
    const asked = async (request: string): Promise<number> => {
      const [method = '', target = ''] = request.split(' ');
      const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
      const isWrite = method !== 'GET' && method !== 'DELETE';
      const controller = new AbortController();
      const { status } = await transport({
        method,
        target,
        headers,
        signal: controller.signal,
        ...(isWrite && { body: '{}' }),
      });
      controller.abort();
      return status;
    };
    for (const request of ALLOWED) assert.notEqual(await asked(request), 403, request);
    const { uncovered, unused }: AuditDifference = compareWithRules(log.requests, {
      needs: NEEDS,
      namespaces: ['default'],
    });
    assert.deepEqual([uncovered, unused], [[], []]);
    for (const request of REFUSED) assert.equal(await asked(request), 403, request);
    const after = compareWithRules(log.requests, { needs: NEEDS, namespaces: ['default'] });
    assert.equal(after.uncovered.length, REFUSED.length);
  });
});

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/system/leases';
const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const ALLOWED = [
  'GET /api/v1/namespaces/default/pods/p',
  'GET /api/v1/namespaces/default/pods',
  'GET /api/v1/namespaces/default/pods?watch=1&timeoutSeconds=1',
  'GET /api/v1/nodes/n',
  'GET /api/v1/namespaces/default/secrets',
  `POST ${LEASES}`,
  `GET ${LEASES}/lock`,
  `PUT ${LEASES}/lock`,
  `POST ${EVENTS}`,
  `PATCH ${EVENTS}/e`,
  'POST /apis/authentication.k8s.io/v1/tokenreviews',
  'POST /apis/authorization.k8s.io/v1/subjectaccessreviews',
];
const REFUSED = [
  'GET /api/v1/pods',
  'GET /api/v1/namespaces/system/pods/p',
  'POST /api/v1/namespaces/default/pods',
  'DELETE /api/v1/namespaces/default/pods',
  'GET /api/v1/namespaces/default/pods/p/status',
  'GET /api/v1/nodes',
  'PATCH /api/v1/nodes/n/status',
  'GET /api/v1/secrets',
  'GET /api/v1/namespaces/default/secrets/s',
  'GET /api/v1/namespaces/default/secrets?watch=1',
  `GET ${LEASES}`,
  `GET ${LEASES}/other`,
  `PUT ${LEASES}/other`,
  `DELETE ${LEASES}/lock`,
  'GET /apis/coordination.k8s.io/v1/namespaces/default/leases/lock',
  `GET ${EVENTS}`,
  'POST /api/v1/namespaces/default/events',
  'POST /api/v1/namespaces/default/serviceaccounts/default/token',
  'POST /apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  'PATCH /apis/rbac.authorization.k8s.io/v1/clusterroles/robot',
];

const COLLECTIONS: Readonly<Record<string, string>> = {
  ServiceAccount: '/api/v1/namespaces/NS/serviceaccounts',
  Secret: '/api/v1/namespaces/NS/secrets',
  Service: '/api/v1/namespaces/NS/services',
  Deployment: '/apis/apps/v1/namespaces/NS/deployments',
  ClusterRole: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  ClusterRoleBinding: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
  RoleBinding: '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings',
};

async function create(server: ApiServer, object: ReturnType<typeof roleFor>[number]): Promise<number> {
  const admin = server.client();
  const headers = { 'content-type': 'application/json' };
  const { namespace = '' } = object.metadata;
  if (namespace !== '') {
    const body = JSON.stringify({ metadata: { name: namespace } });
    await admin({ method: 'POST', target: '/api/v1/namespaces', headers, body });
  }
  const target = (COLLECTIONS[object.kind] ?? '').replace('NS', namespace);
  const answer = await admin({ method: 'POST', target, headers, body: JSON.stringify(object) });
  return answer.status;
}
