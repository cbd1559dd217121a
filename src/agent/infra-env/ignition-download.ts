import type { Clock } from '../../base/clock.ts';
import { causeChain, messageOf, SlipwayError } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import type { LiveReader } from '../../kube/client/kube-client.ts';
import { withDeadline } from '../../kube/deadline.ts';
import { isJsonObject } from '../../object/json.ts';
import type { HttpAnswer, HttpCall } from '../../oci/http-call.ts';
import { shownUrl } from './ignition-url.ts';
import type { TrustedBundle } from './trusted-bundle.ts';

const TIMEOUT_MS = 30_000;
/** More than a Secret can hold anyway. */
const MOST_BYTES = 4 * 1024 * 1024;

/** Why no ignition came, for metrics. */
export const DOWNLOAD_FAILURES = ['bundle', 'transport', 'timeout', 'status', 'content'] as const;
export type DownloadFailure = (typeof DOWNLOAD_FAILURES)[number];

/** The message has no query of an address and nothing of a body. */
export class DownloadError extends SlipwayError {
  readonly failure: DownloadFailure;

  constructor(failure: DownloadFailure, message: string, cause?: unknown) {
    super('retry', 'IgnitionDownloadFailed', redactedText(message), cause === undefined ? {} : { cause });
    this.name = 'DownloadError';
    this.failure = failure;
  }
}

export interface IgnitionDownloadOptions {
  readonly http: HttpCall;
  readonly clock: Clock;
  readonly bundle: TrustedBundle;
}

interface Asked {
  readonly answer: { readonly status: number; readonly text: string };
  readonly pem: string | undefined;
}

/** Gets the discovery ignition from assisted-service, within 30 s from the question to the last byte (X16). */
export class IgnitionDownload {
  readonly #options: IgnitionDownloadOptions;

  constructor(options: IgnitionDownloadOptions) {
    this.#options = options;
  }

  /** The text as it was sent. Rejects with a DownloadError, or with the reason of the signal. */
  async fetch(url: URL, reader: LiveReader, signal: AbortSignal): Promise<string> {
    const { answer } = await this.#trusted(url, reader, signal);
    const { status, text } = answer;
    if (status !== 200)
      throw new DownloadError('status', `ignition request to ${shownUrl(url)} returned status ${status}`);
    return text;
  }

  /** Asked again at once when the authorities were changed meanwhile and may have been what was wrong (X16). */
  async #trusted(url: URL, reader: LiveReader, signal: AbortSignal): Promise<Asked> {
    const before = await this.#pem(url, reader);
    const first = await this.#attempt(url, before, signal);
    if (!isDistrust(first)) return this.#settled(first, url);
    this.#options.bundle.forget();
    const now = await this.#pem(url, reader);
    return this.#settled(now === before ? first : await this.#attempt(url, now, signal), url);
  }

  #settled(attempt: Attempt, url: URL): Asked {
    if (attempt.type === 'answered') return attempt.asked;
    const { thrown } = attempt;
    if (thrown instanceof DownloadError) throw thrown;
    throw new DownloadError('transport', `no answer from ${shownUrl(url)}: ${messageOf(thrown)}`, thrown);
  }

  /** Who asks over plain HTTP need not trust anybody. */
  async #pem(url: URL, reader: LiveReader): Promise<string | undefined> {
    if (url.protocol !== 'https:') return undefined;
    try {
      return await this.#options.bundle.read(reader, this.#options.clock.now());
    } catch (error) {
      throw new DownloadError('bundle', `failed to create HTTP client: ${messageOf(error)}`, error);
    }
  }

  async #attempt(url: URL, pem: string | undefined, signal: AbortSignal): Promise<Attempt> {
    const { http, clock } = this.#options;
    const onTimeout = () =>
      new DownloadError('timeout', `no whole answer from ${shownUrl(url)} within ${TIMEOUT_MS / 1000} s`);
    try {
      const answer = await withDeadline({ clock, timeoutMs: TIMEOUT_MS, signal, onTimeout }, async (within) => {
        const request = { method: 'GET', url: url.href, signal: within } as const;
        const { status, body } = await http({ ...request, ...(pem !== undefined && { caPem: pem }) });
        return { status, text: status === 200 ? await ignitionText(body) : await abandoned(body) };
      });
      return { type: 'answered', asked: { answer, pem } };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      return { type: 'failed', thrown };
    }
  }
}

type Attempt =
  | { readonly type: 'answered'; readonly asked: Asked }
  | { readonly type: 'failed'; readonly thrown: unknown };

const TLS_CODE = /CERT|TLS|SSL|SIGNATURE|ISSUER|EPROTO/;

/** Whether the two do not trust each other: a certificate of an unknown authority, or a key that is not accepted. */
function isDistrust(attempt: Attempt): boolean {
  if (attempt.type === 'answered') return attempt.asked.answer.status === 401;
  return causeChain(attempt.thrown).some((each) => {
    const code = each instanceof Error && 'code' in each ? each.code : undefined;
    return typeof code === 'string' && TLS_CODE.test(code);
  });
}

async function abandoned(body: HttpAnswer['body']): Promise<string> {
  await body[Symbol.asyncIterator]().return?.();
  return '';
}

async function ignitionText(body: HttpAnswer['body']): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) throw new DownloadError('content', `the ignition has more than ${MOST_BYTES} bytes`);
    chunks.push(chunk);
  }
  return checked(Buffer.concat(chunks));
}

function checked(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (isJsonObject(JSON.parse(text))) return text;
  } catch {
    // Said below, without what was sent.
  }
  throw new DownloadError('content', 'the answer is no JSON object, so it is no ignition');
}
