import { X509Certificate } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import { loadKeyPair } from '../../pki/key-pair.ts';
import { aborted } from '../aborted.ts';

/** What a server shows, in PEM: the certificate with its chain, and the key. */
export interface ServingCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

/** Where the certificate of a server comes from, and how it hears of a new one. */
export interface CertificateSource {
  /** The certificate to use now. Rejects with an error that names the file and what is wrong, or when the signal aborts. */
  load(signal?: AbortSignal): Promise<ServingCertificate>;
  /**
   * Calls `changed` with each certificate after the one that `load` gave, until the signal aborts; then resolves. A new
   * certificate that is broken is logged once and not told: the server goes on with the one it has.
   */
  follow(changed: (certificate: ServingCertificate) => void, signal: AbortSignal): Promise<void>;
}

/** A certificate that its holder replaces by `set`, such as one that is kept in a Secret. */
export class MemoryCertificate implements CertificateSource {
  readonly #followers = new Set<(certificate: ServingCertificate) => void>();
  #current: ServingCertificate;

  constructor(certificate: ServingCertificate) {
    this.#current = certificate;
  }

  load(): Promise<ServingCertificate> {
    return Promise.resolve(this.#current);
  }

  /** Every server that follows this source uses it for the connections from now on. Throws when the pair is broken. */
  set(certificate: ServingCertificate): void {
    checkPair(certificate, 'the new serving certificate');
    this.#current = certificate;
    for (const changed of this.#followers) changed(certificate);
  }

  async follow(changed: (certificate: ServingCertificate) => void, signal: AbortSignal): Promise<void> {
    this.#followers.add(changed);
    await aborted(signal);
    this.#followers.delete(changed);
  }
}

export interface CertificateDirectoryOptions {
  readonly directory: string;
  /** `tls.crt` unless told otherwise. */
  readonly certificateFile?: string;
  /** `tls.key` unless told otherwise. */
  readonly keyFile?: string;
  readonly clock: Clock;
  readonly log: Log;
}

const CHECK_MS = 10_000;
// A volume changes in several steps; what is read between them does not fit together.
const SETTLE_MS = 100;

/**
 * The pair of files that Kubernetes mounts from a Secret of type `kubernetes.io/tls`. New files are noticed at once where
 * the file system tells of changes, and within 10 s elsewhere; a swap of symbolic links is a change like any other.
 */
export function certificateDirectory(options: CertificateDirectoryOptions): CertificateSource {
  const { directory, certificateFile = 'tls.crt', keyFile = 'tls.key' } = options;
  const files: PairFiles = { certificate: join(directory, certificateFile), key: join(directory, keyFile) };
  let last: { readonly mark: string; readonly pair: ServingCertificate } | undefined;
  return {
    async load() {
      const mark = await markOf(files);
      const pair = await readPair(files);
      last = { mark, pair };
      return pair;
    },
    async follow(changed, signal) {
      const { clock, log } = options;
      let problem = '';
      const check = async () => {
        try {
          const mark = await markOf(files);
          if (mark === last?.mark) return;
          const pair = await readPair(files);
          const isNew = last === undefined || !isSamePair(last.pair, pair);
          last = { mark, pair };
          problem = '';
          if (!isNew || signal.aborted) return;
          changed(pair);
          log.info({ directory, notAfter: endOf(pair) }, 'Loaded new serving certificate');
        } catch (thrown) {
          // Tried again at the next look: the files may be half written.
          if (messageOf(thrown) !== problem) log.warn({ err: thrown }, 'Keeping the old serving certificate');
          problem = messageOf(thrown);
        }
      };
      await whileWatching({ directory, clock, log, signal, check });
    },
  };
}

interface PairFiles {
  readonly certificate: string;
  readonly key: string;
}

/** Changes with every replacement of a file: a swapped link leads to another inode. */
async function markOf({ certificate, key }: PairFiles): Promise<string> {
  return `${await markOfFile(certificate)} ${await markOfFile(key)}`;
}

async function markOfFile(file: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(file, { bigint: true }).catch((thrown: unknown) => {
    throw unreadable(file, thrown);
  });
  return `${ino}:${size}:${mtimeNs}`;
}

// One file after the other: when both are missing, every look names the same one, and the log says it once.
async function readPair({ certificate, key }: PairFiles): Promise<ServingCertificate> {
  const read = (file: string) =>
    readFile(file, 'utf8').catch((thrown: unknown) => {
      throw unreadable(file, thrown);
    });
  const pair = { certificatePem: await read(certificate), keyPem: await read(key) };
  checkPair(pair, `${certificate} and ${key}`);
  return pair;
}

const unreadable = (file: string, cause: unknown) =>
  userError(
    'CertificateUnreadable',
    `cannot read ${file}: ${messageOf(cause)}; the directory must hold a certificate and its key`,
    { cause },
  );

/** Throws unless the key belongs to the first certificate: TLS would fail at each handshake, far from the cause. */
function checkPair({ certificatePem, keyPem }: ServingCertificate, where: string): void {
  let fits: boolean;
  try {
    fits = new X509Certificate(certificatePem).checkPrivateKey(loadKeyPair(keyPem).privateKey);
  } catch (cause) {
    throw userError('InvalidCertificate', `${where}: not a certificate and a key in PEM: ${messageOf(cause)}`, {
      cause,
    });
  }
  if (!fits) throw userError('InvalidCertificate', `${where}: the key does not belong to the certificate`);
}

const isSamePair = (a: ServingCertificate, b: ServingCertificate): boolean =>
  a.certificatePem === b.certificatePem && a.keyPem === b.keyPem;

const endOf = ({ certificatePem }: ServingCertificate): string => new X509Certificate(certificatePem).validTo;

interface Watching {
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly check: () => Promise<void>;
}

/** Calls `check` every 10 s and shortly after each change that the file system tells of, never twice at a time. */
async function whileWatching({ directory, clock, log, signal, check }: Watching): Promise<void> {
  let wake = () => {};
  const watcher = watchDirectory(directory, log, () => wake());
  const onAbort = () => wake();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      using _timer = clock.timer(CHECK_MS, resolve);
      await promise;
      await clock.sleep(SETTLE_MS, signal).catch(() => undefined);
      if (!signal.aborted) await check();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    watcher?.close();
  }
}

/** Undefined where changes are not told (no inotify left, some network file systems): looking every 10 s is enough. */
function watchDirectory(directory: string, log: Log, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(directory, { persistent: false }, changed);
    watcher.on('error', (err) => log.debug({ err, directory }, 'Cannot watch the certificate directory'));
    return watcher;
  } catch (err) {
    log.debug({ err, directory }, 'Cannot watch the certificate directory');
    return undefined;
  }
}

export interface SelfSignedOptions {
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** A year unless told otherwise; a new one is made after two thirds of it. */
  readonly validityMs?: number;
  readonly clock: Clock;
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** A certificate of an authority that nobody knows: encrypts, and proves nothing. */
export function selfSignedCertificate(options: SelfSignedOptions): CertificateSource {
  const { dnsNames = ['localhost'], ipAddresses = ['127.0.0.1'], validityMs = YEAR_MS, clock } = options;
  const load = async () => {
    const validity = { now: clock.now(), validityMs };
    const authority = await CertificateAuthority.create({ commonName: 'slipway-self-signed', ...validity });
    const [commonName = 'localhost'] = dnsNames;
    const issued = await authority.issue({ kind: 'serving', commonName, dnsNames, ipAddresses, ...validity });
    return { certificatePem: issued.certificatePem, keyPem: issued.keys.privateKeyPem };
  };
  return {
    load,
    async follow(changed, signal) {
      while (!signal.aborted) {
        await clock.sleep((validityMs / 3) * 2, signal).catch(() => undefined);
        if (!signal.aborted) changed(await load());
      }
    },
  };
}
