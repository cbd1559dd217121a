import type { Kind, KubeObject, ObjectKey } from '../../api/object.ts';
import { keyText } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, retryError, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isAlreadyExists, isConflict, isForbidden } from '../client/api-error.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { CertificateSource, ServingCertificate } from '../serving/certificate-source.ts';
import {
  authoritiesIn,
  type CertificateData,
  type CertificateNames,
  type CertificateState,
  issuePair,
  readState,
  writeState,
} from './certificate-state.ts';

interface SecretObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const SECRET: Kind<SecretObject> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
};

export interface SecretCertificatesOptions extends CertificateNames {
  readonly client: Pick<KubeClient, 'live' | 'create' | 'update'>;
  readonly secret: Required<ObjectKey>;
  readonly clock: Clock;
  readonly log: Log;
  /** A year unless told otherwise; a new certificate is made after two thirds of it. */
  readonly validityMs?: number;
}

/** A state with the version of the Secret that holds it: a write fails when somebody else wrote meanwhile. */
export interface HeldState {
  readonly state: CertificateState;
  readonly secret: SecretObject;
}

const YEAR_MS = 365 * 24 * 3_600_000;
const LOOK_MS = 30_000;
const TRIES = 5;

/**
 * The certificate of all replicas in one Secret (W6). Where the Secret has none that can be used, the first replica that
 * looks fills it in, and the others find that one: a write that meets another is not repeated but read.
 */
export class SecretCertificates implements CertificateSource {
  readonly #options: SecretCertificatesOptions;
  #shown: string | undefined;

  constructor(options: SecretCertificatesOptions) {
    this.#options = options;
  }

  async load(signal?: AbortSignal): Promise<ServingCertificate> {
    const { state } = await this.held(signal);
    this.#shown = state.current.certificatePem;
    return state.current;
  }

  /** Looks every 30 s. A look that fails changes nothing: the certificate that is shown lives much longer. */
  async follow(changed: (certificate: ServingCertificate) => void, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(LOOK_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.#look(changed, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.warn(
          { problem: messageOf(error) },
          'the webhook certificate could not be read; going on with the old one',
        );
      }
    }
  }

  /** The state of the Secret; made when there is none. Rejects when the API server cannot be asked. */
  async held(signal?: AbortSignal): Promise<HeldState> {
    const { client, secret: key, clock, dnsNames, ipAddresses, validityMs = YEAR_MS } = this.#options;
    for (let tries = 0; tries < TRIES; tries++) {
      const secret = await client.live.find(SECRET, key, callOptions(signal));
      const now = clock.now();
      const data = decoded(secret?.data);
      const state = readState(data, this.#options, now);
      if (secret !== undefined && state !== undefined) return { state, secret };
      const names = { dnsNames, ...(ipAddresses !== undefined && { ipAddresses }) };
      const current = await issuePair({ ...names, now, validityMs });
      const held = await this.#tryWrite(secret, { current, olderCaPem: authoritiesIn(data, now) }, signal);
      if (held !== undefined) return held;
    }
    throw retryError('CertificateContention', `Secret ${keyText(key)} changes faster than it can be written`);
  }

  /** The Secret with another state; undefined when somebody else wrote first. */
  async write(
    { secret }: HeldState,
    state: CertificateState,
    signal?: AbortSignal,
  ): Promise<HeldState | undefined> {
    return this.#tryWrite(secret, state, signal);
  }

  async #look(changed: (certificate: ServingCertificate) => void, signal: AbortSignal): Promise<void> {
    const { state } = await this.held(signal);
    if (state.current.certificatePem === this.#shown) return;
    this.#shown = state.current.certificatePem;
    changed(state.current);
    this.#options.log.info({}, 'new webhook certificate in use');
  }

  async #tryWrite(
    old: SecretObject | undefined,
    state: CertificateState,
    signal: AbortSignal | undefined,
  ): Promise<HeldState | undefined> {
    const { client, secret: key } = this.#options;
    const data = encoded(writeState(state));
    const options = callOptions(signal);
    try {
      if (old !== undefined) return { state, secret: await client.update(SECRET, { ...old, data }, options) };
      const made = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { ...key }, data };
      return { state, secret: await client.create(SECRET, made, options) };
    } catch (error) {
      if (isConflict(error) || isAlreadyExists(error)) return undefined;
      if (!isForbidden(error) || old !== undefined) throw error;
      throw userError(
        'NoCertificateSecret',
        `Secret ${keyText(key)} does not exist and may not be created: ${messageOf(error)}; apply the manifests, which hold it`,
        { cause: error },
      );
    }
  }
}

const callOptions = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

const decoded = (data: Readonly<Record<string, string>> = {}): CertificateData =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );

const encoded = (data: CertificateData): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
