import { Node } from '../../../api/generated/core-v1.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { isAlreadyExists, isNotFound } from '../../../kube/client/api-error.ts';
import { createClient } from '../../../kube/client/create-client.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { ExplicitAccess } from '../../../kube/config/explicit-access.ts';
import type { Connection, Transport } from '../../../kube/transport/transport.ts';
import type { Credential } from '../../../pki/certificate-authority.ts';
import { ApiLink } from './api-link.ts';
import { type CertificateOptions, obtainCertificate, servingWish } from './node-certificate.ts';
import type { NodeFactsProvider } from './node-facts.ts';
import { adoptionPatch, hostnameOf, type NodeSettings, newNode } from './node-object.ts';
import { nodeStatus } from './node-status.ts';
import { untilAnswered } from './patience.ts';
import { fetchServerVersion, type ServerVersion } from './server-version.ts';
import { enterCluster, FIELD_MANAGER, type WayIn } from './way-in.ts';

export interface RegistrationOptions {
  readonly settings: NodeSettings;
  readonly facts: NodeFactsProvider;
  readonly way: WayIn;
  readonly clock: Clock;
  /** Sockets live in the time outside. */
  readonly real: Clock;
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** Lab time stands still until it is disposed, for what happens outside of it. */
  readonly hold?: (reason: string) => Disposable;
  /** Opens a connection; by the network unless told otherwise. */
  readonly dial?: (access: ExplicitAccess) => Connection;
}

/** A node that its cluster knows. Disposing it closes its connection; the Node stays. */
export interface RegisteredNode extends AsyncDisposable {
  readonly settings: NodeSettings;
  readonly version: ServerVersion;
  /** As the server had it when the node registered. */
  readonly node: Node;
  /** There was a Node with that name already. */
  readonly wasAdopted: boolean;
  /** As `system:node:<name>`; everything the node does in the cluster goes this way. */
  readonly client: KubeClient;
  readonly transport: Transport;
  /**
   * What the node's server proves itself with; only of a node that bootstraps. Resolves when somebody approved and
   * somebody signed it, which may need the Node to be there; rejects when there will be none, and when disposed.
   */
  readonly serving?: Promise<Credential>;
  /** Cuts the node off from the API server, or connects it again (N6). Idempotent. */
  partition(isCut: boolean): void;
}

/**
 * Makes a node known to its cluster (N1, N2): finds the way in, waits for the API server, and creates the Node or adopts
 * the one with its name (N5). Rejects with what only an edit helps against, and with the signal's reason; then nothing
 * is left open.
 */
export async function registerNode(options: RegistrationOptions): Promise<RegisteredNode> {
  const { settings, way, clock, log: parentLog } = options;
  const log = parentLog.child({ node: settings.name });
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([options.signal, stop.signal]);
  await using opened = new AsyncDisposableStack();
  opened.defer(() => stop.abort(new Error(`node ${settings.name} has ended`)));
  const entrance = opened.use(await enterCluster(way, { ...options, name: settings.name, log, signal }));
  const link = new ApiLink(entrance.transport);
  const { transport } = link;
  const client = createClient({ transport, fieldManager: FIELD_MANAGER, clock, log });
  const patience = { ...options, log, signal };
  const version = await untilAnswered(patience, () => fetchServerVersion(client, signal));
  const registered = await untilAnswered(patience, () => ensureNode(client, { ...options, version, signal }));
  log.info({ wasAdopted: registered.wasAdopted }, 'Registered node');
  const serving = way.mode === 'bootstrap' ? servingCertificate(settings, { ...patience, client }) : undefined;
  const kept = opened.move();
  return {
    settings,
    version,
    ...registered,
    client,
    transport,
    ...(serving !== undefined && { serving }),
    partition: (isCut) => link.partition(isCut),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface Registering extends Pick<RegistrationOptions, 'settings' | 'facts' | 'clock'> {
  readonly version: ServerVersion;
  readonly signal: AbortSignal;
}

async function ensureNode(
  client: KubeClient,
  { settings, facts: provider, clock, version, signal }: Registering,
): Promise<Pick<RegisteredNode, 'node' | 'wasAdopted'>> {
  const facts = provider();
  const desired = newNode(settings, facts.system);
  const status = nodeStatus({ settings, facts, version, now: clock.now() });
  for (;;) {
    try {
      return { node: await client.create(Node, { ...desired, status }, { signal }), wasAdopted: false };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    try {
      const existing = await client.live.get(Node, { name: settings.name }, { signal });
      const body = adoptionPatch(existing, desired);
      if (body === undefined) return { node: existing, wasAdopted: true };
      const patch = { type: 'merge', body } as const;
      return { node: await client.patch(Node, { name: settings.name }, patch, { signal }), wasAdopted: true };
    } catch (error) {
      // Deleted in between: there is nothing to adopt.
      if (!isNotFound(error)) throw error;
    }
  }
}

/** Nobody may wait for it: what goes wrong is logged here. */
function servingCertificate(settings: NodeSettings, options: CertificateOptions): Promise<Credential> {
  const { name, address } = settings;
  const ipAddresses = address === undefined ? [] : [...new Set([address.api, address.wire])];
  const serving = obtainCertificate(servingWish(name, { dnsNames: [hostnameOf(settings)], ipAddresses }), options);
  serving.catch((err: unknown) => {
    if (!options.signal.aborted) options.log.warn({ err }, 'The node has no serving certificate');
  });
  return serving;
}
