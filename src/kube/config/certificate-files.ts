import type { Clock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import type { ClientCertificate } from './cluster-access.ts';
import type { CertificateSource } from './credential-parts.ts';
import { type ReadFile, unreadableText } from './file-text.ts';
import { clientCertificateProblems } from './pem.ts';
import { SharedRun } from './shared-run.ts';

/** Half of what C3 allows until old sessions are closed, so that one slow look does no harm. */
const LOOK_MS = 5000;

/** One half of a certificate: text that is fixed, or a file that others replace. */
export type PemPart = { readonly text: string } | { readonly path: string };

export interface CertificateFilesOptions {
  readonly certificate: PemPart;
  readonly key: PemPart;
  readonly readFile: ReadFile;
  readonly clock: Clock;
}

/**
 * A client certificate in files that others replace. Read before each new session, and every 5 s while anybody listens:
 * the texts are compared, because a mounted Secret changes by a link that keeps old times. Two files are never replaced at
 * once, so a pair that does not fit together is not taken and the last good one stays.
 */
export class CertificateFiles implements CertificateSource {
  readonly #options: CertificateFilesOptions;
  readonly #look = new SharedRun(() => this.#read());
  /** One per connection that is open. */
  readonly #listeners = new Set<() => void>();
  #good: ClientCertificate | undefined;
  #timer: Disposable | undefined;

  constructor(options: CertificateFilesOptions) {
    this.#options = options;
  }

  certificate(signal?: AbortSignal): Promise<ClientCertificate> {
    return this.#look.run(signal);
  }

  onChange(listener: () => void): Disposable {
    // The same function may be given twice; each has its own end.
    const entry = () => listener();
    this.#listeners.add(entry);
    this.#timer ??= this.#arm();
    return { [Symbol.dispose]: () => this.#remove(entry) };
  }

  #remove(entry: () => void): void {
    this.#listeners.delete(entry);
    if (this.#listeners.size > 0) return;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #arm(): Disposable {
    return this.#options.clock.timer(LOOK_MS, () => {
      // A look that fails changes nothing: whoever opens a session hears of it.
      void this.#look.run().catch(() => {});
      this.#timer = this.#arm();
    });
  }

  async #read(): Promise<ClientCertificate> {
    const before = this.#good;
    try {
      const [certPem, keyPem] = await Promise.all([this.#text('certificate'), this.#text('key')]);
      if (before?.certPem === certPem && before.keyPem === keyPem) return before;
      return this.#take({ certPem, keyPem });
    } catch (error) {
      if (before !== undefined) return before;
      throw error;
    }
  }

  #take(pair: ClientCertificate): ClientCertificate {
    const before = this.#good;
    const [problem] = clientCertificateProblems(pair, this.#options.clock.now());
    if (problem !== undefined) {
      const where = placeOf(this.#options[problem.part]);
      throw retryError(
        'CredentialUnreadable',
        `the client ${problem.part}${where} cannot be used: ${problem.problem}`,
      );
    }
    this.#good = pair;
    if (before !== undefined) for (const listener of this.#listeners) listener();
    return pair;
  }

  async #text(part: 'certificate' | 'key'): Promise<string> {
    const source = this.#options[part];
    if ('text' in source) return source.text;
    try {
      return await this.#options.readFile(source.path);
    } catch (error) {
      const message = `the client ${part}${placeOf(source)} cannot be read: ${unreadableText(error)}`;
      throw retryError('CredentialUnreadable', message, { cause: error });
    }
  }
}

const placeOf = (part: PemPart): string => ('path' in part ? ` of ${part.path}` : '');
