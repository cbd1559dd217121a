import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { Lease } from 'slipway/api/coordination-v1';
import { ConfigMap, Pod } from 'slipway/api/core-v1';
import { type LabCluster, startLab } from 'slipway/testing';
import { Greeting } from '../hello-controller/greeting.ts';

const image = 'example.com/hello-controller';
const namespace = 'hello-controller';
// In a project of your own leave the flag out: here the package is made of its sources.
const program = ['node', '--conditions=slipway-source', join(import.meta.dirname, '../hello-controller/main.ts')];
const images = { [image]: { argv: program, entrypoint: program.length, user: 65_532 } };

/** What `node main.ts manifests` prints: the definition, the roles and a Deployment with two replicas. */
async function manifests(): Promise<string> {
  const args = [...program.slice(1), 'manifests', '--image', `${image}:1`];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout;
}

const greet = ({ client }: LabCluster, name: string) =>
  client.create(Greeting, {
    apiVersion: 'hello.example.com/v1',
    kind: 'Greeting',
    metadata: { namespace: 'default', name },
    spec: { who: name },
  });

async function isGreeted({ client }: LabCluster, name: string): Promise<boolean> {
  const found = await client.find(ConfigMap, { namespace: 'default', name: `${name}-greeting` });
  return found?.data?.['text'] === `Hello, ${name}!`;
}

it('greets from a pod, with the permissions it asks for, and so does its successor', async () => {
  await using lab = await startLab({ nodes: 2, images, unknownImages: 'fail' });
  const cluster = lab.cluster();
  await cluster.apply(await manifests());
  await lab.until(() => cluster.rolledOut(namespace, 'hello-controller'), { within: '2m' });

  await greet(cluster, 'ada');
  await lab.until(() => isGreeted(cluster, 'ada'), { within: '1m' });

  const { spec } = await cluster.client.get(Lease, { namespace, name: 'hello-controller' });
  const { items } = await cluster.client.list(Pod, { namespace });
  const leader = items.find(({ metadata }) => spec?.holderIdentity?.startsWith(metadata.name));
  assert.ok(leader, `none of the pods is ${spec?.holderIdentity}`);
  await cluster.client.delete(Pod, { namespace, name: leader.metadata.name });

  await greet(cluster, 'grace');
  await lab.until(() => isGreeted(cluster, 'grace'), { within: '2m' });
});
