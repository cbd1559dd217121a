import assert from 'node:assert/strict';
import { realpath } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { ContainerLogs } from '../logs/container-logs.ts';
import { type NodeLogs, nodeConnector } from './node-connector.ts';
import { nodeRoutes } from './node-routes.ts';

/** An API server whose nodes are in this process; one pod with two containers. */
async function connectorRig() {
  const stack = new AsyncDisposableStack();
  const nodes = new Map<string, NodeLogs>();
  const connector = nodeConnector((name) => nodes.get(name));
  const env = stack.use(await TestEnv.start({ server: { nodes: connector } }));
  const scratch = stack.use(await scratchDirectory());
  const logs = stack.use(
    new ContainerLogs({ root: await realpath(scratch.path), clock: env.clock, log: SILENT_LOG }),
  );
  const key = { namespace: 'default', name: 'web' };
  const containers = [
    { name: 'a', image: 'i' },
    { name: 'b', image: 'i' },
  ];
  await env.client.create(Pod, { metadata: key, spec: { nodeName: 'w-1', containers } });
  const setStatus = async (status: object) => {
    await env.client.patch(
      Pod,
      key,
      { type: 'merge', body: { status: { ...status } } },
      { subresource: 'status' },
    );
  };
  const pod = () => env.client.get(Pod, key);
  let known: Pod = await pod();
  const node = { name: 'w-1', startedAt: env.clock.now() };
  nodes.set('w-1', { serve: nodeRoutes({ node, pods: () => [known], logs, clock: env.clock }) });
  /** The node knows what the server has. */
  const learn = async () => {
    known = await pod();
  };
  const read = async (query: string) => {
    const target = `/api/v1/namespaces/default/pods/web/log?${query}`;
    const response = await env.server.client()({ method: 'GET', target });
    const text = Buffer.from(await response.bytes()).toString();
    return { status: response.status, text: response.status === 200 ? text : JSON.parse(text).message };
  };
  return { env, logs, nodes, pod, setStatus, learn, read, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const status = (name: string, more: object) => ({
  name,
  image: 'i',
  imageID: '',
  ready: true,
  restartCount: 0,
  ...more,
});

describe('way of the API server to its nodes', () => {
  it('lab/N40, E1: gives kubectl logs what the node has, by the same questions as over the network', async () => {
    await using rig = await connectorRig();
    const running = { state: { running: {} } };
    const restarted = { ...running, restartCount: 1, lastState: { terminated: { exitCode: 1 } } };
    await rig.setStatus({ containerStatuses: [status('a', restarted), status('b', running)] });
    await rig.learn();
    const pod = await rig.pod();
    for (const run of [0, 1]) {
      const log = await rig.logs.open({ pod, container: 'a' }, run);
      log.write('stdout', Buffer.from(`run ${run}\nsecond\n`));
      await log.tail(1, 1);
    }
    assert.deepEqual(await rig.read('container=a'), { status: 200, text: 'run 1\nsecond\n' });
    assert.deepEqual(await rig.read('container=a&previous=true&tailLines=1'), { status: 200, text: 'second\n' });
    assert.deepEqual(await rig.read('container=a&previous=true&limitBytes=5'), { status: 200, text: 'run 0' });
    assert.deepEqual(await rig.read('container=b'), { status: 200, text: '' });
  });

  it('lab/N41: refuses in the words that people know', async () => {
    await using rig = await connectorRig();
    const waiting = status('a', { state: { waiting: { reason: 'ContainerCreating' } } });
    await rig.setStatus({ containerStatuses: [waiting, status('b', { state: { running: {} } })] });
    await rig.learn();
    assert.deepEqual(await rig.read(''), {
      status: 400,
      text: 'a container name must be specified for pod web, choose one of: [a b]',
    });
    assert.deepEqual(await rig.read('container=x'), { status: 400, text: 'container x is not valid for pod web' });
    assert.deepEqual(await rig.read('container=a'), {
      status: 400,
      text: 'container "a" in pod "web" is waiting to start: ContainerCreating',
    });
    assert.deepEqual(await rig.read('container=b&previous=true'), {
      status: 400,
      text: 'previous terminated container "b" in pod "web" not found',
    });
  });

  it('lab/N41: is empty for a pod without a node', async () => {
    await using rig = await connectorRig();
    const containers = [{ name: 'c', image: 'i' }];
    await rig.env.client.create(Pod, { metadata: { name: 'later', namespace: 'default' }, spec: { containers } });
    const target = '/api/v1/namespaces/default/pods/later/log';
    const response = await rig.env.server.client()({ method: 'GET', target });
    assert.deepEqual([response.status, (await response.bytes()).length], [200, 0]);
  });

  it('lab/N41: passes on what the node refuses, when it knows more than the server', async () => {
    await using rig = await connectorRig();
    // The node has not heard of the status that the server has.
    const running = { state: { running: {} } };
    await rig.setStatus({ containerStatuses: [status('a', running), status('b', running)] });
    assert.deepEqual(await rig.read('container=a'), {
      status: 400,
      text: 'container "a" in pod "web" is waiting to start: ContainerCreating',
    });
    rig.nodes.set('w-1', { serve: async () => ({ status: 404, body: 'pod "web" does not exist' }) });
    assert.deepEqual(await rig.read('container=a'), { status: 404, text: 'pod "web" does not exist' });
    rig.nodes.delete('w-1');
    assert.deepEqual(await rig.read('container=a'), { status: 404, text: 'nodes "w-1" not found' });
  });

  it('lab/N41: follows until the container ends, and lets go when the client leaves', async () => {
    await using rig = await connectorRig();
    const running = { state: { running: {} } };
    await rig.setStatus({ containerStatuses: [status('a', running), status('b', running)] });
    await rig.learn();
    const log = await rig.logs.open({ pod: await rig.pod(), container: 'a' }, 0);
    log.write('stdout', Buffer.from('first\n'));
    const target = '/api/v1/namespaces/default/pods/web/log?container=a&follow=true';
    const follow = async () => rig.env.server.client()({ method: 'GET', target });
    const leaver = await follow();
    for await (const chunk of leaver.stream()) {
      assert.equal(Buffer.from(chunk).toString(), 'first\n');
      break;
    }
    const stayer = await follow();
    const reading = stayer.bytes();
    log.write('stdout', Buffer.from('second\n'));
    log.end();
    assert.equal(Buffer.from(await reading).toString(), 'first\nsecond\n');
  });
});
