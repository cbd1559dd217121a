import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { codeOf } from './missing-file.ts';

/** Where Red Hat systems keep the authorities that they trust, for programs that take a file. */
const BUNDLE = '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem';

/** Enough to be a bundle: each node of a lab has one, and nobody outside is talked to. */
const AUTHORITIES = 8;

/** A node has what every machine of OpenShift has from its image; what is there already stays. */
export async function provideSystemTrust(root: string): Promise<void> {
  const file = join(root, BUNDLE);
  await mkdir(dirname(file), { recursive: true });
  const text = rootCertificates.slice(0, AUTHORITIES).join('\n');
  await writeFile(file, `${text}\n`, { flag: 'wx' }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
}
