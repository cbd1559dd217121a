import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { messageOf, userError } from '../../base/errors.ts';
import type { Environment } from '../../kube/config/surroundings.ts';

/** One per set of certificates; few components bring their own. */
const MOST_KEPT = 8;

/**
 * Whom connections trust: the authorities of Node and of the machine, those in the file that `SSL_CERT_FILE` names, and
 * what a request brings. The file is read anew each time, because it is renewed while we run.
 */
export class TrustedAuthorities {
  readonly #env: Environment;
  readonly #kept = new Map<string, SecureContext>();

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Rejects with a user error when a certificate cannot be read. */
  async context(caPem = ''): Promise<SecureContext> {
    const more = `${await this.#ofFile()}\n${caPem}`;
    const known = this.#kept.get(more);
    if (known !== undefined) return known;
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    const context = contextWith(certificatesIn(more));
    this.#kept.set(more, context);
    return context;
  }

  async #ofFile(): Promise<string> {
    const path = this.#env['SSL_CERT_FILE'] ?? '';
    if (path === '') return '';
    try {
      return await readFile(path, 'utf8');
    } catch (thrown) {
      throw userError(
        'InvalidTrustedAuthorities',
        `SSL_CERT_FILE cannot be used: ${messageOf(thrown)}; name a file with certificates in PEM, or unset it`,
        { cause: thrown },
      );
    }
  }
}

const certificatesIn = (pem: string): readonly string[] =>
  pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];

function contextWith(more: readonly string[]): SecureContext {
  const own = new Set([...getCACertificates('default'), ...getCACertificates('system')]);
  try {
    // Made only to be checked: a context takes no notice of what is no certificate.
    for (const pem of more) new X509Certificate(pem);
    return createSecureContext({ ca: [...own, ...more] });
  } catch (thrown) {
    throw userError(
      'InvalidTrustedAuthorities',
      `a certificate cannot be read: ${messageOf(thrown)}; check the CA bundle and the file of SSL_CERT_FILE`,
      { cause: thrown },
    );
  }
}
