import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { ClusterDeployment } from '../../../api/hive/hive-v1.ts';
import { keyOf } from '../../../api/object.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../object/json.ts';
import type { HttpAnswer, HttpCall, HttpRequest } from '../../../oci/http-call.ts';
import { readApiKey } from './api-key.ts';
import type { AssistedFaults } from './assisted-faults.ts';
import { discoveryIgnition } from './discovery-ignition.ts';
import { type HostNews, registerHost } from './host-registration.ts';
import { API_BASE, infraEnvId, type ServiceAddress } from './service-urls.ts';

export interface AssistedRestOptions {
  /** Of somebody who may read InfraEnvs and ClusterDeployments and write Agents; every read asks the server. */
  readonly client: KubeClient;
  /** The same as that of the controllers. */
  readonly address: ServiceAddress;
  readonly faults?: AssistedFaults;
}

/** A request that was understood. */
interface Asked {
  readonly infraEnv: InfraEnv;
  readonly request: HttpRequest;
  readonly query: URLSearchParams;
}

type Route = (asked: Asked) => Promise<HttpAnswer>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SECRET_HEADER = 'x-secret-key';

/**
 * The REST endpoint of assisted-service as far as hosts and providers use it (S16, S17): files and events of InfraEnvs,
 * images, registration of hosts. It knows nothing but what the API server tells it.
 */
export function assistedRest(options: AssistedRestOptions): HttpCall {
  const rest = new AssistedRest(options);
  return (request) => rest.answer(request);
}

const INFRA_ENV_PATH = new RegExp(`^${API_BASE}/infra-envs/([^/]+)/(.+)$`);

class AssistedRest {
  readonly #options: AssistedRestOptions;
  readonly #routes: ReadonlyMap<string, Route> = new Map<string, Route>([
    ['GET image', (asked) => this.#image(asked)],
    ['GET downloads/files', (asked) => this.#file(asked)],
    ['POST hosts', (asked) => this.#register(asked)],
    [`GET ${API_BASE}/events`, (asked) => this.#events(asked)],
  ]);

  constructor(options: AssistedRestOptions) {
    this.#options = options;
  }

  async answer(request: HttpRequest): Promise<HttpAnswer> {
    const { faults } = this.#options;
    if (faults?.rest === 'timeout') return await silence(request.signal);
    if (faults?.rest !== undefined) return failure(faults.rest.status, 'asked to fail');
    const { pathname, searchParams: query } = new URL(request.url);
    const { id, route } = this.#routed(request.method, pathname, query);
    if (route === undefined || id === undefined) return failure(404, `there is nothing at ${pathname}`);
    const infraEnv = await this.#authorized(id, request, query);
    return typeof infraEnv === 'number'
      ? failure(infraEnv, infraEnv === 401 ? 'the key is wrong' : `there is no infra-env ${id}`)
      : await route({ infraEnv, request, query });
  }

  #routed(method: string, path: string, query: URLSearchParams): { readonly id?: string; readonly route?: Route } {
    const verb = method === 'HEAD' ? 'GET' : method;
    const [, ofImage] = /^\/byid\/([^/]+)\/.*\.iso$/.exec(path) ?? [];
    const [, ofInfraEnv, rest = ''] = INFRA_ENV_PATH.exec(path) ?? [];
    const id = ofImage ?? ofInfraEnv ?? query.get('infra_env_id') ?? '';
    const place = ofImage === undefined ? rest || path : 'image';
    const route = this.#routes.get(`${verb} ${place}`);
    return { id, ...(route !== undefined && { route }) };
  }

  /** The InfraEnv, or why there is none for this caller: 401 or 404. */
  async #authorized(
    id: string,
    { headers = {} }: HttpRequest,
    query: URLSearchParams,
  ): Promise<InfraEnv | 401 | 404> {
    const { address, client } = this.#options;
    const given = query.get('api_key') ?? headerOf(headers, SECRET_HEADER);
    const claims = address.secret === undefined ? undefined : readApiKey(given, address.secret);
    if (claims?.infraEnvId === id) {
      const found = await client.live.find(InfraEnv, claims.key);
      return found !== undefined && infraEnvId(found) === id ? found : 404;
    }
    const { items } = await client.live.list(InfraEnv);
    const found = items.find((infraEnv) => infraEnvId(infraEnv) === id);
    if (found === undefined) return 404;
    return address.secret === undefined ? found : 401;
  }

  async #file({ infraEnv, query }: Asked): Promise<HttpAnswer> {
    const { address } = this.#options;
    const name = query.get('file_name') ?? '';
    if (name === 'discovery.ign')
      return text(200, discoveryIgnition(infraEnv, address), 'application/octet-stream');
    if (name === 'static-network-config') return text(200, '', 'application/octet-stream');
    return failure(400, `there is no file "${name}"; ask for discovery.ign or static-network-config`);
  }

  /** What an image of the lab holds is what it makes its host do. */
  async #image({ infraEnv }: Asked): Promise<HttpAnswer> {
    return text(200, discoveryIgnition(infraEnv, this.#options.address), 'application/octet-stream');
  }

  async #events({ infraEnv }: Asked): Promise<HttpAnswer> {
    const { namespace = '', name, creationTimestamp } = infraEnv.metadata;
    const { items } = await this.#options.client.live.list(Agent, {
      namespace,
      labels: { [INFRA_ENV_LABEL]: name },
    });
    const event = (at: string, what: string, message: string): JsonObject => ({
      event_time: at,
      infra_env_id: infraEnvId(infraEnv),
      name: what,
      severity: 'info',
      message,
    });
    const hosts = items.map(({ metadata }) =>
      event(
        metadata.creationTimestamp ?? '',
        'host_registration_succeeded',
        `Host ${metadata.name} has registered`,
      ),
    );
    return json(200, [
      event(creationTimestamp ?? '', 'infra_env_registered', `InfraEnv ${name} was registered`),
      ...hosts,
    ]);
  }

  async #register({ infraEnv, request }: Asked): Promise<HttpAnswer> {
    const { client, faults } = this.#options;
    const news = hostNews(request.body ?? '');
    if (news === undefined) return failure(400, 'host_id must be a uuid in lower case');
    const { id, inventory } = news;
    if (infraEnv.metadata.deletionTimestamp !== undefined) return failure(404, 'the infra-env is being deleted');
    if (await this.#isClusterGoing(infraEnv)) return failure(409, 'the cluster of the infra-env is gone');
    const agent = await registerHost(client, infraEnv, news);
    if (faults?.areAgentsDoubled(keyOf(infraEnv)) === true)
      await registerHost(client, infraEnv, { id: doubled(id), inventory });
    const { clusterDeploymentName: cluster } = agent.spec;
    return json(201, {
      id,
      kind: 'Host',
      href: `${API_BASE}/infra-envs/${infraEnvId(infraEnv)}/hosts/${id}`,
      infra_env_id: infraEnvId(infraEnv),
      status: agent.status?.debugInfo?.state ?? 'discovering',
      ...(cluster !== undefined && { cluster_name: cluster.name }),
    });
  }

  async #isClusterGoing({ spec }: InfraEnv): Promise<boolean> {
    if (spec?.clusterRef === undefined) return false;
    const deployment = await this.#options.client.live.find(ClusterDeployment, spec.clusterRef);
    return deployment === undefined || deployment.metadata.deletionTimestamp !== undefined;
  }
}

/** Another host, the same for the same one. */
const doubled = (id: string): string => `d0b1ed00${id.slice(8)}`;

const headerOf = (headers: Readonly<Record<string, string>>, name: string): string =>
  Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1] ?? '';

/** A server that never answers: until the caller has enough of it. */
function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal?.aborted === true) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function parsed(body: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined when nobody can tell who it is. */
function hostNews(text: string): HostNews | undefined {
  const { host_id: id, inventory } = parsed(text) ?? {};
  if (typeof id !== 'string' || !UUID.test(id)) return undefined;
  return { id, inventory: isJsonObject(inventory) ? inventory : {} };
}

const json = (status: number, body: Json): HttpAnswer => text(status, JSON.stringify(body), 'application/json');

const failure = (status: number, message: string): HttpAnswer =>
  json(status, { kind: 'Error', id: status, code: String(status), reason: message });

function text(status: number, body: string, type: string): HttpAnswer {
  const bytes = Buffer.from(body);
  return {
    status,
    headers: { 'content-type': type, 'content-length': String(bytes.length) },
    body: (async function* () {
      yield bytes;
    })(),
  };
}
