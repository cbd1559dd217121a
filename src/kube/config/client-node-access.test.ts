import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { base64, clientPair, KubeconfigWorld, testAuthority } from '../../../test/support/kubeconfig-world.ts';
import { type ClientNodeCluster, type ClientNodeUser, fromClientNode } from './client-node-access.ts';

const kubeConfig = (cluster: ClientNodeCluster | null, user: ClientNodeUser | null, namespace?: string) => ({
  getCurrentContext: () => 'dev',
  getContextObject: () => ({ cluster: 'c', user: 'u', name: 'dev', namespace }),
  getCurrentCluster: () => cluster,
  getCurrentUser: () => user,
});

describe('a KubeConfig of client-node', () => {
  const options = () => {
    const world = new KubeconfigWorld();
    return { env: {}, clock: world.clock, readFile: world.readFile, world };
  };

  it('runtime/C2: becomes the same access as the file it was read from', async () => {
    const { certificatePem } = await testAuthority();
    const pair = await clientPair();
    const cluster = {
      name: 'c',
      server: 'https://h/p',
      caData: base64(certificatePem),
      skipTLSVerify: false,
      tlsServerName: 'sni',
    };
    const user = {
      name: 'u',
      certData: base64(pair.certPem),
      keyData: base64(pair.keyPem),
      impersonateUser: 'other',
    };
    const access = await fromClientNode(kubeConfig(cluster, user, 'ns'), options());
    assert.deepEqual([access.server.href, access.tlsServerName, access.namespace], ['https://h/p', 'sni', 'ns']);
    assert.deepEqual(await access.credentials.clientCertificate(), pair);
    assert.deepEqual(await access.credentials.headers(), { 'impersonate-user': 'other' });
  });

  it('keeps the token file that client-node writes down inside a pod', async () => {
    const { world, ...rest } = options();
    world.files.set('/token', 'pod-token');
    const user = { authProvider: { name: 'tokenFile', config: { tokenFile: '/token' } } };
    const { credentials } = await fromClientNode(kubeConfig({ server: 'https://h' }, user), rest);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer pod-token' });
  });

  it('says what is missing', async () => {
    await assert.rejects(
      fromClientNode(kubeConfig(null, null), options()),
      /client-node KubeConfig: .*cluster: there is no cluster/,
    );
  });
});
