import { SystemClock } from '../base/clock.ts';
import { userError } from '../base/errors.ts';
import { SILENT_LOG } from '../base/log.ts';
import type { JsonObject } from '../object/json.ts';
import { stringifyJson } from '../object/json-text.ts';
import { isRecord } from '../object/record.ts';
import { kubeconfig } from '../pki/kubeconfig.ts';
import { withAuthenticated } from './auth/authenticator.ts';
import { MASTERS } from './auth/rbac-authorizer.ts';
import { bootstrap } from './bootstrap.ts';
import { ClusterIpAllocator } from './builtin/allocators.ts';
import { startControllers } from './controllers/controllers.ts';
import { CrdRuntime } from './crd/crd-runtime.ts';
import { createEngine, type Engine, type EngineOptions } from './engine.ts';
import { createFront, type Front, type ServerState } from './front.ts';
import { inProcessTransport, type Transport } from './http/in-process.ts';
import { Listener } from './http/listener.ts';
import { type Identity, openIdentity } from './identity.ts';
import { readKeys } from './identity-file.ts';
import type { ApiServer, ApiServerOptions } from './options.ts';
import { publishEndpoints } from './own-endpoints.ts';
import type { Handle, UserInfo } from './request.ts';
import { createMemoryStore } from './store/memory-store.ts';
import { openSqliteStore } from './store/sqlite-store.ts';
import type { Store } from './store/store.ts';

const LOOPBACK = '127.0.0.1';
const ADMIN = { name: 'admin', groups: [MASTERS] };
/** Who the server itself is when it writes. */
const SELF: UserInfo = { name: 'system:apiserver', groups: [MASTERS, 'system:authenticated'] };

/** An API server, ready to use when this resolves (§23). On failure everything that was opened is closed again. */
export async function startApiServer(given: ApiServerOptions = {}): Promise<ApiServer> {
  const options: EngineOptions = { clock: new SystemClock(), log: SILENT_LOG, ...given };
  const { clock, dataDir } = options;
  await using stack = new AsyncDisposableStack();
  const hostNames = servedNames(options);
  const kept = dataDir === undefined ? undefined : readKeys(dataDir);
  const { certificates } = options;
  const opening = openIdentity({
    directory: dataDir,
    kept,
    hostNames,
    clock,
    ...(certificates !== undefined && { certificates }),
  });
  // When the store cannot be opened, that is what is reported, and nobody waits for the keys.
  opening.catch(() => {});
  const store = stack.use(await openStore(options));
  const identity = await opening;
  identity.save();
  const engine = stack.use(createEngine(options, store));
  const state: ServerState = { url: '', phase: 'starting' };
  const front = createFront(options, engine, identity, state);
  const parts = stack.use(new AsyncDisposableStack());
  await prepare(options, { engine, front, identity, parts });
  state.phase = 'ready';
  const listener = await startListener(options, identity, front);
  state.url = listener?.url ?? '';
  stack.defer(async () => {
    state.phase = 'stopping';
    front.watches.endAll();
    await listener?.stop();
  });
  if (options.advertise !== undefined && listener !== undefined)
    await publishEndpoints(inProcessTransport(front.handle, SELF), { port: listener.port, ...options.advertise });
  return runningServer({ engine, front, identity, state, stack: stack.move() });
}

/** What clients call the server, beside what everybody calls it: programs in pods know the address of its service. */
function servedNames({ listen = {}, serviceRange, advertise }: EngineOptions): readonly string[] {
  const given = listen === false ? [] : (listen.hostNames ?? []);
  const own = serviceRange === undefined ? [] : [new ClusterIpAllocator(serviceRange).kubernetesAddress];
  return [...given, ...own, ...(advertise === undefined ? [] : [advertise.host])];
}

function openStore(options: EngineOptions): Promise<Store> | Store {
  const { dataDir, durability = 'full', release, program, clock, log } = options;
  const storage = options.storage ?? (dataDir === undefined ? 'memory' : 'sqlite');
  if (storage === 'memory') return createMemoryStore({ clock, log });
  if (dataDir === undefined) throw new Error('storage "sqlite" needs dataDir');
  return openSqliteStore({
    directory: dataDir,
    durability,
    clock,
    log,
    ...(release !== undefined && { release }),
    ...(program !== undefined && { program }),
  });
}

interface Parts {
  readonly engine: Engine;
  readonly front: Front;
  readonly identity: Identity;
  readonly parts: AsyncDisposableStack;
}

/** Loads definitions, makes what every cluster has, starts the controllers. */
async function prepare(options: EngineOptions, { engine, front, identity, parts }: Parts): Promise<void> {
  const { store, registry, codec } = engine.services;
  const { clock, log, crds: definitions = [] } = options;
  const transport = inProcessTransport(front.handle, SELF);
  const crds = parts.use(new CrdRuntime({ store, registry, codec, clock, log, transport }));
  engine.useConversions((name) => crds.conversionOf(name));
  const endObsolete = () =>
    front.watches.endObsolete(
      (resource) => registry.find(resource.group, resource.version, resource.plural) === resource,
    );
  parts.use(registry.onChange(endObsolete));
  const { kubernetesAddress, rbac } = engine;
  await bootstrap({ transport, store, clock, kubernetesAddress, hasRbac: rbac !== undefined });
  const { gc = true, namespace = true, crd = true, accounts = true, namespaceDelayMs } = options.controllers ?? {};
  const services = { store, registry, codec, clock, log, transport, crds, authorityPem: identity.authorityPem };
  const controllers = parts.use(startControllers(services, { gc, namespace, crd, accounts, namespaceDelayMs }));
  await createDefinitions(transport, definitions);
  await crds.settled();
  // G4: what every namespace has is there before the first request.
  await controllers.ready();
}

async function createDefinitions(transport: Transport, crds: readonly JsonObject[]): Promise<void> {
  for (const [at, crd] of crds.entries()) {
    const answer = await transport({
      method: 'POST',
      target: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      headers: { 'content-type': 'application/json' },
      body: stringifyJson(crd),
    });
    if (answer.status === 201 || answer.status === 409) continue;
    const { message = 'refused' }: { readonly message?: string } = JSON.parse(
      Buffer.from(await answer.bytes()).toString('utf8'),
    );
    throw userError('InvalidDefinition', `crds[${at}]${nameIn(crd)}: ${message}`);
  }
}

/** ` (boats.example.com)`, where there is a name. */
function nameIn({ metadata }: JsonObject): string {
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? ` (${name})` : '';
}

async function startListener(options: EngineOptions, identity: Identity, { handle }: Front) {
  const { listen = {}, clock, log, hold } = options;
  if (listen === false) return undefined;
  const { host = LOOPBACK, port = 0 } = listen;
  const listener = await Listener.start({
    host,
    port,
    certificatePem: identity.servingCertificatePem,
    keyPem: identity.servingKeyPem,
    authorityPem: identity.authorityPem,
    handle: hold === undefined ? handle : held(handle, hold),
    clock,
    log,
  });
  return { url: `https://${host}:${listener.port}`, port: listener.port, stop: () => listener.stop() };
}

/** The same, with a hold on time from the request to its answer; what a watch sends later is not held. */
const held =
  (handle: Handle, hold: (reason: string) => Disposable): Handle =>
  async (request) => {
    using _hold = hold(`${request.method} ${request.path}`);
    return await handle(request);
  };

interface Running extends Omit<Parts, 'parts'> {
  readonly state: ServerState;
  readonly stack: AsyncDisposableStack;
}

function runningServer({ engine, front, identity, state, stack }: Running): ApiServer {
  const stop = () => stack.disposeAsync();
  const groupsOf = (name: string): readonly string[] => (name === ADMIN.name ? ADMIN.groups : []);
  return {
    url: state.url,
    kinds: engine.services.registry.all().length,
    store: engine.services.store,
    authority: identity.authority,
    kubeconfig: async (name = ADMIN.name, groups = groupsOf(name)) =>
      kubeconfig({
        server: state.url,
        authorityPem: identity.authorityPem,
        clusterName: 'slipway',
        userName: name,
        credential: await identity.issue(name, groups),
      }),
    client: (name = ADMIN.name, groups = groupsOf(name), extra) =>
      inProcessTransport(front.handle, {
        name,
        groups: withAuthenticated(groups),
        ...(extra !== undefined && { extra }),
      }),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
