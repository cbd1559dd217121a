import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { isRecord } from '../../src/object/record.ts';
import type { InstanceObservation } from '../../src/sdk/capabilities/instances.ts';
import type { Backend, BalancerIngress, BalancerPort } from '../../src/sdk/capabilities/load-balancers.ts';
import type { CloudRoute } from '../../src/sdk/capabilities/routes.ts';

/** A load balancer as both cloud controller managers ask for it. */
export interface AskedBalancer {
  /** Of the cloud: made of the uid of the Service. */
  readonly name: string;
  /** Namespace and name. */
  readonly service?: string;
  readonly ports?: readonly BalancerPort[];
  readonly backends?: readonly Pick<Backend, 'nodeName' | 'providerID'>[];
}

/** How the cloud says whether there is a balancer. */
export interface FoundBalancer {
  readonly exists: boolean;
  readonly ingress?: readonly BalancerIngress[];
}

type Question = Readonly<Record<string, unknown>>;

/**
 * A cloud behind HTTP: one POST per question, `/loadBalancers.ensure`, with JSON both ways. The framework in Go and our own
 * program ask the same questions, so the same world gives the same answers to both.
 */
export class SharedCloud implements AsyncDisposable {
  /** By the name of the node; a node that is not here is absent. */
  readonly machines = new Map<string, InstanceObservation>();
  readonly balancers = new Map<string, AskedBalancer>();
  readonly routes: CloudRoute[] = [];
  /** By method: the text that it fails with. */
  readonly failures = new Map<string, string>();
  /** How often: `try METHOD`, also when it failed; `describe NODE`; `ensure SERVICE`; `list routes`. */
  readonly asked = new Map<string, number>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<SharedCloud> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cloud = new SharedCloud(server);
    server.on('request', (request, response) => void cloud.#serve(request, response));
    return cloud;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the cloud does not listen');
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = (request.url ?? '').slice(1);
    const body: unknown = await json(request).catch(() => undefined);
    this.note('try', method);
    const failure = this.failures.get(method);
    const answer = METHODS[method];
    if (failure !== undefined || answer === undefined) {
      response.writeHead(500).end(failure ?? `the cloud cannot ${method}`);
      return;
    }
    response.end(JSON.stringify(answer(this, isRecord(body) ? body : {}) ?? null));
  }

  /** Notes that something was asked about. */
  note(method: string, name: string): void {
    const key = `${method} ${name}`;
    this.asked.set(key, (this.asked.get(key) ?? 0) + 1);
  }
}

const METHODS: Readonly<Record<string, (cloud: SharedCloud, question: Question) => unknown>> = {
  'instances.describe': (cloud, { nodeName }) => describe(cloud, String(nodeName)),
  'instances.describeMany': (cloud, { nodeNames }) =>
    Object.fromEntries((nodeNames as readonly string[]).map((name) => [name, describe(cloud, name)])),
  'loadBalancers.find': (cloud, { name }): FoundBalancer => {
    const found = cloud.balancers.get(String(name));
    return found === undefined ? { exists: false } : { exists: true, ingress: ingressOf(found) };
  },
  'loadBalancers.ensure': (cloud, question) => {
    const wanted = question as unknown as AskedBalancer;
    cloud.note('ensure', wanted.service ?? '');
    cloud.balancers.set(wanted.name, wanted);
    return { kind: 'ready', ingress: ingressOf(wanted) };
  },
  'loadBalancers.setBackends': (cloud, question) => {
    const wanted = question as unknown as AskedBalancer;
    const found = cloud.balancers.get(wanted.name);
    if (found === undefined) return 'gone';
    cloud.balancers.set(wanted.name, { ...found, backends: wanted.backends ?? [] });
    return 'updated';
  },
  'loadBalancers.remove': (cloud, { name }) => void cloud.balancers.delete(String(name)),
  'routes.list': (cloud) => {
    cloud.note('list', 'routes');
    return cloud.routes;
  },
  'routes.create': (cloud, question) => {
    const { nameHint, ...wanted } = question as unknown as CloudRoute & { readonly nameHint: string };
    cloud.routes.push({ ...wanted, name: `${nameHint}-${wanted.destinationCIDR}` });
  },
  'routes.remove': (cloud, { name }) => {
    const at = cloud.routes.findIndex((route) => route.name === name);
    if (at >= 0) cloud.routes.splice(at, 1);
  },
};

function describe(cloud: SharedCloud, name: string): InstanceObservation {
  cloud.note('describe', name);
  return cloud.machines.get(name) ?? { state: 'absent', evidence: `the account has no machine ${name}` };
}

/** A name and no address: the same for the same Service on every server. */
const ingressOf = ({ service = '' }: AskedBalancer): readonly BalancerIngress[] => [
  { hostname: `${service.replace('/', '.')}.balancers.example` },
];
