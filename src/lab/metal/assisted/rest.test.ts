import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AssistedWorld, bodyText, CLUSTER, NAMESPACE } from '../../../../test/support/assisted-world.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { HttpRequest } from '../../../oci/http-call.ts';
import { apiKey } from './api-key.ts';
import { conditionIn } from './assisted-conditions.ts';
import { assistedRest } from './rest.ts';
import { startRestServer } from './rest-server.ts';

const KEY = { namespace: NAMESPACE, name: 'm1' };
const HOST_ID = '12345678-1234-4234-8234-123456789012';

async function withInfraEnv(spec: Record<string, unknown> = {}): Promise<AssistedWorld> {
  const world = await AssistedWorld.start();
  await world.addCluster({ controlPlaneAgents: 1 });
  await world.addInfraEnv('m1', spec);
  await world.env.advance(6000);
  return world;
}

const image = async (world: AssistedWorld) => {
  const { status, reason } = conditionIn((await world.infraEnv('m1')).status?.conditions, 'ImageCreated') ?? {};
  return `${status} ${reason}`;
};

const asked = async (world: AssistedWorld, url: string, more: Partial<HttpRequest> = {}) => {
  const answer = await world.rest({ method: 'GET', url, ...more });
  return { status: answer.status, text: await bodyText(answer) };
};

describe('an InfraEnv', () => {
  it('agent/S16: waits for its cluster, then for its pull secret, then for its image', async () => {
    await using world = await AssistedWorld.start();
    await world.addInfraEnv('m1', { pullSecretRef: { name: 'later' } });
    await world.env.advance(60_000);
    assert.equal(await image(world), 'Unknown MissingClusterDeployment');
    await world.addCluster({ controlPlaneAgents: 1 });
    assert.equal(await image(world), 'False ImageCreationError');
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: 'later' },
    } as const;
    await world.env.client.create(Secret, secret);
    await world.env.advance(10_000);
    assert.equal(await image(world), 'True InfraEnvAvailable');
  });

  it('agent/S16: tells where its events, its ignition and its image are, and the key to them', async () => {
    await using world = await withInfraEnv();
    const { status, metadata } = await world.infraEnv('m1');
    const events = new URL(status?.debugInfo?.eventsURL ?? '');
    assert.equal(
      `${events.origin}${events.pathname}`,
      'http://assisted.example:8090/api/assisted-install/v2/events',
    );
    assert.equal(events.searchParams.get('infra_env_id'), metadata.uid);
    assert.equal(events.searchParams.get('api_key')?.split('.').length, 3);
    assert.match(status?.isoDownloadURL ?? '', new RegExp(`/byid/${metadata.uid}/`));
    assert.equal(status?.createdTime, '2026-01-01T00:00:05Z');
    assert.deepEqual(metadata.finalizers, ['infraenv.agent-install.openshift.io/ai-deprovision']);
  });

  it('agent/S16: has no image without an image service, but still ignition', async () => {
    await using world = await AssistedWorld.start({ hasImageService: false });
    await world.addCluster({ controlPlaneAgents: 1 });
    await world.addInfraEnv('m1');
    await world.env.advance(6000);
    const { status } = await world.infraEnv('m1');
    assert.deepEqual([status?.isoDownloadURL, status?.bootArtifacts], [undefined, undefined]);
    assert.ok(status?.debugInfo?.eventsURL);
  });

  it('agent/F: has its address late when it is to', async () => {
    await using world = await AssistedWorld.start();
    await world.addCluster({ controlPlaneAgents: 1 });
    world.faults.delayEventsUrl(KEY, true);
    await world.addInfraEnv('m1');
    await world.env.advance(600_000);
    assert.equal((await world.infraEnv('m1')).status?.debugInfo, undefined);
    world.faults.delayEventsUrl(KEY, false);
    await world.env.settle();
    assert.ok((await world.infraEnv('m1')).status?.debugInfo?.eventsURL);
  });
});

describe('the REST endpoint', () => {
  it('agent/S16: serves ignition that names the InfraEnv', async () => {
    await using world = await withInfraEnv({ sshAuthorizedKey: 'ssh-ed25519 x' });
    const { metadata } = await world.infraEnv('m1');
    const ignition = JSON.parse(await world.ignition('m1'));
    assert.equal(ignition.ignition.version, '3.1.0');
    assert.equal(ignition.systemd.units[0].name, 'agent.service');
    assert.match(ignition.systemd.units[0].contents, new RegExp(`--infra-env-id ${metadata.uid}`));
    assert.deepEqual(ignition.passwd.users, [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 x'] }]);
  });

  it('agent/S16: merges what the InfraEnv adds to it', async () => {
    const override = {
      ignition: { version: '3.1.0' },
      systemd: { units: [{ name: 'agent.service', mask: true }, { name: 'more.service' }] },
      storage: { files: [{ path: '/etc/more' }] },
    };
    await using world = await withInfraEnv({ ignitionConfigOverride: JSON.stringify(override) });
    const { systemd, storage } = JSON.parse(await world.ignition('m1'));
    assert.deepEqual(
      systemd.units.map(({ name, mask }: Record<string, unknown>) => [name, mask]),
      [
        ['agent.service', true],
        ['more.service', undefined],
      ],
    );
    assert.match(systemd.units[0].contents, /--infra-env-id/);
    assert.equal(storage.files.at(-1).path, '/etc/more');
  });

  it('agent/S16: refuses wrong keys and does not know other InfraEnvs', async () => {
    await using world = await withInfraEnv();
    const { uid = '' } = (await world.infraEnv('m1')).metadata;
    const file = (id: string, key: string) =>
      `http://x/api/assisted-install/v2/infra-envs/${id}/downloads/files?file_name=discovery.ign&api_key=${key}`;
    const right = apiKey({ infraEnvId: uid, key: KEY }, 'lab');
    const forged = apiKey({ infraEnvId: uid, key: KEY }, 'other');
    const unknown = apiKey({ infraEnvId: HOST_ID, key: KEY }, 'lab');
    const statuses = [
      file(uid, right),
      file(uid, forged),
      file(uid, ''),
      file(HOST_ID, unknown),
      file(HOST_ID, right),
    ];
    const answers = await Promise.all(statuses.map(async (url) => (await asked(world, url)).status));
    assert.deepEqual(answers, [200, 401, 401, 404, 404]);
    assert.equal((await asked(world, 'http://x/api/assisted-install/v2/clusters')).status, 404);
    assert.equal((await asked(world, file(uid, right).replace('discovery.ign', 'other'))).status, 400);
  });

  it('agent/X15: asks nobody for a key when it has no secret', async () => {
    await using world = await withInfraEnv();
    const { uid = '' } = (await world.infraEnv('m1')).metadata;
    const open = assistedRest({ client: world.env.client, address: { baseUrl: 'http://x' } });
    const url = `http://x/api/assisted-install/v2/infra-envs/${uid}/downloads/files?file_name=discovery.ign`;
    const answer = await open({ method: 'GET', url });
    assert.equal(answer.status, 200);
    assert.doesNotMatch(await bodyText(answer), /PULL_SECRET_TOKEN/);
  });

  /** One host that has registered twice. */
  async function registered(): Promise<AssistedWorld> {
    const world = await withInfraEnv();
    const { uid = '' } = (await world.infraEnv('m1')).metadata;
    const order = {
      method: 'POST',
      headers: { 'X-Secret-Key': apiKey({ infraEnvId: uid, key: KEY }, 'lab') },
      body: JSON.stringify({ host_id: HOST_ID, inventory: { hostname: 'm1' } }),
    } as const;
    const url = `http://x/api/assisted-install/v2/infra-envs/${uid}/hosts`;
    assert.equal((await asked(world, url, order)).status, 201);
    assert.equal((await asked(world, url, order)).status, 201);
    assert.equal((await asked(world, url, { ...order, body: '{}' })).status, 400);
    await world.env.settle();
    return world;
  }

  it('agent/S17: makes an Agent of a host that registers, once', async () => {
    await using world = await registered();
    const [agent, ...others] = await world.agents('m1');
    assert.ok(agent);
    assert.deepEqual([agent.metadata.name, others], [HOST_ID, []]);
    const clusterDeploymentName = { name: CLUSTER, namespace: NAMESPACE };
    assert.deepEqual(agent.spec, { approved: false, role: '', clusterDeploymentName });
    const { finalizers, ownerReferences = [] } = agent.metadata;
    assert.deepEqual(
      ownerReferences.map(({ kind, name }) => [kind, name]),
      [['InfraEnv', 'm1']],
    );
    assert.deepEqual(finalizers, ['agent.agent-install.openshift.io/ai-deprovision']);
    const { debugInfo, inventory } = agent.status ?? {};
    assert.deepEqual([debugInfo?.state, inventory?.hostname], ['discovering', 'm1']);
  });

  it('agent/S16: tells what happened to an InfraEnv', async () => {
    await using world = await registered();
    const { eventsURL = '' } = (await world.infraEnv('m1')).status?.debugInfo ?? {};
    const events = JSON.parse((await asked(world, eventsURL)).text);
    assert.deepEqual(
      events.map(({ name }: { name: string }) => name),
      ['infra_env_registered', 'host_registration_succeeded'],
    );
  });

  it('agent/F: fails, or is silent, when it is to', async () => {
    await using world = await withInfraEnv();
    const url = (await world.infraEnv('m1')).status?.debugInfo?.eventsURL ?? '';
    world.faults.failRest({ status: 500 });
    assert.equal((await asked(world, url)).status, 500);
    world.faults.failRest('timeout');
    const patience = AbortSignal.abort(new Error('enough'));
    await assert.rejects(asked(world, url, { signal: patience }), /enough/);
    world.faults.failRest(undefined);
    assert.equal((await asked(world, url)).status, 200);
  });

  it('agent/S16: is served on a socket', async () => {
    await using world = await withInfraEnv();
    await using server = await startRestServer({
      rest: world.rest,
      listen: { host: '127.0.0.1', port: 0 },
      log: SILENT_LOG,
    });
    const { isoDownloadURL = '' } = (await world.infraEnv('m1')).status ?? {};
    const url = isoDownloadURL.replace('http://assisted.example:8090', server.url);
    const answer = await fetch(url);
    assert.deepEqual([answer.status, await answer.text()], [200, await world.ignition('m1')]);
    assert.equal((await fetch(url, { method: 'DELETE' })).status, 405);
    assert.equal((await fetch(`${server.url}/nothing`)).status, 404);
  });
});
