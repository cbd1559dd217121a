import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acmeDefinition } from '../../../test/support/acme-definition.ts';
import { addCloudNode, machine, taintsOf } from '../../../test/support/cloud-nodes.ts';
import { grant, programNeeds, startProgram } from '../../../test/support/cloud-program.ts';
import { TokenReview } from '../../api/generated/authentication-v1.ts';
import { Node, Service, ServiceAccount } from '../../api/generated/core-v1.ts';
import { ClusterRoleBinding } from '../../api/generated/rbac-v1.ts';
import { VirtualClock } from '../../base/clock.ts';
import { applyObject } from '../../kube/apply/apply-object.ts';
import { ApiError } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { createRestMapper } from '../../kube/client/rest-mapper.ts';
import { roleFor } from '../../kube/rbac/component-roles.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { HeldStreams } from '../../testing/held-streams.ts';
import { TestEnv } from '../../testing/test-env.ts';
import { cloudControllerManager } from '../index.ts';
import { AccountToken } from './account-token.ts';

const ARGV = ['--use-service-account-credentials=true'];
const GROUPS = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];

/** A server that gives tokens for an hour, numbered. */
function tokens() {
  const clock = new VirtualClock();
  const calls: string[] = [];
  let count = 0;
  const client = {
    find: async () => {
      calls.push('get');
      return undefined;
    },
    create: async () => {
      calls.push('create');
      throw new ApiError({ code: 409, reason: 'AlreadyExists', message: 'it is there' });
    },
    createToken: async () => {
      calls.push('token');
      await Promise.resolve();
      return {
        token: `t${++count}`,
        expirationTimestamp: new Date(clock.now().getTime() + 3_600_000).toISOString(),
      };
    },
  } as unknown as Pick<KubeClient, 'find' | 'create' | 'createToken'>;
  const token = new AccountToken({ account: 'node-controller', client, clock });
  const ask = () => token.authorization();
  return { clock, calls, token, ask };
}

describe('AccountToken', () => {
  it('ccm/P13: makes a missing account, though another one may be faster, and asks once for all', async () => {
    const { calls, token, ask } = tokens();
    const both = [token.authorization(), ask()];
    assert.deepEqual(await Promise.all(both), ['Bearer t1', 'Bearer t1']);
    assert.deepEqual(calls, ['get', 'create', 'token']);
  });

  it('ccm/P13: renews a token when three quarters of its life are over', async () => {
    const { clock, ask } = tokens();
    assert.equal(await ask(), 'Bearer t1');
    await clock.advance(44 * 60_000);
    assert.equal(await ask(), 'Bearer t1');
    await clock.advance(2 * 60_000);
    assert.equal(await ask(), 'Bearer t2');
  });

  it('ccm/P13: gets another one when this one is refused, and not when an older one was', async () => {
    const { token, ask } = tokens();
    await ask();
    token.refresh('Bearer t0');
    assert.equal(await ask(), 'Bearer t1');
    token.refresh('Bearer t1');
    assert.equal(await ask(), 'Bearer t2');
  });
});

/** Requests with a token are sent as whom the token is for. */
function byToken(env: TestEnv, seen: Set<string>): Transport {
  const program = env.transportFor('ccm');
  return async (request) => {
    const { authorization = '' } = request.headers ?? {};
    if (authorization === '') return program(request);
    const spec = { token: authorization.replace(/^Bearer /, '') };
    const { status } = await env.client.create(TokenReview, { spec });
    const { username = '' } = status?.user ?? {};
    seen.add(username);
    return env.server.client(username, GROUPS)(request);
  };
}

/** Takes away what Kubernetes gives to the account of a controller, and grants what the controller says it needs. */
async function onlyDeclared(
  env: TestEnv,
  account: string,
  { definition, argv }: { readonly definition: ProviderDefinition; readonly argv: readonly string[] },
): Promise<void> {
  await env.client.delete(ClusterRoleBinding, { name: `system:controller:${account}` });
  const flags = [`--cloud-provider=${definition.name}`, '--secure-port=0', ...argv];
  const needs = cloudControllerManager.needs(definition, flags).accounts.get(account);
  const target = { client: env.client, mapper: createRestMapper(env.client, env.clock) };
  for (const object of roleFor({ name: account, namespace: 'kube-system', needs: needs ?? [] }))
    await applyObject(target, object);
}

describe('--use-service-account-credentials', () => {
  it('ccm/P13: each controller acts as its account in kube-system, which is made and needs no more than its built-in role', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.instances.set('n1', machine('on', 'n1'));
    const providerID = { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/.+$/ };
    const definition = acmeDefinition({ providerID, capabilities: cloud.capabilities });
    const key = 'node.cloudprovider.kubernetes.io/uninitialized';
    await addCloudNode(env, 'n1', { spec: { taints: [{ key, effect: 'NoSchedule' }] } });
    const seen = new Set<string>();
    await using program = await startProgram(env, { definition, argv: ARGV, kube: byToken(env, seen) });
    await env.settle();
    assert.deepEqual(await taintsOf(env, 'n1'), [], program.lines.join(''));
    const names = ['node-controller', 'service-controller'];
    assert.deepEqual(
      [...seen].toSorted(),
      names.map((name) => `system:serviceaccount:kube-system:${name}`),
    );
    for (const name of names) await env.client.get(ServiceAccount, { namespace: 'kube-system', name });
    assert.ok(!program.lines.some((line) => line.includes('Permissions are missing')), program.lines.join(''));
  });

  it('ccm/P14: a load balancer comes and goes although its controller may only write services/status', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    const definition = acmeDefinition({ capabilities: cloud.capabilities });
    const key = { namespace: 'default', name: 'web' };
    const spec = { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_080 }] } as const;
    await env.client.create(Service, { metadata: key, spec });
    await using program = await startProgram(env, { definition, argv: ARGV, kube: byToken(env, new Set()) });
    await env.settle();
    const { metadata, status } = await env.client.get(Service, key);
    assert.deepEqual(metadata.finalizers, ['service.kubernetes.io/load-balancer-cleanup'], program.lines.join(''));
    assert.equal(status?.loadBalancer?.ingress?.length, 1);
    await env.client.delete(Service, key);
    await env.settle();
    assert.equal(await env.client.find(Service, key), undefined);
    assert.equal(cloud.balancers.size, 0);
  });

  it('ccm/P13, reliability/P62: the account of the route controller may look for nodes itself before it removes all routes', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.routes.push({ name: 'old', targetNode: 'gone', destinationCIDR: '10.244.1.0/24' });
    const definition = acmeDefinition({ capabilities: cloud.capabilities });
    const routing = ['--controllers=route', '--configure-cloud-routes=true', '--cluster-cidr=10.244.0.0/16'];
    const argv = [...ARGV, ...routing];
    await onlyDeclared(env, 'route-controller', { definition, argv });
    await using program = await startProgram(env, { definition, argv, kube: byToken(env, new Set()) });
    await env.advance(30_000);
    assert.deepEqual(cloud.routes, [], program.lines.join(''));
  });

  it('ccm/P13, ccm/N11: the account of the node controller may read a node again that somebody else changed', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.instances.set('n1', machine('on', 'n1'));
    const providerID = { scheme: 'fake', format: '{id}', pattern: /^fake:\/\/.+$/ };
    const definition = acmeDefinition({ providerID, capabilities: cloud.capabilities });
    const argv = [...ARGV, '--controllers=cloud-node'];
    await onlyDeclared(env, 'node-controller', { definition, argv });
    const key = 'node.cloudprovider.kubernetes.io/uninitialized';
    await addCloudNode(env, 'n1', { spec: { taints: [{ key, effect: 'NoSchedule' }] } });
    const held = new HeldStreams();
    const way = held.around(byToken(env, new Set()));
    let others = 0;
    const kube: Transport = async (request) => {
      if (request.method === 'PUT' && request.target.includes('/nodes/') && ++others === 1) {
        // The cache does not hear of it.
        held.hold('nodes');
        const body = { metadata: { labels: { other: 'writer' } } };
        await env.client.patch(Node, { name: 'n1' }, { type: 'merge', body });
      }
      return await way(request);
    };
    await using program = await startProgram(env, { definition, argv, kube });
    await env.advance(1000);
    assert.deepEqual([await taintsOf(env, 'n1'), others], [[], 2], program.lines.join(''));
    held.releaseAll();
  });

  it('ccm/B10, ccm/P13: what an account may not do is told with its name', async () => {
    await using env = await TestEnv.start({ allowsForbidden: true });
    const definition = acmeDefinition();
    await grant(env, 'ccm', programNeeds({ definition, argv: ARGV }));
    // Kubernetes itself has given the accounts of controllers their roles.
    await env.client.delete(ClusterRoleBinding, { name: 'system:controller:service-controller' });
    await using program = await startProgram(env, { definition, argv: ARGV, kube: byToken(env, new Set()) });
    await env.settle();
    const missing = program.lines.filter((line) => line.includes('Permissions are missing')).join('');
    assert.match(
      missing,
      /service-lb-controller as service-controller.*patch services\/status in the whole cluster/,
    );
    assert.doesNotMatch(missing, /this program/);
  });
});
