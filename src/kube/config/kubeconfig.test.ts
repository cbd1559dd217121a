import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  base64,
  KubeconfigWorld,
  oneContext,
  testAuthority,
  worldOf,
} from '../../../test/support/kubeconfig-world.ts';

const POD = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** A whole file with one context of the given name. */
const file = (name: string, server: string, extra: readonly string[] = []): string =>
  [
    `current-context: ${name}`,
    `contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}, namespace: ns-${name}}}]`,
    `clusters: [{name: ${name}, cluster: {server: "${server}"}}]`,
    `users: [{name: ${name}, user: {token: token-of-${name}}}]`,
    ...extra,
  ].join('\n');

async function pod(world: KubeconfigWorld): Promise<void> {
  world.files.set(`${ACCOUNT}/token`, 'pod-token\n');
  world.files.set(`${ACCOUNT}/ca.crt`, (await testAuthority()).certificatePem);
  world.files.set(`${ACCOUNT}/namespace`, 'operators');
}

describe('the resolution of a kubeconfig', () => {
  it('runtime/C1: takes the explicit object, then the flag, then KUBECONFIG, then the pod, then the home folder', async () => {
    const world = new KubeconfigWorld();
    world.files.set('/flag', file('flag', 'https://127.0.0.1:1'));
    world.files.set('/listed', file('listed', 'https://127.0.0.1:2'));
    world.files.set('/home/me/.kube/config', file('home', 'https://127.0.0.1:4'));
    await pod(world);
    const env = { ...POD, KUBECONFIG: '/listed' };
    const explicit = { url: 'https://127.0.0.1:9' };
    const servers = [
      await world.load({ env, kubeconfigFlag: '/flag', explicit }),
      await world.load({ env, kubeconfigFlag: '/flag' }),
      await world.load({ env }),
      await world.load({ env: POD }),
      await world.load({ env: {} }),
    ].map(({ server }) => server.host);
    assert.deepEqual(servers, ['127.0.0.1:9', '127.0.0.1:1', '127.0.0.1:2', '10.0.0.1', '127.0.0.1:4']);
  });

  it('runtime/C1: merges the files of KUBECONFIG, where the first that has a name decides, and skips empty parts', async () => {
    const world = new KubeconfigWorld();
    world.files.set('/a', file('x', 'https://127.0.0.1:1'));
    world.files.set('/b', file('x', 'https://127.0.0.1:2'));
    world.files.set('/c', file('z', 'https://127.0.0.1:3'));
    const env = { KUBECONFIG: '/a::/b:/c:/a' };
    const first = await world.load({ env });
    const second = await world.load({ env, contextFlag: 'z' });
    assert.deepEqual([first.server.host, first.source], ['127.0.0.1:1', 'context "x" of /a']);
    assert.deepEqual([second.server.host, second.namespace], ['127.0.0.1:3', 'ns-z']);
    assert.deepEqual(await second.credentials.headers(), { authorization: 'Bearer token-of-z' });
  });

  it('runtime/C1: reads a path relative to the file it stands in, not to the first file or the working folder', async () => {
    const world = new KubeconfigWorld();
    world.files.set('/one/config', 'current-context: dev');
    world.files.set('/two/config', oneContext(['server: https://127.0.0.1:1'], ['tokenFile: secrets/token']));
    world.files.set('/two/secrets/token', 'relative');
    const access = await world.load({ env: { KUBECONFIG: '/one/config:/two/config' } });
    assert.deepEqual(await access.credentials.headers(), { authorization: 'Bearer relative' });
  });

  it('runtime/C1: skips a missing file of KUBECONFIG and fails only when none exists', async () => {
    const world = new KubeconfigWorld();
    world.files.set('/b', file('b', 'https://127.0.0.1:2'));
    assert.equal((await world.load({ env: { KUBECONFIG: '/missing:/b' } })).server.host, '127.0.0.1:2');
    const message = await world.failure({ env: { KUBECONFIG: '/missing:/gone' } });
    assert.match(message, /KUBECONFIG names \/missing, \/gone, but no such file exists/);
  });

  it('runtime/C1: names a file of --kubeconfig that does not exist and never falls back to another', async () => {
    const world = worldOf([]);
    assert.match(
      await world.failure({ kubeconfigFlag: '/nope' }),
      /--kubeconfig names \/nope, but there is no such file/,
    );
  });

  it('runtime/C1: uses the service account of a pod with an IPv6 address in brackets, its CA and its namespace', async () => {
    const world = new KubeconfigWorld();
    await pod(world);
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    const access = await world.load({ env });
    assert.equal(access.server.href, 'https://[fd00::1]:6443/');
    assert.equal(access.namespace, 'operators');
    assert.equal(await access.ca?.(), (await testAuthority()).certificatePem);
    assert.deepEqual(await access.credentials.headers(), { authorization: 'Bearer pod-token' });
  });

  it('runtime/C3: reads the token of a pod again after 60 s and after a 401', async () => {
    const world = new KubeconfigWorld();
    await pod(world);
    const { credentials } = await world.load({ env: POD });
    const first = await credentials.headers();
    world.files.set(`${ACCOUNT}/token`, 'second');
    await world.clock.advance(60_000);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer second' });
    world.files.set(`${ACCOUNT}/token`, 'third');
    credentials.refresh(first);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer second' });
    credentials.refresh(await credentials.headers());
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer third' });
  });

  it('takes the home folder in a pod that mounts no token, and explains the token when there is no file either', async () => {
    const world = new KubeconfigWorld();
    assert.match(
      await world.failure({ env: POD }),
      /no token in .*automountServiceAccountToken must not be false/,
    );
    world.files.set('/home/me/.kube/config', file('home', 'https://127.0.0.1:4'));
    assert.equal((await world.load({ env: POD })).server.host, '127.0.0.1:4');
  });

  it('lists everything that is wrong with the service account of a pod', async () => {
    const world = new KubeconfigWorld();
    world.files.set(`${ACCOUNT}/token`, ' ');
    const message = await world.failure({ env: { ...POD, KUBERNETES_SERVICE_PORT: 'x y' } });
    assert.match(message, /has 3 problems/);
    assert.match(message, /token: cannot be used: it is empty/);
    assert.match(message, /KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: found "https:\/\/10.0.0.1:x y"/);
    assert.match(message, /ca\.crt: cannot be read: there is no such file.*kube-root-ca\.crt/);
  });

  it('says everything that was looked for when there is nothing', async () => {
    const message = await new KubeconfigWorld().failure({ env: {} });
    assert.match(message, /KUBECONFIG is not set, this is no pod, and \/home\/me\/\.kube\/config does not exist/);
  });

  it('looks for a file when a context is named inside a pod', async () => {
    const world = new KubeconfigWorld();
    await pod(world);
    world.files.set('/home/me/.kube/config', file('home', 'https://127.0.0.1:4'));
    assert.equal((await world.load({ env: POD, contextFlag: 'home' })).server.host, '127.0.0.1:4');
  });
});

describe('a cluster of a kubeconfig', () => {
  it('runtime/C2: gives server, tls-server-name, proxy-url and disable-compression', async () => {
    const world = worldOf(
      [],
      [
        'server: https://10.1.2.3:6443/',
        'tls-server-name: api.internal',
        'proxy-url: socks5://u:p@127.0.0.1:1080',
        'disable-compression: true',
      ],
    );
    const access = await world.load();
    assert.equal(access.server.href, 'https://10.1.2.3:6443/');
    assert.equal(access.tlsServerName, 'api.internal');
    assert.equal(access.proxyUrl?.href, 'socks5://u:p@127.0.0.1:1080');
    assert.deepEqual(
      [access.disableCompression, access.insecureSkipTlsVerify, access.ca],
      [true, false, undefined],
    );
  });

  it('runtime/C2: keeps the path prefix of a server and only drops the slash at its end', async () => {
    const world = worldOf([], ['server: https://rancher.example/k8s/clusters/c-1/']);
    assert.equal((await world.load()).server.pathname, '/k8s/clusters/c-1');
  });

  it('runtime/C2: trusts every certificate of a bundle in certificate-authority-data', async () => {
    const { certificatePem } = await testAuthority();
    const bundle = `# old\n${certificatePem}\n# new\n${certificatePem}`;
    const world = worldOf([], ['server: https://h', `certificate-authority-data: ${base64(bundle)}`]);
    assert.equal(await (await world.load()).ca?.(), bundle);
  });

  it('reads a certificate-authority file again when the last look is older than 60 s, and keeps a good one', async () => {
    const { certificatePem } = await testAuthority();
    const world = worldOf([], ['server: https://h', 'certificate-authority: ca.pem']);
    world.files.set('/cfg/ca.pem', certificatePem);
    const { ca } = await world.load();
    assert.equal(await ca?.(), certificatePem);
    world.files.set('/cfg/ca.pem', `${certificatePem}\n${certificatePem}`);
    assert.equal(await ca?.(), certificatePem);
    await world.clock.advance(61_000);
    assert.equal(await ca?.(), `${certificatePem}\n${certificatePem}`);
    world.files.set('/cfg/ca.pem', 'half a file');
    await world.clock.advance(61_000);
    assert.equal(await ca?.(), `${certificatePem}\n${certificatePem}`);
  });

  it('accepts any certificate of the server when told so', async () => {
    const world = worldOf([], ['server: https://h', 'insecure-skip-tls-verify: true']);
    assert.equal((await world.load()).insecureSkipTlsVerify, true);
  });

  it('follows aliases and merge keys, and reads JSON', async () => {
    const world = new KubeconfigWorld();
    world.files.set('/cfg/config', oneContext(['<<: &base {server: "https://h:1"}', 'tls-server-name: sni'], []));
    assert.equal((await world.load()).server.host, 'h:1');
    const content = {
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
      clusters: [{ name: 'x', cluster: { server: 'https://h:2' } }],
      users: [{ name: 'x' }],
    };
    world.files.set('/cfg/config', JSON.stringify(content));
    assert.equal((await world.load()).server.host, 'h:2');
  });

  it('takes the proxy of the environment where the kubeconfig names none', async () => {
    const env = { KUBECONFIG: '/cfg/config', HTTPS_PROXY: 'http://127.0.0.1:3128' };
    const direct = worldOf([], ['server: https://h', 'proxy-url: https://127.0.0.1:1']);
    assert.equal((await direct.load({ env })).proxyUrl?.port, '1');
    assert.equal((await worldOf([], ['server: https://h']).load({ env })).proxyUrl?.port, '3128');
  });
});
