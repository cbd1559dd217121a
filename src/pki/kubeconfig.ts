import type { Credential } from './certificate-authority.ts';

/** The one cluster, user and context of a kubeconfig, in the API's own spelling. */
export interface Kubeconfig {
  readonly apiVersion: 'v1';
  readonly kind: 'Config';
  readonly clusters: readonly {
    name: string;
    cluster: { server: string; 'certificate-authority-data': string };
  }[];
  readonly users: readonly {
    name: string;
    user: { 'client-certificate-data': string; 'client-key-data': string };
  }[];
  readonly contexts: readonly { name: string; context: { cluster: string; user: string } }[];
  readonly 'current-context': string;
}

export interface KubeconfigOptions {
  /** Address of the API server, with scheme. */
  readonly server: string;
  /** The certificates that vouch for the server. */
  readonly authorityPem: string;
  /** Name of the cluster entry; the context is called `<user>@<cluster>`. */
  readonly clusterName: string;
  readonly userName: string;
  readonly credential: Credential;
}

/** A kubeconfig with everything embedded and no file path in it, so that it can be moved and mounted. */
export function kubeconfig(options: KubeconfigOptions): Kubeconfig {
  const { server, authorityPem, clusterName, userName, credential } = options;
  const context = `${userName}@${clusterName}`;
  const user = {
    'client-certificate-data': base64(credential.certificatePem),
    'client-key-data': base64(credential.keys.privateKeyPem),
  };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: clusterName, cluster: { server, 'certificate-authority-data': base64(authorityPem) } }],
    users: [{ name: userName, user }],
    contexts: [{ name: context, context: { cluster: clusterName, user: userName } }],
    'current-context': context,
  };
}

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
