import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../src/base/errors.ts';
import type { RawRequest, RawStream } from '../../support/api-client.ts';
import type { Step } from './case-file.ts';
import { protobufBody } from './protobuf-body.ts';
import { foundAt, parseJson, type Recorded, readable, unmet } from './recorded-answer.ts';
import type { Peer } from './server-pair.ts';
import { fill, type Variables } from './variables.ts';
import type { WebhookServer } from './webhook-server.ts';

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};
// Namespace deletion waits 5 s upstream and a new CRD is served after a few seconds on a busy machine.
const UNTIL_TIMEOUT_MS = 40_000;
const COLLECT_TIMEOUT_MS = 20_000;
const POLL_MS = 50;
const MANY_POLLS_MS = 250;

export interface PlayerOptions {
  readonly peer: Peer;
  readonly webhooks: WebhookServer;
  /** Where this player's webhooks live on the webhook server. */
  readonly hookPath: string;
  readonly variables: Variables;
}

/** Plays the steps of one case to one server and writes down what it answers. */
export class Player implements Disposable {
  readonly #options: PlayerOptions;
  readonly #watches = new Map<string, { stream: RawStream; taken: number }>();

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  /** Ends early when a step cannot be done; the last answer then says why. */
  async play(steps: readonly Step[]): Promise<readonly Recorded[]> {
    const recorded: Recorded[] = [];
    for (const step of steps) {
      for (const each of fill(step.each ?? [undefined], this.#options.variables)) {
        this.#options.variables.set('each', each);
        const answer = await this.#attempt(step);
        recorded.push(answer);
        if (answer.status < 0) return recorded;
      }
    }
    return recorded;
  }

  [Symbol.dispose](): void {
    for (const { stream } of this.#watches.values()) stream.close();
  }

  async #attempt(template: Step): Promise<Recorded> {
    try {
      const { each: _each, ...rest } = template;
      const step = fill(rest, this.#options.variables);
      const answer = await this.#answerTo(step);
      const failure = unmet(answer, step.expect ?? {}).join('; ');
      this.#save(step, answer);
      return { ...answer, step, ...(failure !== '' && { failure: `expected otherwise: ${failure}` }) };
    } catch (error) {
      const label = template.do ?? JSON.stringify(template.collect ?? template.calls);
      return { label, step: template, status: -1, headers: {}, body: undefined, failure: messageOf(error) };
    }
  }

  #answerTo(step: Step): Promise<Recorded> {
    if (step.collect !== undefined) return this.#collect(step, step.collect);
    if (step.calls !== undefined) return this.#calls(step, step.calls);
    if (step.watch !== undefined) return this.#openWatch(step, step.watch);
    return step.until === undefined ? this.#send(step) : this.#poll(step, step.until);
  }

  async #send(step: Step): Promise<Recorded> {
    const request = requestOf(step);
    const answer = await this.#options.peer.client(step.as ?? clientFor(step)).send(request);
    return { label: `${request.method} ${request.path}`, step, ...readable(answer) };
  }

  async #poll(step: Step, conditions: Readonly<Record<string, unknown>>): Promise<Recorded> {
    const startedMs = performance.now();
    for (;;) {
      const answer = await this.#send(step);
      const missing = unmet(answer, conditions);
      if (missing.length === 0) return answer;
      const elapsedMs = performance.now() - startedMs;
      if (elapsedMs > UNTIL_TIMEOUT_MS) {
        throw new Error(`waited in vain: ${missing.join('; ')} in ${JSON.stringify(answer.body)}`);
      }
      await sleep(elapsedMs < 1000 ? POLL_MS : MANY_POLLS_MS);
    }
  }

  async #openWatch(step: Step, name: string): Promise<Recorded> {
    const request = requestOf(step);
    const stream = await this.#options.peer.client(step.as ?? clientFor(step)).open(request);
    this.#watches.set(name, { stream, taken: 0 });
    return { label: `${request.method} ${request.path}`, step, ...readable(stream.head) };
  }

  async #collect(
    step: Step,
    { watch: name, events, end = false }: NonNullable<Step['collect']>,
  ): Promise<Recorded> {
    const watch = this.#watches.get(name);
    if (watch === undefined) throw new Error(`no watch is called ${name}`);
    const { stream } = watch;
    const wanted = events === undefined ? Number.POSITIVE_INFINITY : watch.taken + events;
    const isDone = () => stream.hasEnded() || (!end && stream.lines.length >= wanted);
    const startedMs = performance.now();
    while (!isDone() && performance.now() - startedMs < COLLECT_TIMEOUT_MS) await sleep(POLL_MS);
    const lines = stream.lines.slice(watch.taken, end ? undefined : wanted);
    watch.taken += lines.length;
    const body = { events: lines.map(parseJson), ...(end && { ended: stream.hasEnded() }) };
    return { label: `events of watch ${name}`, step, status: 200, headers: {}, body };
  }

  async #calls(step: Step, { hook, last }: NonNullable<Step['calls']>): Promise<Recorded> {
    const path = `${this.#options.hookPath}/${hook}`;
    const body = this.#options.webhooks.calls(path).slice(-last);
    return { label: `calls of webhook ${hook}`, step, status: 200, headers: {}, body };
  }

  #save({ save = {} }: Step, answer: Recorded): void {
    for (const [name, path] of Object.entries(save)) {
      const value = foundAt(answer, path);
      if (value === undefined) throw new Error(`${path} is not in ${JSON.stringify(answer.body)}`);
      this.#options.variables.set(name, value);
    }
  }
}

/** A token is sent without a certificate, which would win. */
const clientFor = ({ token }: Step): string => (token === undefined ? 'admin' : 'anonymous');

function requestOf(step: Step): RawRequest {
  const [method = '', path = ''] = (step.do ?? '').split(/ (.*)/s);
  const query = new URLSearchParams(step.query).toString();
  const joint = path.includes('?') ? '&' : '?';
  return {
    method,
    path: query === '' ? path : `${path}${joint}${query}`,
    headers: { ...contentType(step), ...authorization(step), ...lowerCase(step.headers) },
    body: bodyOf(step),
  };
}

const lowerCase = (headers: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const authorization = ({ token }: Step): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

function contentType({ type, body, protobuf, filler }: Step): Record<string, string> {
  if (type !== undefined) return { 'content-type': PATCH_TYPES[type] };
  if (protobuf !== undefined) return { 'content-type': 'application/vnd.kubernetes.protobuf' };
  return body === undefined && filler === undefined ? {} : { 'content-type': 'application/json' };
}

function bodyOf({ body, text, filler, protobuf }: Step): string | Buffer | undefined {
  if (protobuf !== undefined) return protobufBody(protobuf);
  if (text !== undefined) return text;
  if (filler === undefined) return body === undefined ? undefined : JSON.stringify(body);
  return `${filler.head}${'x'.repeat(filler.bytes - filler.head.length - filler.tail.length)}${filler.tail}`;
}
