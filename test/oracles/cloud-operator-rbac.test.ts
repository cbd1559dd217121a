import assert from 'node:assert/strict';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { Secret, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { keyOf, type ObjectKey } from '../../src/api/object.ts';
import { ClusterOperator } from '../../src/api/openshift/config-v1.ts';
import { APPLIED_KINDS } from '../../src/cloud-operator/apply/applier.ts';
import type { Installation } from '../../src/cloud-operator/index.ts';
import { MANAGED_BY } from '../../src/cloud-operator/operator/operands.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { startAudited, unusedRights } from '../support/audited-kubernetes.ts';
import { type Permission, permissionsByUser, type ServerAudit } from '../support/ccm-oracle-audit.ts';
import { withoutStreamedLists } from '../support/ccm-oracle-program.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { Operands } from '../support/operator-apply-objects.ts';
import { becomeOpenShift, describeCluster, hasCorpus, produceSecret } from '../support/operator-oracle-cluster.ts';
import { OperatorInstallation } from '../support/operator-oracle-installation.ts';
import { ACME, PLATFORMS, type PlatformStory, VERSIONS } from '../support/operator-oracle-platforms.ts';
import { OperatorStory } from '../support/operator-oracle-story.ts';

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kubectl'),
);

const EXAMPLE = join(import.meta.dirname, '../../examples/acme-cloud');

describe('the roles of the cloud operator, on a real Kubernetes', needs, () => {
  const parts = new AsyncDisposableStack();
  let audit: ServerAudit;
  let cluster: ControlPlane;
  let client: KubeClient;
  let platforms: OperatorInstallation;
  before(async () => {
    ({ audit, cluster, client } = await startAudited(parts));
    await becomeOpenShift(cluster, hasCorpus ? 'theirs' : 'ours');
    platforms = await OperatorInstallation.apply({ cluster, client });
  });
  after(() => parts.disposeAsync());

  /** From an empty cluster to an empty cluster. */
  async function live(installation: OperatorInstallation, told: PlatformStory): Promise<void> {
    const { names } = installation.installation;
    const { secrets = [] } = told;
    await describeCluster(client, { ...told, versions: VERSIONS });
    await using first = await installation.start(VERSIONS[0]);
    const story = new OperatorStory(client, names, first);
    if (secrets.length > 0) await story.says('Progressing', 'True', 'CredentialsMissing');
    for (const name of secrets) await produceSecret(client, names.managedNamespace, name);
    await story.available(VERSIONS[0]);
    assert.equal(await story.editAll(), told.objects);
    await story.available(VERSIONS[0]);
    await story.deleteAll();
    await story.available(VERSIONS[0]);
    await story.breakImages();
    assert.deepEqual(await first.stop(), [0, 0]);
    // An update of the cluster: another pod with other images.
    // The server seems to be too old to stream lists, too.
    await using own = new AsyncDisposableStack();
    const kube = await withoutStreamedLists(own, installation.kubeconfig);
    await using second = await installation.start(VERSIONS[1], { kube });
    story.programs = second;
    await story.available(VERSIONS[1]);
    assert.deepEqual(await imagesIn(names.managedNamespace), [VERSIONS[1]]);
    if (told.name === 'VSphere') await story.disturbShared();
    if (told.trustSource !== undefined) await liveOn(story, told.trustSource);
    await story.remove();
    assert.deepEqual(await second.stop(), [0, 0]);
    await client.delete(ClusterOperator, { name: names.clusterOperator });
    for (const name of secrets) await client.delete(Secret, { namespace: names.managedNamespace, name });
  }

  /** What takes minutes of the operator's time, or is the same for every platform. */
  async function liveOn(story: OperatorStory, source: ObjectKey): Promise<void> {
    for (const name of ['cloud-conf', 'ccm-trusted-ca']) await story.disturbConfig(name);
    await knock(story.programs.port);
    await story.giveUselessTrust(source, cluster.authorityPem);
    await story.loseOperator();
    await story.available(VERSIONS[1]);
    await story.crash();
  }

  /** Tags of all images of Deployments. */
  async function imagesIn(namespace: string): Promise<readonly string[]> {
    const { items } = await client.live.list(Deployment, { namespace });
    const images = items.flatMap(
      ({ spec }) => spec.template.spec?.containers.map(({ image = '' }) => image) ?? [],
    );
    return [...new Set(images.map((image) => image.replace(/^.*:/, '')))];
  }

  /** Who may read metrics is asked of the API server. */
  async function knock(port: number): Promise<void> {
    const key = { namespace: 'default', name: 'scraper' };
    await client.apply(ServiceAccount, { metadata: key });
    const { token } = await client.createToken(key);
    assert.equal(await metricsStatus(port), 401);
    assert.equal(await metricsStatus(port, 'nobody'), 401);
    assert.equal(await metricsStatus(port, token), 403);
  }

  for (const told of PLATFORMS) {
    it(`operator/R92: ${told.name}: lives through everything with them alone`, async () => {
      await live(platforms, told);
    });
  }

  /** Nothing was refused; returns what was never asked for, without what needs no request of its own to be needed. */
  async function unusedBy(
    { installation, objects, user }: OperatorInstallation,
    tell: (text: string) => void,
  ): Promise<readonly string[]> {
    const requests = await audit.requestsOf(user);
    const isSilent = (one: Permission) => isHeld(installation.held, one);
    return unusedRights({ user, requests, objects, isSilent, tell });
  }

  it('operator/R92: are all used', async (t) => {
    assert.deepEqual(await unusedBy(platforms, (text) => t.diagnostic(text)), [
      unrepeated('openshift-cloud-controller-manager-operator'),
    ]);
  });

  it('operator/R47, operator/R92, operator/D1: a partner needs fewer of them, and uses them all', async (t) => {
    const acme = await OperatorInstallation.apply({ cluster, client, provider: EXAMPLE });
    const left = leftBehind(acme.installation.names);
    for (const { kind, object } of left) await client.create(kind, object);
    await live(acme, ACME);
    for (const { kind, object } of left) assert.equal(await client.live.find(kind, keyOf(object)), undefined);
    assert.deepEqual(await unusedBy(acme, (text) => t.diagnostic(text)), [
      unrepeated('openshift-acme-cloud-cloud-controller-manager-operator'),
    ]);
    const given = permissionsByUser(acme.objects).get(acme.user) ?? [];
    const updated = given.filter(({ verb }) => verb === 'update').map(({ resource }) => resource);
    assert.deepEqual([...new Set(updated)].toSorted(), [
      'configmaps',
      'deployments',
      'leases',
      'poddisruptionbudgets',
      'services',
    ]);
  });
});

/** One of each kind that an earlier definition may have had, and that this one may still delete: none of the cluster. */
const leftBehind = ({ managedNamespace, clusterOperator }: Installation['names']) =>
  new Operands(managedNamespace).all().flatMap((object) => {
    const kind = APPLIED_KINDS.find((one) => one.kind === object.kind);
    assert.ok(kind !== undefined);
    const labels = { [MANAGED_BY]: clusterOperator };
    return kind.scope === 'Cluster'
      ? []
      : [{ kind, object: { ...object, metadata: { ...object.metadata, labels } } }];
  });

/** Events of one sort are written into the first of them; who leads is said once by each process. */
const unrepeated = (namespace: string): string => `patch events.events.k8s.io in ${namespace}`;

/** Operands grant it, and the API server refuses whoever grants what he has not. */
const isHeld = (held: Installation['held'], { verb, group, resource, namespace, name }: Permission): boolean =>
  held.some(
    (place) =>
      (place.namespace ?? '') === namespace &&
      place.rules.some(
        ({ apiGroups = [], resources = [], verbs, resourceNames = [''] }) =>
          apiGroups.includes(group) &&
          resources.includes(resource) &&
          verbs.includes(verb) &&
          resourceNames.includes(name),
      ),
  );

async function metricsStatus(port: number, token?: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const asked = request(
    { host: '127.0.0.1', port, path: '/metrics', agent: false, rejectUnauthorized: false, headers },
    (response) => void text(response).then(() => resolve(response.statusCode ?? 0), reject),
  );
  asked.on('error', reject);
  asked.end();
  return promise;
}
