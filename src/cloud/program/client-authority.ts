import { X509Certificate } from 'node:crypto';
import type { UserInfo } from '../../api/generated/authentication-v1.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Reader } from '../../kube/client/kube-client.ts';
import type { Runnable } from '../../kube/manager/runnable.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';

/** Where a cluster publishes who signs the certificates of its users. */
const PLACE = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const KEY = 'client-ca-file';
const PURPOSE_CLIENT = '1.3.6.1.5.5.7.3.2';
const AGAIN_MS = 60_000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

export interface ClientAuthorityOptions {
  readonly client: Pick<Reader, 'find'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Knows the users of the cluster by their certificates: those that an authority of the cluster signed itself. Until the
 * authorities are read, and where they cannot be, nobody is known (P11).
 */
export class ClientAuthority implements Runnable {
  static readonly needs: readonly Need[] = [
    needs(ConfigMap, ['get'], { names: [PLACE.name], namespace: PLACE.namespace }),
  ];
  readonly name = 'client certificate authorities';
  readonly group = 'other';
  readonly #options: ClientAuthorityOptions;
  #pem = '';
  #authorities: readonly X509Certificate[] = [];
  #problem = '';

  constructor(options: ClientAuthorityOptions) {
    this.#options = options;
  }

  /** Looks again every minute: authorities are replaced. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#read(signal);
      await this.#options.clock.sleep(AGAIN_MS, signal).catch(() => undefined);
    }
  }

  /** Undefined when nobody vouches for it. */
  userOf(certificate: X509Certificate): UserInfo | undefined {
    const now = this.#options.clock.now();
    const isInTime = certificate.validFromDate <= now && now < certificate.validToDate;
    // What is called key usage there are the purposes of the certificate.
    if (!isInTime || certificate.keyUsage?.includes(PURPOSE_CLIENT) !== true) return undefined;
    const isSigned = (authority: X509Certificate) =>
      authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
    return this.#authorities.some(isSigned) ? userOf(certificate) : undefined;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { client, log } = this.#options;
    try {
      const pem = (await client.find(ConfigMap, PLACE, { signal }))?.data?.[KEY] ?? '';
      if (pem !== this.#pem)
        this.#authorities = [...pem.matchAll(CERTIFICATE)].map(([one]) => new X509Certificate(one));
      this.#pem = pem;
      this.#problem = '';
    } catch (thrown) {
      if (signal.aborted) return;
      const problem = messageOf(thrown);
      if (problem !== this.#problem) log.warn({ problem }, 'Cannot read who signs client certificates');
      this.#problem = problem;
    }
  }
}

/** Kubernetes reads the common name as the user and each organisation as a group. */
function userOf(certificate: X509Certificate): UserInfo | undefined {
  const { CN: name, O: organization = [] } = certificate.toLegacyObject().subject as {
    readonly CN?: string | string[];
    readonly O?: string | string[];
  };
  if (typeof name !== 'string' || name === '') return undefined;
  return { username: name, groups: [[organization].flat(), 'system:authenticated'].flat() };
}
