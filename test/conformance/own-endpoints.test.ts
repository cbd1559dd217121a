import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApiServer } from '../../src/apiserver/start.ts';
import { kubectl } from '../support/kubectl.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { scratchDirectory } from '../support/scratch.ts';

const ADDRESS = '10.77.1.254';
const KINDS = ['service', 'endpoints', 'endpointslice'];
const PATIENCE = 100;

interface Written {
  readonly metadata: {
    readonly labels?: object;
    readonly managedFields?: readonly { readonly manager?: string; readonly operation?: string }[];
  };
  readonly [field: string]: unknown;
}

/** What a server says about its own service, without what differs from server to server. */
async function ownObjects(config: string, port: string): Promise<readonly unknown[]> {
  const read = async (kind: string): Promise<unknown> => {
    const words = ['get', kind, 'kubernetes', '-n', 'default', '-o', 'json', '--show-managed-fields'];
    for (let tries = 0; ; tries++) {
      const { code, stdout, stderr } = await kubectl(config, ...words);
      // A real server writes them a little after it is ready.
      if (code === 0) return pictureOf(JSON.parse(stdout));
      if (tries === PATIENCE) throw new Error(stderr);
      await sleep(100);
    }
  };
  const pictures = await Promise.all(KINDS.map(read));
  return JSON.parse(JSON.stringify(pictures).replaceAll(new RegExp(`\\b${port}\\b`, 'g'), '0'));
}

function pictureOf({ metadata, ...rest }: Written): unknown {
  const managers = metadata.managedFields?.map(({ manager, operation }) => `${manager} ${operation}`);
  return { ...rest, labels: metadata.labels, managers };
}

describe(
  'the service of the API server',
  needsAll(needsOracle('kube-apiserver'), needsOracle('etcd'), needsOracle('kubectl')),
  () => {
    it('lab/E4: leads to the server as that of kube-apiserver does', async () => {
      await using real = await startKubernetes({
        extraArguments: { kubeApiserver: [`--advertise-address=${ADDRESS}`, '--endpoint-reconciler-type=lease'] },
      });
      await using folder = await scratchDirectory();
      await using own = await startApiServer({ storage: 'memory', advertise: { host: ADDRESS, port: 6443 } });
      const config = join(folder.path, 'own.kubeconfig');
      await writeFile(config, JSON.stringify(await own.kubeconfig()));
      assert.deepEqual(await ownObjects(config, '6443'), await ownObjects(real.admin, new URL(real.url).port));
    });
  },
);
