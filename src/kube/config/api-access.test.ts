import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { apiAccess, environmentIn } from './api-access.ts';

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u } }]
clusters: [{ name: k, cluster: { server: 'https://api.example:6443' } }]
users: [{ name: u, user: { token: t } }]
`;

describe('apiAccess', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ccm-access-'));
    await writeFile(join(folder, 'config'), KUBECONFIG);
    await writeFile(join(folder, 'host.env'), 'KUBERNETES_SERVICE_HOST="api-int.example"\nPATH=/nowhere\n');
  });
  after(() => rm(folder, { recursive: true }));

  const around = (env: Record<string, string> = {}) => ({
    env,
    homeDir: folder,
    clock: new VirtualClock(),
    stderr: () => {},
  });
  const nowhere = { kubeconfig: '', master: '', environmentFile: '' };

  it('takes the kubeconfig of the flag or of the environment, at the address of --master', async () => {
    const kubeconfig = join(folder, 'config');
    const said = await apiAccess({ ...nowhere, kubeconfig }, around());
    assert.equal(said.server.href, 'https://api.example:6443/');
    const other = await apiAccess({ ...nowhere, master: 'https://other:1' }, around({ KUBECONFIG: kubeconfig }));
    assert.equal(other.server.host, 'other:1');
    assert.deepEqual(await other.credentials.headers(), { authorization: 'Bearer t' });
  });

  it('asks an address without a kubeconfig as nobody', async () => {
    const access = await apiAccess({ ...nowhere, master: 'http://127.0.0.1:8080' }, around());
    assert.deepEqual([access.server.host, await access.credentials.headers()], ['127.0.0.1:8080', {}]);
  });

  it('ccm/O9: the file of the host says where the API server is, also to a pod', async () => {
    const env = { KUBERNETES_SERVICE_HOST: '172.30.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const environmentFile = join(folder, 'host.env');
    // There is no pod here: what is asked for is the token of one at the address that was found.
    const asked = apiAccess({ ...nowhere, environmentFile }, around({ KUBERNETES_SERVICE_PORT: '6443' }));
    await assert.rejects(asked, /KUBERNETES_SERVICE_HOST is set/);
    await assert.rejects(apiAccess(nowhere, around({ KUBERNETES_SERVICE_PORT: '6443' })), /this is no pod/);
    const missing = apiAccess({ ...nowhere, environmentFile: join(folder, 'none') }, around(env));
    await assert.rejects(missing, /KUBERNETES_SERVICE_HOST is set/, 'a file that is not there changes nothing');
    const broken = apiAccess({ ...nowhere, environmentFile: folder }, around(env));
    await assert.rejects(broken, { disposition: 'user', message: /^--apiserver-env-file: / });
  });

  it('ccm/O9: reads lines with and without quotes, and skips the rest', () => {
    const text = `# comment\nexport A=1\nB="two words"\nC='x=y'\n D = 4 \nnonsense\nE=\nF="open\n`;
    assert.deepEqual(Object.fromEntries(environmentIn(text)), {
      A: '1',
      B: 'two words',
      C: 'x=y',
      D: '4',
      E: '',
      F: '"open',
    });
  });
});
