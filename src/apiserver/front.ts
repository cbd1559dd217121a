import { createAuthenticator } from './auth/authenticator.ts';
import { InFlightGuard } from './auth/guard.ts';
import { TokenSigner } from './auth/json-web-token.ts';
import { openIdAnswer } from './auth/open-id.ts';
import { reviewHandlers } from './auth/reviews.ts';
import { ServiceAccountTokens } from './auth/service-account-tokens.ts';
import { StaticTokens } from './auth/static-tokens.ts';
import { tokenHandler } from './auth/token-request.ts';
import { OpenApi } from './discovery/openapi.ts';
import { Discovery } from './discovery/serve-discovery.ts';
import { serverVersion } from './discovery/server-version.ts';
import type { Engine, EngineOptions } from './engine.ts';
import { Health } from './health.ts';
import type { Identity } from './identity.ts';
import { ApiMetrics, type Gauges } from './metrics.ts';
import { pathHandler } from './paths.ts';
import type { Registry } from './registry/registry.ts';
import { releaseVersion } from './release.ts';
import type { Handle } from './request.ts';
import { createHandle } from './routing/serve.ts';
import { qualified } from './status.ts';
import type { Store } from './store/store.ts';
import { subresourceHandlers, virtualSubresources } from './subresources/subresource-handlers.ts';
import { Watches } from './watching/watch.ts';

/** Who issues service-account tokens; the name under which pods know the API server. */
const ISSUER = 'https://kubernetes.default.svc.cluster.local';

export interface ServerState {
  /** Empty as long as nothing listens. */
  url: string;
  phase: 'starting' | 'ready' | 'stopping';
}

export interface Front {
  readonly handle: Handle;
  readonly watches: Watches;
}

/** Everything between a request and the engine: who asks, may it be, where does it go. */
export function createFront(
  options: EngineOptions,
  engine: Engine,
  identity: Identity,
  state: ServerState,
): Front {
  const { clock, log, auth = {} } = options;
  const { services, rbac } = engine;
  const { store, registry, authorizer } = services;
  const metrics = new ApiMetrics();
  const watches = new Watches(metrics);
  const guard = new InFlightGuard();
  const signer = new TokenSigner(identity.tokenKeys);
  const issuer = (): string => ISSUER;
  const accounts = new ServiceAccountTokens({ signer, store, clock, issuer });
  const tokens = [new StaticTokens(auth.tokens ?? []), accounts];
  const handle = createHandle({
    services,
    clock,
    log,
    guard,
    observer: metrics,
    ...(options.audit !== undefined && { audit: options.audit }),
    ...(options.refuse !== undefined && { refuse: options.refuse }),
    authenticator: createAuthenticator({ tokens, authorizer }),
    routes: {
      watches,
      subresources: subresourceHandlers(
        new Map([['/serviceaccounts/token', tokenHandler(accounts, issuer)]]),
        options.nodes,
      ),
      virtual: new Map([
        ...reviewHandlers({ rbac, tokens, serviceAccounts: accounts, issuer }),
        ...virtualSubresources,
      ]),
    },
    paths: pathHandler({
      registry,
      store,
      clock,
      health: healthOf(store, state),
      discovery: new Discovery(registry, () => state.url.replace('https://', '')),
      openApi: new OpenApi(registry),
      version: versionOf(options.release ?? releaseVersion()),
      metricsText: () => metrics.text(gauges(store, registry, guard)),
      openId: (path) => Promise.resolve(openIdAnswer(path, signer, issuer())),
    }),
  });
  return { handle, watches };
}

const healthOf = (store: Store, state: ServerState): Health =>
  new Health(
    [
      { name: 'ping', problem: () => undefined },
      { name: 'storage', problem: () => store.problem },
    ],
    [{ name: 'serving', problem: () => (state.phase === 'ready' ? undefined : `the server is ${state.phase}`) }],
  );

const versionOf = (release: string) =>
  serverVersion({
    version: release,
    commit: '',
    buildDate: '1970-01-01T00:00:00Z',
    nodeVersion: process.versions.node,
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  });

const gauges = (store: Store, registry: Registry, guard: InFlightGuard): Gauges => ({
  revision: store.revision,
  inFlight: guard.inFlight,
  storedObjects: () =>
    new Map(registry.stored().map(({ plural, group, prefix }) => [qualified(plural, group), store.count(prefix)])),
});
