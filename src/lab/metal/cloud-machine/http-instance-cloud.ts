import { z } from 'zod';
import { retryError, userError } from '../../../base/errors.ts';
import type { CloudInstance, InstanceCloud, InstanceWish } from './instance-cloud.ts';

export interface HttpInstanceCloudOptions {
  /** Of the cloud: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Good for one request at least. */
  readonly token: () => string | Promise<string>;
  /** For machines that do not say where they are to be. */
  readonly zone: string;
  readonly type?: string;
  /** Added to what identifies the instances: other programs find theirs by tags. */
  readonly tags?: Readonly<Record<string, string>>;
}

const instanceSchema = z.object({
  id: z.string().min(1),
  state: z.string(),
  zone: z.string(),
  providerID: z.string().min(1),
  hostname: z.string().min(1),
  privateAddress: z.string().min(1),
  publicAddress: z.string().min(1),
  mac: z.string().min(1),
});
const listSchema = z.object({ items: z.array(instanceSchema) });
const refusalSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

type Instance = z.output<typeof instanceSchema>;

const KEY_TAG = 'slipway.dev/lab-machine';
const USUAL_TYPE = 'lab.xlarge';
const LEAVING = new Set(['shutting-down', 'terminated']);

/** Instances of the lab's cloud over its HTTP API (lab/C13), found by a tag: a name may be used again. */
export class HttpInstanceCloud implements InstanceCloud {
  readonly #options: HttpInstanceCloudOptions;

  constructor(options: HttpInstanceCloudOptions) {
    this.#options = options;
  }

  async ensure(key: string, wish: InstanceWish, signal: AbortSignal): Promise<CloudInstance> {
    const all = await this.#all(key, signal);
    const found = all.find(isToStay);
    if (found !== undefined) return shown(found);
    const { name, userData, zone = this.#options.zone, imageId } = wish;
    const { type = this.#options.type ?? USUAL_TYPE } = wish;
    const body = {
      name,
      type,
      zone,
      ...(imageId !== undefined && { imageId }),
      userData: Buffer.from(userData).toString('base64'),
      tags: { ...this.#options.tags, [KEY_TAG]: key },
    };
    // The one that was there before is not meant: with the key alone the cloud would tell of it again.
    const idempotencyKey = [key, ...all.slice(-1).map(({ id }) => id)].join('/');
    const request: CloudRequest = { method: 'POST', path: '/v1/instances', body, idempotencyKey };
    const created = await this.#ask(request, signal);
    return shown(instanceSchema.parse(created));
  }

  /** The one that is there and is to stay. */
  async find(key: string, signal: AbortSignal): Promise<CloudInstance | undefined> {
    const found = await this.#find(key, signal);
    return found === undefined ? undefined : shown(found);
  }

  async remove(key: string, signal: AbortSignal): Promise<boolean> {
    const found = await this.#find(key, signal);
    if (found === undefined) return true;
    await this.#ask({ method: 'DELETE', path: `/v1/instances/${encodeURIComponent(found.id)}` }, signal);
    return false;
  }

  async #find(key: string, signal: AbortSignal): Promise<Instance | undefined> {
    return (await this.#all(key, signal)).find(isToStay);
  }

  /** With those that are on their way out. */
  async #all(key: string, signal: AbortSignal): Promise<readonly Instance[]> {
    const query = new URLSearchParams({ [`tag.${KEY_TAG}`]: key });
    const answer = await this.#ask({ method: 'GET', path: `/v1/instances?${query.toString()}` }, signal);
    return listSchema.parse(answer).items;
  }

  async #ask(request: CloudRequest, signal: AbortSignal): Promise<unknown> {
    const { method, path, body, idempotencyKey } = request;
    const token = await this.#options.token();
    const response = await fetch(`${this.#options.url}${path}`, {
      method,
      signal,
      redirect: 'error',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw retryError('CloudUnavailable', `${method} ${path}: the lab cloud does not answer`, { cause });
    });
    const text = await response.text();
    if (response.ok) return text === '' ? undefined : JSON.parse(text);
    if (response.status === 404 && method === 'DELETE') return undefined;
    throw refusal(`${method} ${path}`, response.status, text);
  }
}

/** Those that are on their way out are as good as gone: their disk is not used again. */
const isToStay = ({ state }: Instance): boolean => !LEAVING.has(state);

interface CloudRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Reads may lag behind: asking twice must not make two. */
  readonly idempotencyKey?: string;
}

/** What the cloud refuses because of what was asked for is for whoever wrote the LabMachine. */
function refusal(request: string, status: number, text: string): Error {
  const parsed = refusalSchema.safeParse(safeJson(text));
  const { code = 'Refused', message = `status ${status}` } = parsed.data?.error ?? {};
  const what = `${request}: ${message}`;
  const isUsers = status === 400 || status === 422;
  return isUsers ? userError(code, what) : retryError(code, what);
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const shown = (instance: Instance): CloudInstance => {
  const { id, providerID: providerId, hostname, zone, state, privateAddress, publicAddress, mac } = instance;
  return {
    id,
    providerId,
    hostname,
    zone,
    state,
    macAddresses: [mac],
    addresses: [
      { type: 'InternalIP', address: privateAddress },
      { type: 'ExternalIP', address: publicAddress },
      { type: 'Hostname', address: hostname },
    ],
  };
};
