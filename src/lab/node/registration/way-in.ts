import type { Clock } from '../../../base/clock.ts';
import { createClient } from '../../../kube/client/create-client.ts';
import { accessFromObject, type ExplicitAccess } from '../../../kube/config/explicit-access.ts';
import { connect } from '../../../kube/transport/connection.ts';
import type { Connection, Transport } from '../../../kube/transport/transport.ts';
import type { Credential } from '../../../pki/certificate-authority.ts';
import { type CredentialStore, isUsable } from './credential-file.ts';
import { type CertificateOptions, clientWish, obtainCertificate } from './node-certificate.ts';

/** With a request of its own to the cluster: what user data and ignition give a machine (N1). */
export interface BootstrapWay {
  readonly mode: 'bootstrap';
  /** Of the API server. */
  readonly url: string;
  /** The certificates that vouch for it. */
  readonly caPem: string;
  readonly token: string;
  /** Without it, somebody must approve the node again at every start. */
  readonly store?: CredentialStore;
}

/** How a node comes into its cluster (N1); `direct`: it is given what it needs to be itself. */
export type WayIn =
  | { readonly mode: 'direct'; readonly transport: Transport }
  | { readonly mode: 'direct'; readonly access: ExplicitAccess }
  | BootstrapWay;

export interface WayInOptions extends Omit<CertificateOptions, 'client'> {
  readonly name: string;
  /** Sockets live in the time outside. */
  readonly real: Clock;
  /** Opens a connection; by the network unless told otherwise. */
  readonly dial?: (access: ExplicitAccess) => Connection;
}

/** The API server as the node may use it; disposing it closes what was opened for it. */
export interface Entrance extends AsyncDisposable {
  readonly transport: Transport;
}

/** Finds the way in. Bootstrapping lasts until the node is approved; rejects as `obtainCertificate` does. */
export async function enterCluster(way: WayIn, options: WayInOptions): Promise<Entrance> {
  const { clock, real, log } = options;
  const {
    dial = (access) => connect(accessFromObject(access, real), { clock: real, log, userAgent: USER_AGENT }),
  } = options;
  if (way.mode === 'direct') {
    return 'transport' in way
      ? { transport: way.transport, [Symbol.asyncDispose]: async () => {} }
      : dial(way.access);
  }
  const { url, caPem, store } = way;
  const kept = await held(options, () => store?.load());
  const isKept = kept !== undefined && isUsable(kept, clientWish(options.name).commonName, clock.now());
  const credential = isKept ? kept : await bootstrapped(way, { ...options, dial });
  if (!isKept) await held(options, () => store?.save(credential));
  return dial({ url, ca: caPem, cert: credential.certificatePem, key: credential.keys.privateKeyPem });
}

/** Files take a moment too. */
async function held<T>({ hold }: WayInOptions, work: () => Promise<T> | undefined): Promise<T | undefined> {
  using _held = hold?.('the certificate of a node');
  return await work();
}

const USER_AGENT = 'slipway-lab-node';
/** Of everything that a node writes (A5). */
export const FIELD_MANAGER = 'slipway/lab/node';

async function bootstrapped(
  { url, caPem, token }: BootstrapWay,
  options: WayInOptions & Required<Pick<WayInOptions, 'dial'>>,
): Promise<Credential> {
  const { name, clock, log, dial } = options;
  await using connection = dial({ url, ca: caPem, token });
  const client = createClient({ transport: connection.transport, fieldManager: FIELD_MANAGER, clock, log });
  return await obtainCertificate(clientWish(name), { ...options, client });
}
