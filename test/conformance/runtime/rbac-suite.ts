import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import { ClusterRole, ClusterRoleBinding } from '../../../src/api/generated/rbac-v1.ts';
import type { KubeObject } from '../../../src/api/object.ts';
import { messageOf } from '../../../src/base/errors.ts';
import { applyObject } from '../../../src/kube/apply/apply-object.ts';
import { createRestMapper } from '../../../src/kube/client/rest-mapper.ts';
import { createManager } from '../../../src/kube/manager/create-manager.ts';
import { exitCodeOf } from '../../../src/kube/manager/exit-code.ts';
import { roleFor } from '../../../src/kube/rbac/component-roles.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import type { RunningManager } from '../../support/runtime-world.ts';
import { Hello, helloController } from './hello-program.ts';

/** Roles from code, against an authorizer (section 13). */
export const rbacSuite: RuntimeSuite = (world) => {
  before(() => world().define(Hello));

  /** What the manager of these tests asks for, in one namespace or everywhere. */
  const needsOf = async (namespaces?: readonly string[]) => {
    await using manager = createManager({
      name: 'hello',
      kube: await world().access(),
      ...(namespaces !== undefined && { namespaces }),
      leaderElection: { id: 'hello', namespace: namespaces?.[0] ?? 'default' },
    });
    manager.add(helloController());
    return manager.needs;
  };
  const grant = async (objects: readonly KubeObject[]) => {
    const mapper = createRestMapper(world().client, world().clock);
    for (const object of objects) await applyObject({ client: world().client, mapper }, object);
  };
  const account = async (name: string, namespace: string, objects: readonly KubeObject[]) => {
    await grant(objects);
    const { token } = await world().client.createToken({ namespace, name });
    return token;
  };
  const start = (
    token: string,
    namespace: string,
    namespaces: readonly string[] | undefined,
  ): Promise<RunningManager> =>
    world().manager({
      name: 'hello',
      way: { token },
      ...(namespaces !== undefined && { namespaces }),
      leaderElection: { id: 'hello', namespace },
      setup: (manager) => manager.add(helloController()),
    });
  const works = async (run: RunningManager, namespace: string) => {
    const { client } = world();
    const key = { namespace, name: 'h' };
    await Promise.race([run.manager.whenLeading(), run.ended.then((error) => Promise.reject(error))]);
    await client.create(Hello, { metadata: key, spec: { text: 'hi' } });
    await world().state(Hello, key, ({ status }) => status?.said === 'hi');
    await client.patch(Hello, key, { type: 'merge', body: { spec: { text: 'rude' } } });
    await world().state(
      Hello,
      key,
      ({ status }) => status?.conditions?.some(({ reason }) => reason === 'RudeText') === true,
    );
    await client.delete(Hello, key);
    await world().eventually(async () => (await client.find(Hello, key)) === undefined, 'it is finalized');
    assert.equal(await run.stop(), undefined);
    const complaints = run.lines.filter(({ level }) => level === 'error' || level === 'warn');
    assert.deepEqual(
      complaints.map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`),
      [],
    );
  };

  it('runtime/B1: a service account with the role that was made from the code can do all the controller does', async () => {
    const namespace = await world().namespace('rbac');
    const name = world().unique('hello');
    const needs = (await needsOf()).map((need) => (need.namespace === 'default' ? { ...need, namespace } : need));
    const token = await account(name, namespace, roleFor({ name, namespace, needs }));
    await using run = await start(token, namespace, undefined);
    await works(run, namespace);
    await world().client.delete(ClusterRole, { name });
    await world().client.delete(ClusterRoleBinding, { name });
  });

  it('runtime/B5: roles of one namespace are enough for a program of one namespace', async () => {
    const namespace = await world().namespace('rbac');
    const objects = roleFor({
      name: 'hello',
      namespace,
      needs: await needsOf([namespace]),
      namespaces: [namespace],
    });
    assert.deepEqual(
      objects.map(({ kind }) => kind),
      ['ServiceAccount', 'Role', 'RoleBinding'],
    );
    const token = await account('hello', namespace, objects);
    await using run = await start(token, namespace, [namespace]);
    await works(run, namespace);
  });

  it('runtime/B1: rights that are missing are all named at the start, and nothing is tried', async () => {
    const namespace = await world().namespace('rbac');
    const some = (await needsOf([namespace])).filter(
      ({ resource }) => resource === 'hellos' || resource === 'leases',
    );
    const few = some.map((need) => ({ ...need, verbs: ['get', 'create'] as const }));
    const objects = roleFor({ name: 'poor', namespace, needs: few, namespaces: [namespace] });
    const token = await account('poor', namespace, objects);
    await using run = await start(token, namespace, [namespace]);
    const error = await run.ended;
    assert.equal(exitCodeOf(error), 1);
    const where = `in namespace ${namespace}`;
    assert.equal(
      messageOf(error),
      [
        `this program may not: list, watch, patch hellos.hello.runtime.slipway.test ${where}`,
        ` get, list, watch, create, patch configmaps ${where}`,
        ` patch hellos.hello.runtime.slipway.test/status ${where}`,
        ` update hellos.hello.runtime.slipway.test/finalizers ${where}`,
        ` update leases.coordination.k8s.io "hello" ${where}`,
        ` create, patch events.events.k8s.io ${where}`,
        ' grant it by a Role or ClusterRole (the command `manifests` of this program prints them)',
      ].join(';'),
    );
    assert.equal(await world().client.find(ConfigMap, { namespace, name: 'h' }), undefined);
  });
};
