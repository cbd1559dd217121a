import type { Taint } from '../../api/generated/core-v1-types.ts';
import { printYaml } from '../../object/yaml.ts';

/** What a machine needs to become a node of a cluster. */
export interface UserDataOptions {
  /** Of the API server. */
  readonly url: string;
  readonly caPem: string;
  /** Of somebody who may ask for certificates of nodes. */
  readonly token: string;
  /** The hostname of the machine unless given. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly cloudProvider?: 'external';
  readonly providerId?: string;
}

/** Pure: an Ignition config (specification 3) with the files and the unit that installers of OpenShift give a machine. */
export function machineUserData(options: UserDataOptions): string {
  const { name, ...rest } = options;
  const files = [
    { path: '/etc/kubernetes/kubeconfig', mode: 0o600, contents: { source: dataUrl(kubeconfigText(rest)) } },
    ...(name === undefined ? [] : [{ path: '/etc/hostname', mode: 0o644, contents: { source: dataUrl(name) } }]),
  ];
  const contents = `[Service]\nExecStart=/usr/bin/kubelet ${kubeletArguments(rest).join(' ')}\n`;
  return JSON.stringify({
    ignition: { version: '3.2.0' },
    storage: { files },
    systemd: { units: [{ name: 'kubelet.service', enabled: true, contents }] },
  });
}

const dataUrl = (text: string): string => `data:;base64,${Buffer.from(text).toString('base64')}`;

const kubeconfigText = ({ url, caPem, token }: UserDataOptions): string =>
  printYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'local',
        cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') },
      },
    ],
    users: [{ name: 'bootstrap', user: { token } }],
    contexts: [{ name: 'bootstrap', context: { cluster: 'local', user: 'bootstrap' } }],
    'current-context': 'bootstrap',
  });

function kubeletArguments({ labels = {}, taints = [], cloudProvider, providerId }: UserDataOptions) {
  const flags = {
    'node-labels': Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .join(','),
    'register-with-taints': taints.map(({ key, value = '', effect }) => `${key}=${value}:${effect}`).join(','),
    'cloud-provider': cloudProvider ?? '',
    'provider-id': providerId ?? '',
  };
  return Object.entries(flags).flatMap(([flag, value]) => (value === '' ? [] : [`--${flag}=${value}`]));
}
