import type { ApiServer, ApiServerOptions } from '../../src/apiserver/options.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import type { LocalWebhook } from '../../src/apiserver/webhooks/webhook-client.ts';
import type { Json, JsonObject } from '../../src/object/json.ts';

// Tests look into objects they have made themselves.
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any;

export interface Answer {
  readonly status: number;
  readonly body: Loose;
  readonly warnings: readonly string[];
}

export interface Sending {
  readonly as?: string;
  readonly groups?: readonly string[];
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type Kind = 'mutating' | 'validating';

const FIELDS: JsonObject = {
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
};

/** Our API server in this process, with webhooks in this process that tests make up as they go. */
export class AdmissionServer implements AsyncDisposable {
  readonly #server: ApiServer;
  readonly #hooks: Map<string, LocalWebhook>;
  readonly #configured: string[] = [];

  private constructor(server: ApiServer, hooks: Map<string, LocalWebhook>) {
    this.#server = server;
    this.#hooks = hooks;
  }

  static async start(options: ApiServerOptions = {}): Promise<AdmissionServer> {
    const hooks = new Map<string, LocalWebhook>();
    const resolveService = ({ name }: { readonly name: string }): LocalWebhook | undefined => hooks.get(name);
    return new AdmissionServer(await startApiServer({ listen: false, resolveService, ...options }), hooks);
  }

  get store(): ApiServer['store'] {
    return this.#server.store;
  }

  async send(method: string, target: string, body?: Json, sending: Sending = {}): Promise<Answer> {
    const { as = 'admin', groups = groupsOf(as), type = 'application/json', headers = {} } = sending;
    const response = await this.#server.client(
      as,
      groups,
    )({
      method,
      target,
      headers: { 'content-type': type, 'user-agent': 'test', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = Buffer.from(await response.bytes()).toString('utf8');
    return {
      status: response.status,
      body: parsed(text),
      warnings: [response.headers['warning'] ?? []].flat(),
    };
  }

  async made(target: string, body: Json, sending: Sending = {}): Promise<Loose> {
    const answer = await this.send('POST', target, body, sending);
    if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** A configuration whose webhooks run in this process; `hooks` are by service name. */
  async configure(kind: Kind, name: string, webhooks: readonly JsonObject[]): Promise<void> {
    const path = `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
    await this.made(path, {
      metadata: { name },
      webhooks: webhooks.map((webhook) => ({ ...FIELDS, ...webhook })),
    });
    this.#configured.push(`${path}/${name}`);
  }

  /** Fields of a webhook that is answered by a function; gives back the requests it got. */
  hook(
    name: string,
    respond: (request: Loose) => JsonObject,
  ): { readonly fields: JsonObject; readonly asked: Loose[] } {
    const asked: Loose[] = [];
    this.#hooks.set(name, async (review) => {
      const { request } = review as Loose;
      // Controllers act whenever they like.
      if (!request.userInfo.username.startsWith('system:')) asked.push(request);
      return {
        apiVersion: review['apiVersion'] ?? '',
        kind: 'AdmissionReview',
        response: { uid: request.uid, ...respond(request) },
      };
    });
    const service = { namespace: 'hooks', name, path: `/${name}` };
    return { fields: { name: `${name}.example.com`, clientConfig: { service } }, asked };
  }

  /** Removes every configuration, so that the next test starts without. */
  async clear(): Promise<void> {
    for (const path of this.#configured.splice(0)) await this.send('DELETE', path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
  }
}

const groupsOf = (name: string): readonly string[] => (name === 'admin' ? ['system:masters'] : []);
const parsed = (text: string): Loose => (text.startsWith('{') ? JSON.parse(text) : text);

/** The answer of a webhook that changes an object. */
export const patching = (...operations: readonly Json[]): JsonObject => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
