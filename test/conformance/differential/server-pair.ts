import { join } from 'node:path';
import { ApiClient, accessFrom } from '../../support/api-client.ts';
import { startEmbedded } from '../../support/embedded.ts';
import { startKubernetes } from '../../support/kubernetes.ts';

/** Everybody a case can speak as, with the groups of the certificate; only admin has rights from the start. */
const USERS: Readonly<Record<string, readonly string[]>> = {
  admin: ['system:masters'],
  alice: ['dev'],
  bob: ['ops'],
  carol: [],
};

/** One of the two servers that answer the same requests. */
export interface Peer extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** Path of the user's kubeconfig. */
  kubeconfig(user: string): string;
  /** A keep-alive client of this user; `anonymous` presents no certificate. */
  client(user: string): ApiClient;
}

export interface ServerPair extends AsyncDisposable {
  readonly upstream: Peer;
  readonly ours: Peer;
  /** Both are kube-apiservers, which proves that the comparison itself is sound; deviations cannot be seen then. */
  readonly isControl: boolean;
}

/**
 * The real control plane and ours. SLIPWAY_DIFFERENTIAL=control puts a second real one in our place;
 * SLIPWAY_DIFFERENTIAL_UPSTREAM and _OURS name directories with `<user>.kubeconfig` files of servers that run already.
 */
export async function startPair(): Promise<ServerPair> {
  const isControl = process.env['SLIPWAY_DIFFERENTIAL'] === 'control';
  const upstream = await peer('upstream', process.env['SLIPWAY_DIFFERENTIAL_UPSTREAM'], startReal);
  const ours = await peer('ours', process.env['SLIPWAY_DIFFERENTIAL_OURS'], isControl ? startReal : startOurs);
  return {
    upstream,
    ours,
    isControl,
    [Symbol.asyncDispose]: async () => {
      await ours[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

interface Started extends AsyncDisposable {
  user(name: string, groups: readonly string[]): Promise<string>;
}
const startReal = (): Promise<Started> => startKubernetes({ controllerManager: true });
const startOurs = (): Promise<Started> => startEmbedded();

async function peer(name: string, running: string | undefined, start: () => Promise<Started>): Promise<Peer> {
  if (running !== undefined) return peerOf(name, runningFiles(running), async () => undefined);
  const server = await start();
  const files = new Map<string, string>();
  for (const [user, groups] of Object.entries(USERS)) files.set(user, await server.user(user, groups));
  return peerOf(name, files, async () => server[Symbol.asyncDispose]());
}

const runningFiles = (directory: string): ReadonlyMap<string, string> =>
  new Map(Object.keys(USERS).map((user) => [user, join(directory, `${user}.kubeconfig`)]));

function peerOf(name: string, files: ReadonlyMap<string, string>, stop: () => Promise<void>): Peer {
  const clients = new Map<string, ApiClient>();
  const kubeconfig = (user: string): string => {
    const file = files.get(user);
    if (file === undefined) throw new Error(`nobody is called ${user}; known are ${[...files.keys()].join(', ')}`);
    return file;
  };
  const { server, authorityPem } = accessFrom(kubeconfig('admin'));
  const connect = (user: string): ApiClient =>
    new ApiClient(user === 'anonymous' ? { server, authorityPem } : accessFrom(kubeconfig(user)));
  return {
    name,
    url: server,
    kubeconfig,
    client: (user) => clients.get(user) ?? remember(clients, user, connect(user)),
    [Symbol.asyncDispose]: async () => {
      for (const client of clients.values()) client[Symbol.dispose]();
      await stop();
    },
  };
}

function remember(clients: Map<string, ApiClient>, user: string, client: ApiClient): ApiClient {
  clients.set(user, client);
  return client;
}
