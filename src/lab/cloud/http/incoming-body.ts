import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import { BodyTooLarge, readBody } from '../../../kube/serving/request-body.ts';
import { isJsonObject, type JsonObject } from '../../../object/json.ts';
import { JsonProblem, parseJsonBytes } from '../../../object/json-text.ts';
import { CloudError, invalidArgument } from '../cloud-error.ts';

const MOST_BODY_BYTES = 1024 * 1024;
/** Real time: a client that needs longer is not slow but stuck (C12). */
export const SLOW_CLIENT_MS = 30_000;

/** The client is too slow, or has gone: there is nobody to answer. */
export class ClientLost extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'ClientLost';
  }
}

/** The body as an object; undefined when there is none. */
export async function jsonBody(message: IncomingMessage, real: Clock): Promise<JsonObject | undefined> {
  const bytes = await bodyBytes(message, real);
  if (bytes.length === 0) return undefined;
  const { value, duplicates } = parsed(bytes);
  const [twice] = duplicates;
  if (twice !== undefined) throw invalidArgument(twice, `${twice}: is there twice`);
  if (!isJsonObject(value)) throw new CloudError('InvalidArgument', 'the body must be a JSON object');
  return value;
}

function parsed(bytes: Uint8Array): ReturnType<typeof parseJsonBytes> {
  try {
    return parseJsonBytes(bytes);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new CloudError('InvalidArgument', `the body is not JSON: ${error.message}`);
  }
}

async function bodyBytes(message: IncomingMessage, real: Clock): Promise<Uint8Array> {
  const onTimeout = () => new ClientLost(`no whole request within ${SLOW_CLIENT_MS / 1000} s`);
  try {
    return await withDeadline({ clock: real, timeoutMs: SLOW_CLIENT_MS, onTimeout }, () =>
      readBody(message, MOST_BODY_BYTES),
    );
  } catch (error) {
    if (error instanceof BodyTooLarge)
      throw new CloudError('InvalidArgument', 'the body is larger than 1 MiB', { cause: error });
    return lost(error);
  }
}

/** Whatever a connection says when it breaks. */
const lost = (error: unknown): never => {
  throw error instanceof ClientLost ? error : new ClientLost('the client has gone');
};

/** The body as it comes; ends with an error when nothing comes for too long. */
export function bodyStream(message: IncomingMessage, real: Clock): Readable {
  return Readable.from(chunksOf(message, real), { objectMode: false });
}

async function* chunksOf(message: IncomingMessage, real: Clock): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = message.iterator({ destroyOnReturn: false });
  const onTimeout = () => new ClientLost(`nothing came for ${SLOW_CLIENT_MS / 1000} s`);
  for (;;) {
    const next = await withDeadline({ clock: real, timeoutMs: SLOW_CLIENT_MS, onTimeout }, () =>
      chunks.next(),
    ).catch(lost);
    if (next.done === true) return;
    yield next.value;
  }
}
