import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import type { JsonObject } from '../../../object/json.ts';
import { CloudError, invalidArgument, notFound } from '../cloud-error.ts';
import type { CloudAnswer } from '../http/cloud-answer.ts';
import type { Reply } from '../http/cloud-api.ts';
import { CloudServer } from '../http/cloud-server.ts';
import { errorAnswer, internalError } from '../http/error-answer.ts';
import { ClientLost, jsonBody } from '../http/incoming-body.ts';
import { checked } from '../resources/request-schema.ts';
import { EgressTable, egressRulesSchema, isEgressAllowed } from './egress-table.ts';
import { bytesAnswer, instanceAnswer } from './instance-answer.ts';
import type { InstanceCredentials, InstanceFacts, MetadataCaller } from './metadata-caller.ts';
import { LONGEST_SESSION_SECONDS, SessionTokens } from './session-tokens.ts';

export interface MetadataOptions {
  /** Resolves when the server listens. */
  readonly listen: (server: Server) => Promise<void>;
  /** Whose address it is, as the socket shows it; undefined for one that is nobody's. */
  readonly whoIs: (address: string) => MetadataCaller | undefined;
  /** Why addresses do not tell who asks, in a network where nobody can be known; undefined where they do. */
  readonly anonymity?: string;
  readonly instance: (id: string) => InstanceFacts | undefined;
  /** What programs on an instance may act with; undefined when there is nothing. */
  readonly credentials: (id: string, signal: AbortSignal) => Promise<InstanceCredentials | undefined>;
  /** `required`: nothing is told without a session token. `optional`: one that is sent must be good. */
  readonly tokenMode?: 'optional' | 'required';
  /** Addresses of this service as pods know it, besides 169.254.169.254. */
  readonly addresses?: readonly string[];
  /** Lab time. */
  readonly clock: Clock;
  readonly real: Clock;
  /** While a request is served time must not jump (T3). */
  readonly hold: (reason: string) => Disposable;
  readonly log: Log;
}

export interface Metadata extends AsyncDisposable {
  /** Enforced here, for every connection and every request (C29). */
  readonly egress: EgressTable;
}

const TOKEN_HEADER = 'lab-metadata-token';
const TTL_HEADER = 'lab-metadata-token-ttl-seconds';
const WELL_KNOWN = '169.254.169.254';
/** What pods ask at, whatever it is on this machine. */
const PORT = 80;
const CREDENTIALS_TIMEOUT_MS = 10_000;

/** Tells instances who they are (C28, C29), until disposed. */
export async function startMetadata(options: MetadataOptions): Promise<Metadata> {
  await using started = new AsyncDisposableStack();
  const desk = new MetadataDesk(options);
  const { real, log } = options;
  const { server } = started.use(
    new CloudServer({ serve: (message, signal) => desk.serve(message, signal), real, log }),
  );
  server.on('connection', (socket: Socket) => {
    if (desk.isDenied(socket.remoteAddress)) socket.resetAndDestroy();
  });
  await options.listen(server);
  const kept = started.move();
  return { egress: desk.egress, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

interface Asked {
  readonly message: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly address: string;
  readonly caller: MetadataCaller;
  readonly signal: AbortSignal;
}

class MetadataDesk {
  readonly egress = new EgressTable();
  readonly #options: MetadataOptions;
  readonly #tokens: SessionTokens;
  #served = 0;

  constructor(options: MetadataOptions) {
    this.#options = options;
    this.#tokens = new SessionTokens(options.clock);
  }

  /** Whether the rules of its node keep a pod from here. */
  isDenied(address: string | undefined): boolean {
    const { whoIs, addresses = [] } = this.#options;
    const caller = address === undefined ? undefined : whoIs(address);
    if (caller?.pod === undefined) return false;
    const { pod, instanceId } = caller;
    return !isEgressAllowed(this.egress.rulesOf(instanceId), {
      namespace: pod.namespace,
      addresses: [WELL_KNOWN, ...addresses],
      protocol: 'tcp',
      port: PORT,
    });
  }

  /** Never rejects. */
  async serve(message: IncomingMessage, signal: AbortSignal): Promise<Reply> {
    const requestId = `meta-${++this.#served}`;
    const cut: Reply = { requestId, answer: undefined, isTruncated: false };
    // The connection may be older than the rule.
    if (this.isDenied(message.socket.remoteAddress)) return cut;
    using _hold = this.#options.hold(`metadata ${message.method} ${message.url}`);
    try {
      return { ...cut, answer: await this.#answer(message, signal) };
    } catch (error) {
      if (error instanceof ClientLost) return cut;
      if (error instanceof CloudError) return { ...cut, answer: errorAnswer(error, requestId) };
      this.#options.log.error({ err: error, path: message.url }, 'Metadata request failed');
      return { ...cut, answer: errorAnswer(internalError(error), requestId) };
    }
  }

  async #answer(message: IncomingMessage, signal: AbortSignal): Promise<CloudAnswer> {
    const { method = '', headers } = message;
    // A proxy that can be talked into asking for others passes this on.
    if (headers['x-forwarded-for'] !== undefined)
      throw new CloudError('Forbidden', 'requests that came through a proxy are refused');
    const address = message.socket.remoteAddress ?? '';
    const caller = this.#options.whoIs(address);
    if (caller === undefined)
      throw new CloudError(
        'Forbidden',
        this.#options.anonymity ?? `${address} is not the address of an instance or of a pod on one`,
      );
    const [path = ''] = (message.url ?? '').split('?');
    const asked: Asked = { message, method, path, address, caller, signal };
    if (path === '/v1/token') return this.#session(asked);
    this.#requireSession(asked);
    if (path === '/v1/egress') return this.#rules(asked);
    requireMethod(asked, ['GET', 'HEAD']);
    return path === '/v1/credentials' ? this.#credentials(asked) : this.#facts(asked);
  }

  #session(asked: Asked): CloudAnswer {
    requireMethod(asked, ['PUT']);
    const header = asked.message.headers[TTL_HEADER];
    const ttlSeconds = typeof header === 'string' && /^\d{1,6}$/.test(header) ? Number(header) : 0;
    if (ttlSeconds < 1 || ttlSeconds > LONGEST_SESSION_SECONDS)
      throw invalidArgument(
        TTL_HEADER,
        `header ${TTL_HEADER}: must be a number from 1 to ${LONGEST_SESSION_SECONDS}, not ${JSON.stringify(header)}`,
      );
    const answer = bytesAnswer(Buffer.from(this.#tokens.issue(asked.address, ttlSeconds)), 'text/plain');
    return { ...answer, headers: { ...answer.headers, [TTL_HEADER]: String(ttlSeconds) } };
  }

  #requireSession({ message, address }: Asked): void {
    const token = message.headers[TOKEN_HEADER];
    const isNeeded = this.#options.tokenMode === 'required';
    if (token === undefined && !isNeeded) return;
    if (typeof token === 'string' && this.#tokens.isGood(token, address)) return;
    throw new CloudError(
      'Unauthenticated',
      `header ${TOKEN_HEADER} must hold a token of PUT /v1/token that is good now, from this address`,
    );
  }

  #facts({ caller, path }: Asked): CloudAnswer {
    const facts = this.#options.instance(caller.instanceId);
    if (facts === undefined) throw notFound(`instance ${caller.instanceId}`);
    return instanceAnswer(facts, path);
  }

  async #credentials({ caller: { instanceId }, signal }: Asked): Promise<CloudAnswer> {
    const { credentials, real } = this.#options;
    const onTimeout = () => new CloudError('Unavailable', 'the credentials did not come in time; ask again');
    const given = await withDeadline(
      { clock: real, timeoutMs: CREDENTIALS_TIMEOUT_MS, signal, onTimeout },
      (deadline) => credentials(instanceId, deadline),
    );
    if (given === undefined) throw notFound(`credential of instance ${instanceId}`);
    return { status: 200, headers: { 'cache-control': 'no-store' }, body: { ...given } };
  }

  /** The table of the node that asks: programs in the network of the node, and no pods, as with rules of a kernel. */
  async #rules(asked: Asked): Promise<CloudAnswer> {
    requireMethod(asked, ['GET', 'HEAD', 'PUT']);
    const { instanceId, node, pod } = asked.caller;
    if (pod !== undefined || node === undefined)
      throw new CloudError('Forbidden', 'only programs in the network of a node may see or set its rules');
    if (asked.method === 'PUT') {
      const body: JsonObject = (await jsonBody(asked.message, this.#options.real)) ?? {};
      this.egress.set(instanceId, checked(z.strictObject({ rules: egressRulesSchema }), body).rules);
      this.egress.keep((id) => this.#options.instance(id) !== undefined);
    }
    return { status: 200, body: { rules: this.egress.rulesOf(instanceId).map(ruleBody) } };
  }
}

const ruleBody = (rule: object): JsonObject => JSON.parse(JSON.stringify(rule)) as JsonObject;

function requireMethod({ method, path }: Asked, allowed: readonly string[]): void {
  if (!allowed.includes(method))
    throw new CloudError(
      'InvalidArgument',
      `${method} is not possible at ${path}; possible: ${allowed.join(', ')}`,
    );
}
