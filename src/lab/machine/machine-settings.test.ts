import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseIgnition } from './ignition.ts';
import { machineSettings } from './machine-settings.ts';
import { machineUserData } from './user-data.ts';

const MACHINE = { hostname: 'w-1.a.lab.internal' };
const ACCESS = { url: 'https://10.16.1.254:6443', caPem: 'PEM\n', token: 'abc' };
const settingsOf = (text: string) => machineSettings(parseIgnition(text), MACHINE);
const withKubeconfig = (kubeconfig: string, unit = '') =>
  JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: {
      files: [
        { path: '/etc/kubernetes/kubeconfig', contents: { source: `data:,${encodeURIComponent(kubeconfig)}` } },
      ],
    },
    systemd: { units: [{ name: 'kubelet.service', contents: unit }] },
  });
const KUBECONFIG = JSON.stringify({
  clusters: [{ cluster: { server: ACCESS.url, 'certificate-authority-data': btoa(ACCESS.caPem) } }],
  users: [{ user: { token: ACCESS.token } }],
});

describe('the settings of a machine', () => {
  it('lab/N1: are those that its user data was made from', () => {
    const wish = {
      name: 'w-9',
      labels: { 'node-role.kubernetes.io/worker': '', zone: 'a' },
      taints: [
        { key: 'a', value: 'b', effect: 'NoSchedule' },
        { key: 'c', effect: 'NoExecute' },
      ],
      cloudProvider: 'external',
      providerId: 'lab://a/i-1',
    } as const;
    const { node, way } = settingsOf(machineUserData({ ...ACCESS, ...wish }));
    assert.deepEqual(node, { hostname: 'w-9', ...wish });
    assert.deepEqual(way, { mode: 'bootstrap', ...ACCESS });
  });

  it('lab/N1: take the name of the machine where nothing else is said', () => {
    const { node } = settingsOf(machineUserData(ACCESS));
    assert.deepEqual(node, { name: MACHINE.hostname, hostname: MACHINE.hostname, labels: {}, taints: [] });
  });

  it('lab/N1: follow the flags of the kubelet in its unit', () => {
    const unit = 'ExecStart=/usr/bin/kubelet \\\n  --hostname-override=w-3 \\\n  --node-ip="10.16.2.3" --v=2\n';
    const { node } = settingsOf(withKubeconfig(KUBECONFIG, unit));
    assert.deepEqual([node.name, node.hostname, node.forcedAddress], ['w-3', MACHINE.hostname, '10.16.2.3']);
  });

  const wrong: readonly (readonly [what: string, text: string, says: RegExp])[] = [
    ['no kubeconfig', '{"ignition":{"version":"3.4.0"}}', /no file \/etc\/kubernetes\/kubeconfig/],
    ['one that is no YAML', withKubeconfig('{'), /^\/etc\/kubernetes\/kubeconfig: /],
    [
      'one without a server',
      withKubeconfig('{"clusters":[{"cluster":{}}]}'),
      /kubeconfig: clusters\.0\.cluster\.server/,
    ],
    [
      'one without a token',
      withKubeconfig(KUBECONFIG.replace('token', 'tokenFile')),
      /kubeconfig: users\.0\.user\.token/,
    ],
    [
      'a taint without an effect',
      withKubeconfig(KUBECONFIG, 'ExecStart=kubelet --register-with-taints=a=b'),
      /kubelet\.service: --register-with-taints: "a=b" ends with none of NoSchedule/,
    ],
  ];
  for (const [what, text, says] of wrong) {
    it(`lab/C14: say what is wrong with ${what}`, () => assert.throws(() => settingsOf(text), { message: says }));
  }
});
