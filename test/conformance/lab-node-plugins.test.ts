import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { CSINode } from '../../src/api/generated/storage-v1.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { needsOracle, oracleFile } from '../support/needs-oracle.ts';

interface Line {
  readonly what: string;
  readonly value?: never;
  readonly error?: string;
}

const DEVICE = 'go.example/device';
const SHOWS_DEVICE = {
  argv: [process.execPath, '-e', 'console.log(`FROM_GO=${process.env.FROM_GO}`); setInterval(() => {}, 1000)'],
  entrypoint: 3,
};

const linesIn = (text: string): readonly Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe(
  'plugins made with the packages of Kubernetes, beside a node of the lab',
  needsOracle('node-plugins'),
  () => {
    const parts = new AsyncDisposableStack();
    let lab: Lab | undefined;
    let root = '';
    let text = '';
    const theLab = (): Lab => {
      assert.ok(lab !== undefined);
      return lab;
    };
    const client = () => theLab().cluster().client;
    const line = (what: string): Line | undefined => linesIn(text).find((one) => one.what === what);

    before(async () => {
      lab = parts.use(await startLab({ nodes: 1, images: { 'example.com/user': SHOWS_DEVICE } }));
      root = join(lab.directory, '1', 'n', '1');
      const child = spawn(oracleFile('node-plugins'), ['serve', root], { stdio: ['ignore', 'pipe', 'inherit'] });
      child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()));
      const ended = once(child, 'exit');
      parts.defer(async () => {
        child.kill();
        await ended;
      });
    });
    after(() => parts.disposeAsync());

    it('lab/N33: a device plugin registers, one of an unknown version does not', async () => {
      await theLab().until(() => line('register v1beta1') !== undefined, { within: '20s' });
      assert.equal(line('register v1beta1')?.error, undefined);
      assert.match(line('register v0')?.error ?? '', /version/);
      const allocatable = async () => (await client().get(Node, { name: 'w-1' })).status?.allocatable?.[DEVICE];
      await theLab().until(async () => (await allocatable()) === '2', { within: '20s' });
      assert.equal((await client().get(Node, { name: 'w-1' })).status?.capacity?.[DEVICE], '3');
    });

    it('lab/N36: a CSI driver is registered and shown to the cluster', async () => {
      const shown = async () => (await client().find(CSINode, { name: 'w-1' }))?.spec.drivers[0];
      await theLab().until(async () => (await shown()) !== undefined, { within: '20s' });
      assert.deepEqual(await shown(), {
        name: 'go.csi.example',
        nodeID: 'go-node',
        topologyKeys: ['go.example/zone'],
        allocatable: { count: 7 },
      });
      const { metadata } = await client().get(Node, { name: 'w-1' });
      assert.equal(metadata.labels?.['go.example/zone'], 'z1');
      assert.deepEqual(line('notified')?.value, { plugin_registered: true });
    });

    it('lab/N33: a container gets the device that the plugin prefers, and what comes with it', async () => {
      const containers = [{ name: 'c', image: 'example.com/user', resources: { limits: { [DEVICE]: '1' } } }];
      const key = { namespace: 'default', name: 'user' };
      await client().create(Pod, { metadata: key, spec: { containers } });
      const phase = async () => (await client().get(Pod, key)).status?.phase;
      await theLab().until(async () => (await phase()) === 'Running', { within: '20s' });
      await theLab().until(async () => (await theLab().cluster().logs(key)) === 'FROM_GO=yes\n', {
        within: '20s',
      });
      const asked = ['prefer', 'allocate', 'prestart'].map((what) => line(what)?.value);
      assert.deepEqual(asked, [
        { container_requests: [{ available_deviceIDs: ['a', 'b'], allocation_size: 1 }] },
        { container_requests: [{ devices_ids: ['b'] }] },
        { devices_ids: ['b'] },
      ]);
    });

    it('lab/N35: the node tells who has which device', async () => {
      const { stdout } = await promisify(execFile)(oracleFile('node-plugins'), ['list', root]);
      const [list, allocatable, absent] = linesIn(stdout);
      assert.match(
        JSON.stringify(list?.value),
        /"name":"user".*"resource_name":"go.example\/device","device_ids":\["b"\]/,
      );
      assert.match(JSON.stringify(allocatable?.value), /"resource_name":"go.example\/device"/);
      assert.match(absent?.error ?? '', /absent/);
    });
  },
);
