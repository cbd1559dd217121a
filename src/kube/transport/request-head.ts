import type { AuthHeaders, ClusterAccess } from '../config/cluster-access.ts';
import type { TransportRequest } from './transport.ts';

/** Name, value, name, value …, as both HTTP libraries of Node take them without copying. */
export type HeaderList = readonly string[];

/** Writes the heads of requests to one server. Credentials win over headers of the same name in the request. */
export class RequestHead {
  readonly #authority: string;
  readonly #prefix: string;
  readonly #isCompressed: boolean;
  readonly #userAgent: string | undefined;

  constructor({ server, disableCompression }: ClusterAccess, userAgent: string | undefined) {
    this.#authority = server.host;
    this.#prefix = server.pathname.replace(/\/$/, '');
    this.#isCompressed = !disableCompression;
    this.#userAgent = userAgent;
  }

  /** With the path prefix of the server (C2). */
  path({ target }: TransportRequest): string {
    return this.#prefix + target;
  }

  http1(request: TransportRequest, auth: AuthHeaders): HeaderList {
    const list = ['host', this.#authority];
    const { body, method } = request;
    if (body !== undefined) list.push('content-length', String(lengthOf(body)));
    else if (method === 'POST' || method === 'PUT' || method === 'PATCH') list.push('content-length', '0');
    return this.#fields(list, request, auth);
  }

  http2(request: TransportRequest, auth: AuthHeaders): HeaderList {
    const list = [':method', request.method, ':scheme', 'https', ':authority', this.#authority];
    list.push(':path', this.#prefix + request.target);
    return this.#fields(list, request, auth);
  }

  #fields(list: string[], { headers = NONE, isStream = false }: TransportRequest, auth: AuthHeaders): HeaderList {
    const hasAgent = pushGiven(list, headers, auth);
    for (const name of Object.keys(auth)) pushAll(list, name, auth[name] ?? []);
    if (!hasAgent && this.#userAgent !== undefined) list.push('user-agent', this.#userAgent);
    // A compressor between us and an event would hold it back until more comes.
    if (this.#isCompressed && !isStream) list.push('accept-encoding', 'gzip');
    return list;
  }
}

/** Whether there was a user agent among them. */
function pushGiven(list: string[], headers: Readonly<Record<string, string>>, auth: AuthHeaders): boolean {
  let hasAgent = false;
  for (const given of Object.keys(headers)) {
    const name = given.toLowerCase();
    if (Object.hasOwn(auth, name) || OURS.has(name)) continue;
    hasAgent ||= name === 'user-agent';
    list.push(name, headers[given] ?? '');
  }
  return hasAgent;
}

const NONE: Readonly<Record<string, string>> = {};

/** What the connection decides itself; a second value would be a second meaning. */
const OURS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'accept-encoding']);

function pushAll(list: string[], name: string, value: string | readonly string[]): void {
  if (typeof value === 'string') list.push(name, value);
  else for (const item of value) list.push(name, item);
}

const lengthOf = (body: Uint8Array | string): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
