import { once } from 'node:events';
import { createServer as createPlain, type Server as HttpServer, type RequestListener } from 'node:http';
import {
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createHttps } from 'node:https';
import {
  type AddressInfo,
  connect as connectTcp,
  createServer as createTcp,
  type Server,
  type Socket,
} from 'node:net';
import { type Clock, SystemClock } from '../../src/base/clock.ts';
import type {
  AuthHeaders,
  ClientCertificate,
  ClusterAccess,
  Credentials,
} from '../../src/kube/config/cluster-access.ts';
import { type ConnectOptions, connect } from '../../src/kube/transport/connection.ts';
import type { Connection, TransportResponse } from '../../src/kube/transport/transport.ts';
import { CertificateAuthority, type Credential } from '../../src/pki/certificate-authority.ts';
import { recordedLog } from './store.ts';

const validity = { now: new Date(), validityMs: 3_600_000 };
const NAMES = { commonName: 'api.test', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };

let authority: Promise<CertificateAuthority> | undefined;
let serving: Promise<Credential> | undefined;

/** One authority and one serving certificate for all tests of a process: making keys takes time. */
export const testAuthority = (): Promise<CertificateAuthority> =>
  (authority ??= CertificateAuthority.create({ commonName: 'transport-ca', ...validity }));

export const testServing = (): Promise<Credential> =>
  (serving ??= testAuthority().then((ca) => ca.issue({ kind: 'serving', ...NAMES, ...validity })));

export async function clientCertificate(commonName: string): Promise<ClientCertificate> {
  const issued = await (await testAuthority()).issue({
    kind: 'client',
    commonName,
    organizations: [],
    ...validity,
  });
  return { certPem: issued.certificatePem, keyPem: issued.keys.privateKeyPem };
}

/** A server on a free port of the loopback address that forgets its connections when disposed. */
export interface Running<S> extends AsyncDisposable {
  readonly server: S;
  readonly port: number;
  readonly url: string;
  /** Connections accepted so far. */
  readonly accepted: () => number;
  /** Connections open now. */
  readonly sockets: ReadonlySet<Socket>;
}

export type StreamHandle = (stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>) => void;

export async function http2Server(
  handle: StreamHandle,
  { settings = {}, credential }: { settings?: Record<string, number>; credential?: Credential } = {},
): Promise<Running<Http2SecureServer> & { readonly sessions: readonly ServerHttp2Session[] }> {
  const server = createSecureServer({ ...(await tlsOptions(credential)), settings, allowHTTP1: false });
  const sessions: ServerHttp2Session[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    handle(stream, headers);
  });
  return { ...(await listening(server, 'https')), sessions };
}

export const http1Server = async (
  handle: RequestListener,
  credential?: Credential,
): Promise<Running<HttpServer>> => listening(createHttps(await tlsOptions(credential), handle), 'https');

/** One that speaks both, as real API servers do. */
export const bothServer = async (handle: RequestListener): Promise<Running<Http2SecureServer>> =>
  listening(
    // The compatible parts of both kinds of requests are all that tests use.
    createSecureServer({ ...(await tlsOptions()), allowHTTP1: true, maxSessionMemory: 256 }, handle as never),
    'https',
  );

export const plainServer = (handle: RequestListener): Promise<Running<HttpServer>> =>
  listening(createPlain(handle), 'http');

async function tlsOptions(credential?: Credential) {
  const { certificatePem, keys } = credential ?? (await testServing());
  const ca = (await testAuthority()).certificatePem;
  return { cert: certificatePem, key: keys.privateKeyPem, ca, requestCert: true, rejectUnauthorized: false };
}

export async function listening<S extends Server>(server: S, scheme: string): Promise<Running<S>> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    accepted: () => accepted,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Carries bytes to a port; frozen, it keeps connections open and carries nothing. */
export async function relay(port: number): Promise<Running<Server> & { freeze(): void }> {
  let isFrozen = false;
  const server = createTcp((near) => {
    const far = connectTcp(port, '127.0.0.1');
    far.on('error', () => {});
    near.on('data', (bytes) => isFrozen || far.write(bytes));
    far.on('data', (bytes) => isFrozen || near.write(bytes));
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  const running = await listening(server, 'https');
  return { ...running, freeze: () => void (isFrozen = true) };
}

/** Credentials whose headers and certificate a test changes; knows how often they were thrown away. */
export class FakeCredentials implements Credentials {
  token: string | undefined;
  certificate: ClientCertificate | undefined;
  /** What the next refresh brings. */
  nextToken: string | undefined;
  refreshes = 0;
  readonly #listeners = new Set<() => void>();

  async headers(): Promise<AuthHeaders> {
    await Promise.resolve();
    return this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
  }

  async clientCertificate(): Promise<ClientCertificate | undefined> {
    await Promise.resolve();
    return this.certificate;
  }

  refresh(): void {
    this.refreshes++;
    this.token = this.nextToken ?? this.token;
  }

  onCertificateChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  get listeners(): number {
    return this.#listeners.size;
  }
}

export interface TestConnection extends Connection {
  readonly lines: ReturnType<typeof recordedLog>['lines'];
  readonly credentials: FakeCredentials;
}

export type AccessChange = Partial<ClusterAccess> & { readonly credentials?: FakeCredentials };

/** A connection that trusts the authority of these servers. */
export async function connectTo(
  url: string,
  access: AccessChange = {},
  options: Partial<ConnectOptions> & { readonly clock?: Clock } = {},
): Promise<TestConnection> {
  const { log, lines } = recordedLog();
  const credentials = access.credentials ?? new FakeCredentials();
  const pem = (await testAuthority()).certificatePem;
  const full: ClusterAccess = {
    server: new URL(url),
    insecureSkipTlsVerify: false,
    disableCompression: false,
    source: 'test',
    ...(access.insecureSkipTlsVerify !== true && { ca: () => Promise.resolve(pem) }),
    ...access,
    credentials,
  };
  return { ...connect(full, { clock: new SystemClock(), log, ...options }), lines, credentials };
}

export const textOf = async (answer: TransportResponse): Promise<string> =>
  Buffer.from(await answer.bytes()).toString('utf8');

/** What a promise was rejected with. */
export async function failureOf(work: Promise<unknown>): Promise<Error> {
  const outcome = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (outcome instanceof Error) return outcome;
  throw new Error('expected a failure');
}

/** Resolves after `count` calls of `hit`. */
export function countdown(count = 1): { readonly hit: () => void; readonly done: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  return { hit: () => void (--left === 0 && resolve()), done: promise };
}

/** Turns of the event loop until something is so; fails after five seconds. */
export async function eventually(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 5000;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`never became true: ${isSo.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
