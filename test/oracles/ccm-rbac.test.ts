import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { Lease } from '../../src/api/generated/coordination-v1.ts';
import {
  ConfigMap,
  Namespace,
  Node,
  Pod,
  Secret,
  Service,
  ServiceAccount,
} from '../../src/api/generated/core-v1.ts';
import { ClusterRole, ClusterRoleBinding } from '../../src/api/generated/rbac-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { bootstrapPod } from '../../src/cloud/index.ts';
import { isForbidden } from '../../src/kube/client/api-error.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { FakeCloud } from '../../src/testing/fake-cloud.ts';
import { acmeDefinition } from '../support/acme-definition.ts';
import { adminClient } from '../support/admin-client.ts';
import { startAudited } from '../support/audited-kubernetes.ts';
import {
  type AuditedRequest,
  permissionsByUser,
  refusedOf,
  type ServerAudit,
  unusedOf,
} from '../support/ccm-oracle-audit.ts';
import { applyAll, OracleInstallation } from '../support/ccm-oracle-installation.ts';
import { OracleProgram, withoutStreamedLists } from '../support/ccm-oracle-program.ts';
import { eventually, OracleStory } from '../support/ccm-oracle-story.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

const PROGRAM = 'cloud-controller-manager';

const needs = needsAll(needsOracle('etcd', { min: '3.5.13' }), needsOracle('kube-apiserver'));

describe('the roles of a cloud controller manager, on a real Kubernetes', needs, () => {
  const parts = new AsyncDisposableStack();
  const cloud = new FakeCloud();
  let audit: ServerAudit;
  let cluster: ControlPlane;
  let client: KubeClient;
  before(async () => {
    ({ audit, cluster, client } = await startAudited(parts));
  });
  after(() => parts.disposeAsync());

  const { instances, loadBalancers, routes } = cloud.capabilities;
  const definition = (name: string) =>
    acmeDefinition({ name, capabilities: { instances, loadBalancers, routes }, secrets: [] });
  const isReady = (program: OracleProgram) => async () => {
    const { status } = await program.get('/readyz').catch(() => ({ status: 0 }));
    return status === 200;
  };
  const holder = async (namespace: string) => {
    const lease = await client.live.find(Lease, { namespace, name: PROGRAM });
    return lease?.spec?.holderIdentity ?? '';
  };

  /** Everything of the port: who may come in is asked of the API server. */
  async function knock(program: OracleProgram, own: AsyncDisposableStack): Promise<void> {
    const key = { namespace: 'default', name: 'scraper' };
    await client.create(ServiceAccount, { metadata: key });
    own.defer(() => client.delete(ServiceAccount, key));
    own.defer(() => client.delete(ClusterRoleBinding, { name: key.name }));
    const { token } = await client.createToken(key);
    assert.equal((await program.get('/metrics')).status, 401);
    assert.equal((await program.get('/metrics', { token: 'nobody' })).status, 401);
    assert.equal((await program.get('/metrics', { token })).status, 403);
    const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
    await applyAll(client, [
      { apiVersion: RBAC, kind: 'ClusterRole', metadata: { name: 'scraper' }, rules } as KubeObject,
      bindingOf('scraper', key),
    ]);
    await eventually(async () => (await program.get('/metrics', { token })).status === 200, 'metrics can be read');
    assert.equal((await program.get('/metrics', await certificateIn(cluster.admin))).status, 200);
    assert.equal((await program.get('/healthz')).status, 200);
  }

  it('ccm/O6, ccm/P11, reliability/P62: a whole life asks for nothing that its roles do not allow, and for all that they allow', async (t) => {
    await using own = new AsyncDisposableStack();
    const installation = await OracleInstallation.apply({ cluster, client, definition: definition('acme') });
    const { namespace, user } = installation;
    const first = own.use(await installation.start());
    await eventually(isReady(first), 'the first is ready');
    const story = new OracleStory(client, cloud, 'one');
    await story.tell();
    await knock(first, own);
    // Another one waits, for a server that cannot stream lists, and takes over.
    const kube = await withoutStreamedLists(own, installation.kubeconfig);
    const second = own.use(await installation.start({ kube }));
    await eventually(isReady(second), 'the second is ready');
    assert.match(await holder(namespace), /^acme-0/);
    assert.equal(await first.stop(), 0);
    await eventually(async () => (await holder(namespace)).startsWith('acme-1'), 'the second leads');
    await story.initialize('n3');
    assert.equal(await second.stop(), 0);

    const requests = await audit.requestsOf(user);
    const given = permissionsByUser(installation.objects).get(user) ?? [];
    t.diagnostic(`${requests.length} requests, ${given.length} permissions`);
    assert.deepEqual(refusedOf(requests), []);
    assert.deepEqual(unusedOf(given, requests), UNUSED_READS.one);
    const reader = `${namespace}-authentication-reader/kube-system`;
    assert.ok(
      requests.some(({ reason, verb }) => verb === 'get' && reason.includes(`RoleBinding "${reader}"`)),
      'who signs client certificates was read by the right that is for it',
    );
  });

  it('ccm/P13, ccm/P14: with an account for each controller, each does its work with the role that Kubernetes gives it', async (t) => {
    await using own = new AsyncDisposableStack();
    const options = { cluster, client, definition: definition('accounts'), usesAccounts: true };
    const installation = await OracleInstallation.apply(options);
    const program = own.use(await installation.start());
    await eventually(isReady(program), 'it is ready');
    await new OracleStory(client, cloud, 'two').tell();
    await knock(program, own);
    assert.equal(await program.stop(), 0);
    const kube = await withoutStreamedLists(own, installation.kubeconfig);
    const second = own.use(await installation.start({ kube }));
    await eventually(isReady(second), 'another one is ready');
    await new OracleStory(client, cloud, 'three').initialize('n1');
    assert.equal(await second.stop(), 0);
    const accounts = ['node-controller', 'service-controller'].map(
      (name) => `system:serviceaccount:kube-system:${name}`,
    );
    const users = [installation.user, ...accounts];
    const requests = await audit.requestsOf(...users);
    assert.deepEqual(refusedOf(requests), []);
    const by = Map.groupBy(requests, ({ user }) => user);
    for (const user of users) t.diagnostic(`${by.get(user)?.length ?? 0} requests of ${user}`);
    const writes = (user: string) => writesOf(by.get(user) ?? []);
    assert.deepEqual(accounts.map(writes), [
      ['create events', 'delete nodes', 'patch nodes', 'patch nodes/status', 'update nodes'],
      ['create events', 'patch events', 'patch services/status'],
    ]);
    assert.deepEqual(writes(installation.user), [
      'create events',
      'create leases',
      'create serviceaccounts',
      'create serviceaccounts/token',
      'create subjectaccessreviews',
      'create tokenreviews',
      'update leases',
    ]);
    const given = permissionsByUser(installation.objects);
    const unused = [...given].flatMap(([user, some]) => unusedOf(some, by.get(user) ?? []));
    assert.deepEqual(unused, UNUSED_READS.accounts);
  });

  it('ccm/P10: on the bootstrap machine, without an election, no Lease is asked for', async (t) => {
    await using own = new AsyncDisposableStack();
    const kubeconfig = await cluster.user('bootstrap', ['system:masters']);
    const [container] = bootstrapPod(definition('acme'), { image: IMAGE }).spec.containers;
    const flags = (container?.args ?? []).slice(2);
    const program = own.use(
      await OracleProgram.start({ flags, kubeconfig, definition: definition('acme'), hostname: 'bootstrap' }),
    );
    await eventually(isReady(program), 'it is ready');
    await new OracleStory(client, cloud, 'boot').initialize('n1');
    assert.equal(await program.stop(), 0);
    const requests = await audit.requestsOf('bootstrap');
    t.diagnostic(`${requests.length} requests`);
    assert.ok(requests.some(({ verb, resource }) => verb === 'update' && resource === 'nodes'));
    assert.deepEqual(
      requests.filter(({ resource }) => resource === 'leases' || resource.startsWith('services')),
      [],
    );
  });

  it('ccm/B10: a permission that is missing is named by the log and by the readiness probe, until it is there', async () => {
    await using own = new AsyncDisposableStack();
    const edit = (objects: readonly KubeObject[]) => objects.map((one) => withoutVerb(one, 'nodes', 'delete'));
    const options = { cluster, client, definition: definition('poor') };
    const installation = await OracleInstallation.apply({ ...options, edit });
    const program = own.use(await installation.start());
    const missing = 'delete nodes in the whole cluster';
    const named = async () => (await program.get('/readyz')).body.includes(missing);
    await eventually(() => named().catch(() => false), 'the probe names what is missing');
    assert.equal((await program.get('/readyz')).status, 500);
    assert.match(program.log, new RegExp(`Permissions are missing.*${missing}`));
    assert.equal((await program.get('/healthz')).status, 200);
    // What it may do, it does meanwhile.
    await new OracleStory(client, cloud, 'poor').initialize('n1');
    await OracleInstallation.apply(options);
    await eventually(isReady(program), 'it is ready once the role is whole');
    assert.match(program.log, /Got all permissions/);
    assert.deepEqual(refusedOf(await audit.requestsOf(installation.user)), []);
  });

  it('reliability/T8.4: with its token nobody gets any further', async () => {
    await using own = new AsyncDisposableStack();
    const { kubeconfig, namespace } = await OracleInstallation.apply({
      cluster,
      client,
      definition: definition('acme'),
    });
    const thief = await adminClient(own, kubeconfig);
    const metadata = { name: 'x', namespace };
    const attacks: Readonly<Record<string, () => Promise<unknown>>> = {
      'read secrets': () => thief.live.list(Secret),
      'read config maps': () => thief.live.list(ConfigMap, { namespace: 'kube-system' }),
      'take another account': () => thief.createToken({ namespace: 'kube-system', name: 'node-controller' }),
      'make an account': () => thief.create(ServiceAccount, { metadata }),
      'bind a role': () => thief.create(ClusterRoleBinding, bindingOf('cluster-admin', metadata)),
      'change its role': () =>
        thief.patch(ClusterRole, { name: namespace }, { type: 'merge', body: { rules: [] } }),
      'run a pod': () => thief.create(Pod, { metadata, spec: { containers: [{ name: 'x', image: 'x' }] } }),
      'make a node': () => thief.create(Node, { metadata: { name: 'x' }, spec: {} }),
      'make a service': () => thief.create(Service, { metadata, spec: { ports: [{ port: 1 }] } }),
      'change a service': () =>
        thief.patch(Service, { namespace: 'default', name: 'kubernetes' }, { type: 'merge', body: { spec: {} } }),
      'delete a namespace': () => thief.delete(Namespace, { name: 'default' }),
      'take the lease of others': () =>
        thief.delete(Lease, { namespace: 'kube-system', name: 'kube-controller-manager' }),
    };
    for (const [what, attack] of Object.entries(attacks))
      await assert.rejects(attack, (error) => isForbidden(error), what);
  });
});

const RBAC = 'rbac.authorization.k8s.io/v1';
const IMAGE = 'example.com/ccm:1';

/** Whoever watches a kind may read one of it, too: the runtime asks for both together, as do the roles of Kubernetes (§2.4). */
const UNUSED_READS = { one: ['get services'], accounts: ['get nodes', 'get services'] };

const bindingOf = (
  role: string,
  account: { readonly name: string; readonly namespace: string },
): ClusterRoleBinding => ({
  apiVersion: RBAC,
  kind: 'ClusterRoleBinding',
  metadata: { name: role },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ kind: 'ServiceAccount', ...account }],
});

/** A role without one of its verbs; anything else as it is. */
function withoutVerb(object: KubeObject, resource: string, verb: string): KubeObject {
  if (object.kind !== 'ClusterRole') return object;
  const { rules = [] } = object as ClusterRole;
  const narrowed = rules.map((rule) =>
    rule.resources?.includes(resource) === true
      ? { ...rule, verbs: rule.verbs.filter((one) => one !== verb) }
      : rule,
  );
  return { ...object, rules: narrowed } as KubeObject;
}

const READING = new Set(['get', 'list', 'watch']);

/** What was changed, without what everybody may ask about himself. */
const writesOf = (requests: readonly AuditedRequest[]): readonly string[] => {
  const writes = requests.filter(
    ({ verb, resource }) => !READING.has(verb) && !resource.startsWith('selfsubject'),
  );
  return [...new Set(writes.map(({ verb, resource }) => `${verb} ${resource}`))].toSorted();
};

/** Of the user of a kubeconfig. */
async function certificateIn(kubeconfig: string): Promise<{ readonly cert: string; readonly key: string }> {
  const { users }: { readonly users: readonly { readonly user: Readonly<Record<string, string>> }[] } = JSON.parse(
    await readFile(kubeconfig, 'utf8'),
  );
  const pem = (name: string) => Buffer.from(users[0]?.user[name] ?? '', 'base64').toString();
  return { cert: pem('client-certificate-data'), key: pem('client-key-data') };
}
