import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes, stringifyJson } from '../../object/json-text.ts';
import type { Transport } from '../http/in-process.ts';
import type { Resource } from '../registry/resource.ts';
import { LostRace } from './work-queue.ts';

export interface SelfAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

interface SelfRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly target: string;
  readonly body?: JsonObject;
  readonly contentType?: string;
}

/** What an answer that is a failure said. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly status: number;
  constructor(request: SelfRequest, { status, body }: SelfAnswer) {
    const { message } = body;
    super(typeof message === 'string' ? message : `${request.method} ${request.target} answered ${status}`);
    this.status = status;
  }
}

const MERGE_PATCH = 'application/merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

/** Requests of the server's own controllers: every rule of the API holds for them too. */
export class SelfRequests {
  readonly #transport: Transport;
  readonly #agent: string;

  /** `agent` names the field manager. */
  constructor(transport: Transport, agent: string) {
    this.#transport = transport;
    this.#agent = agent;
  }

  post(target: string, body: JsonObject): Promise<SelfAnswer> {
    return this.#send({ method: 'POST', target, body }, [404, 409]);
  }

  /** 404: it is gone, which is fine for whoever wanted to change it. */
  put(target: string, body: JsonObject): Promise<SelfAnswer> {
    return this.#send({ method: 'PUT', target, body }, [404]);
  }

  merge(target: string, body: JsonObject): Promise<SelfAnswer> {
    return this.#send({ method: 'PATCH', target, body, contentType: MERGE_PATCH }, [404]);
  }

  apply(target: string, body: JsonObject): Promise<SelfAnswer> {
    return this.#send({ method: 'PATCH', target, body, contentType: APPLY_PATCH }, [404]);
  }

  /** `allowed`: failures that are answers, not errors. */
  delete(target: string, options: JsonObject, allowed: readonly number[] = [404]): Promise<SelfAnswer> {
    return this.#send({ method: 'DELETE', target, body: options }, allowed);
  }

  async #send(request: SelfRequest, allowed: readonly number[]): Promise<SelfAnswer> {
    const { method, target, body, contentType = 'application/json' } = request;
    const response = await this.#transport({
      method,
      target,
      headers: { 'content-type': contentType, 'user-agent': this.#agent },
      ...(body !== undefined && { body: stringifyJson(body) }),
    });
    const { status } = response;
    if (status < 400) return { status, body: {} };
    const { value } = parseJsonBytes(await response.bytes());
    const answer = { status, body: isJsonObject(value) ? value : {} };
    if (allowed.includes(status)) return answer;
    if (status === 409) throw new LostRace();
    throw new RequestFailed(request, answer);
  }
}

/** The collection of a resource in a namespace, or of all: `/apis/apps/v1/namespaces/x/deployments`. */
export function collectionPath({ group, version, plural, isNamespaced }: Resource, namespace: string): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return isNamespaced && namespace !== ''
    ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`
    : `${root}/${plural}`;
}

export const objectPath = (resource: Resource, namespace: string, name: string): string =>
  `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
