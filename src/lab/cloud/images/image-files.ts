import { renameSync, rmSync } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import { CloudError } from '../cloud-error.ts';
import { type ReceivedFile, receiveFile } from '../resources/received-file.ts';

/** What an image must be to be taken. */
export interface ImageClaim {
  readonly format: 'raw' | 'qcow2';
  readonly sha256?: string | undefined;
}

export interface ImageFacts {
  readonly sizeBytes: number;
  readonly sha256: string;
}

const MOST_BYTES = 16 * 1024 ** 3;
/** Real time for a whole download. */
const DOWNLOAD_MS = 600_000;
const QCOW2_MAGIC = Buffer.from('QFI\xfb', 'latin1');

/** The data of images: `<directory>/<id>`, and what has come in but was not looked at yet. */
export class ImageFiles {
  readonly #directory: string;
  readonly #real: Clock;
  #received = 0;

  constructor(directory: string, real: Clock) {
    this.#directory = directory;
    this.#real = real;
  }

  path(id: string): string {
    return join(this.#directory, id);
  }

  /** Removes what an earlier life began to receive: nobody goes on with it. */
  sweep(): void {
    rmSync(this.#incoming, { recursive: true, force: true });
  }

  /** Takes what a client sends, beside what others send for the same image. It is gone at the end, unless it is kept. */
  async receive(stream: Readable, signal: AbortSignal): Promise<ReceivedFile & AsyncDisposable> {
    const path = join(this.#incoming, String(++this.#received));
    const received = await receiveFile(stream, { path, mostBytes: MOST_BYTES, signal });
    return { ...received, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
  }

  /** `importUpload` makes an image of it. */
  keepUpload(id: string, { path }: ReceivedFile): void {
    renameSync(path, this.#uploadPath(id));
  }

  /** Fetches an image from elsewhere. Throws when it is not what was claimed; then nothing is left of it. */
  async download(id: string, source: string, claim: ImageClaim, signal: AbortSignal): Promise<ImageFacts> {
    const onTimeout = () => new CloudError('Unavailable', `${source} did not come within ${DOWNLOAD_MS / 1000} s`);
    const path = `${this.path(id)}.download`;
    const received = await withDeadline(
      { clock: this.#real, timeoutMs: DOWNLOAD_MS, signal, onTimeout },
      (within) => fetched(source, path, within),
    );
    return await this.#accept(id, received, claim);
  }

  /** Makes an image of what a client sent. */
  async importUpload(
    id: string,
    claim: ImageClaim,
    facts: ImageFacts & { readonly head: string },
  ): Promise<ImageFacts> {
    const head = Buffer.from(facts.head, 'hex');
    return await this.#accept(id, { ...facts, head, path: this.#uploadPath(id) }, claim);
  }

  async remove(id: string): Promise<void> {
    for (const path of [this.path(id), this.#uploadPath(id), `${this.path(id)}.download`])
      await rm(path, { force: true });
  }

  async #accept(id: string, received: ReceivedFile, claim: ImageClaim): Promise<ImageFacts> {
    const { path, sizeBytes, sha256 } = received;
    const problem = problemOf(received, claim);
    if (problem !== undefined) {
      await rm(path, { force: true });
      throw new CloudError('InvalidArgument', problem);
    }
    // After a crash it may be done already.
    await rename(path, this.path(id)).catch(() => access(this.path(id)));
    return { sizeBytes, sha256 };
  }

  get #incoming(): string {
    return join(this.#directory, 'incoming');
  }

  #uploadPath(id: string): string {
    return `${this.path(id)}.upload`;
  }
}

function problemOf({ sizeBytes, sha256, head }: ReceivedFile, claim: ImageClaim): string | undefined {
  if (sizeBytes === 0) return 'the image is empty';
  if (claim.sha256 !== undefined && claim.sha256 !== sha256)
    return `the image has the checksum ${sha256}, not ${claim.sha256}`;
  const isQcow2 = head.subarray(0, QCOW2_MAGIC.length).equals(QCOW2_MAGIC);
  if (claim.format === 'qcow2' && !isQcow2) return 'the image does not begin as a qcow2 image does';
  return undefined;
}

async function fetched(source: string, path: string, signal: AbortSignal): Promise<ReceivedFile> {
  try {
    const response = await fetch(source, { signal });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new CloudError('InvalidArgument', `${source} was answered with ${response.status}`);
    }
    return await receiveFile(Readable.fromWeb(response.body), { path, mostBytes: MOST_BYTES, signal });
  } catch (error) {
    if (error instanceof CloudError) throw error;
    throw new CloudError('Unavailable', `${source} could not be fetched: ${messageOf(error)}`, { cause: error });
  }
}
