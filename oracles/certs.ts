import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority, type Credential } from '../src/pki/certificate-authority.ts';
import { generateKeyPair } from '../src/pki/key-pair.ts';

/** Long enough for the longest soak test, short enough that a kept directory is worth nothing next week. */
const VALIDITY_MS = 24 * 3_600_000;
/** By this name kubelets know API servers everywhere. */
const KUBELET_CLIENT = 'kube-apiserver-kubelet-client';

/** Everything a control plane needs to trust and be trusted: one authority, separate keys for tokens. */
export interface Certificates {
  readonly authority: CertificateAuthority;
  readonly admin: Credential;
  readonly files: CertificateFiles;
}

export interface CertificateFiles {
  readonly authorityCertificate: string;
  readonly authorityKey: string;
  readonly servingCertificate: string;
  readonly servingKey: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  /** What the API server shows to kubelets. */
  readonly kubeletClientCertificate: string;
  readonly kubeletClientKey: string;
}

/** Makes the certificates of oracles/C1 and C2 and writes what programs read as files into `directory`. */
export async function createCertificates(directory: string, now: Date): Promise<Certificates> {
  const validity = { now, validityMs: VALIDITY_MS };
  const authority = await CertificateAuthority.create({ commonName: 'slipway-oracles', ...validity });
  const serving = await authority.issue({
    kind: 'serving',
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  const admin = await issueUser(authority, { name: 'admin', groups: ['system:masters'], now });
  const kubeletClient = await issueUser(authority, { name: KUBELET_CLIENT, groups: [], now });
  const serviceAccount = await generateKeyPair();
  const files = certificateFiles(directory);
  await mkdir(directory, { recursive: true });
  await Promise.all([
    writeSecret(files.authorityCertificate, authority.certificatePem),
    writeSecret(files.authorityKey, authority.keys.privateKeyPem),
    writeSecret(files.servingCertificate, serving.certificatePem),
    writeSecret(files.servingKey, serving.keys.privateKeyPem),
    writeSecret(files.serviceAccountKey, serviceAccount.privateKeyPem),
    writeSecret(files.serviceAccountPublicKey, serviceAccount.publicKeyPem),
    writeSecret(files.kubeletClientCertificate, kubeletClient.certificatePem),
    writeSecret(files.kubeletClientKey, kubeletClient.keys.privateKeyPem),
  ]);
  return { authority, admin, files };
}

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly now: Date;
}

/** A client certificate that the API server reads as this user with these groups (oracles/C3). */
export const issueUser = (authority: CertificateAuthority, { name, groups, now }: User): Promise<Credential> =>
  authority.issue({ kind: 'client', commonName: name, organizations: groups, now, validityMs: VALIDITY_MS });

/** Readable by nobody else, also where the temporary directory is shared. */
export const writeSecret = (path: string, text: string): Promise<void> => writeFile(path, text, { mode: 0o600 });

const certificateFiles = (directory: string): CertificateFiles => ({
  authorityCertificate: join(directory, 'ca.crt'),
  authorityKey: join(directory, 'ca.key'),
  servingCertificate: join(directory, 'kube-apiserver.crt'),
  servingKey: join(directory, 'kube-apiserver.key'),
  serviceAccountKey: join(directory, 'service-account.key'),
  serviceAccountPublicKey: join(directory, 'service-account.pub'),
  kubeletClientCertificate: join(directory, 'kubelet-client.crt'),
  kubeletClientKey: join(directory, 'kubelet-client.key'),
});
