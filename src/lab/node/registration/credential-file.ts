import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Credential } from '../../../pki/certificate-authority.ts';
import { loadKeyPair } from '../../../pki/key-pair.ts';

/** Where a node keeps what it proves itself with, so that nobody has to approve it again after a restart. */
export interface CredentialStore {
  /** Undefined when there is none, or none that can be read. */
  load(): Promise<Credential | undefined>;
  save(credential: Credential): Promise<void>;
}

const ONLY_OWNER = { mode: 0o600 };
const KEY = /-----BEGIN PRIVATE KEY-----[^]+-----END PRIVATE KEY-----\n?/;

/** Certificate and key in one file, as a kubelet has them in `/var/lib/kubelet/pki/kubelet-client-current.pem`. */
export const credentialFile = (path: string): CredentialStore => ({
  async load() {
    const text = await readFile(path, 'utf8').catch(() => '');
    const [privateKeyPem = ''] = KEY.exec(text) ?? [];
    try {
      const keys = loadKeyPair(privateKeyPem);
      const certificatePem = text.replace(privateKeyPem, '');
      return new X509Certificate(certificatePem).checkPrivateKey(keys.privateKey)
        ? { certificatePem, keys }
        : undefined;
    } catch {
      return undefined;
    }
  },
  async save({ certificatePem, keys }) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    // Whoever reads it meanwhile finds the old one or the new one, never a half.
    await writeFile(`${path}.new`, `${certificatePem}${keys.privateKeyPem}`, ONLY_OWNER);
    await rename(`${path}.new`, path);
  },
});

/** Pure: whether a certificate is that of the node, and will be for a while. */
export function isUsable({ certificatePem }: Credential, commonName: string, now: Date): boolean {
  const { validToDate, subject } = new X509Certificate(certificatePem);
  return validToDate.getTime() > now.getTime() && subject.split('\n').includes(`CN=${commonName}`);
}
