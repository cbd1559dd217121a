import { randomBytes } from 'node:crypto';
import type { Case, CaseFile, Step } from './case-file.ts';
import { Player } from './player.ts';
import type { Peer, ServerPair } from './server-pair.ts';
import { compareSides, type Side, type StepResult } from './step-result.ts';
import type { Variables } from './variables.ts';
import { type Behaviour, WebhookServer } from './webhook-server.ts';

/** Makes a namespace that no other case uses. */
const MAKE_NAMESPACE: Step = {
  do: 'POST /api/v1/namespaces',
  body: { metadata: { name: '${ns}' } },
};
const WAIT_FOR_ACCOUNT: Step = {
  do: 'GET /api/v1/namespaces/${ns}/serviceaccounts/default',
  until: { http: 200 },
};
const WAIT_FOR_AUTHORITY: Step = {
  do: 'GET /api/v1/namespaces/${ns}/configmaps/kube-root-ca.crt',
  until: { http: 200 },
};

/** Plays cases to both servers of a pair. Names differ from run to run, so that servers can be used again. */
export class CaseRunner implements AsyncDisposable {
  readonly #pair: ServerPair;
  readonly #webhooks: WebhookServer;
  readonly #run = randomBytes(3).toString('hex');
  /** What the setup of each file saved, per server. */
  readonly #ofFile = new Map<string, Variables>();
  #started = 0;

  private constructor(pair: ServerPair, webhooks: WebhookServer) {
    this.#pair = pair;
    this.#webhooks = webhooks;
  }

  static async start(pair: ServerPair): Promise<CaseRunner> {
    return new CaseRunner(pair, await WebhookServer.start());
  }

  /** The steps of a file's setup, compared like those of a case. */
  setUp({ file, setup }: CaseFile): Promise<readonly StepResult[]> {
    return this.#onBoth(`setup-${file}`, file, { name: '', namespace: 'none', steps: setup });
  }

  run(of: CaseFile, one: Case): Promise<readonly StepResult[]> {
    return this.#onBoth(`c${++this.#started}`, of.file, one);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#webhooks[Symbol.asyncDispose]();
  }

  async #onBoth(word: string, file: string, one: Case): Promise<readonly StepResult[]> {
    const { upstream, ours, isControl } = this.#pair;
    const [left, right] = await Promise.all([
      this.#on(upstream, { word, file, one }),
      this.#on(ours, { word, file, one }),
    ]);
    return compareSides(left, right, isControl);
  }

  async #on(peer: Peer, { word, file, one }: { word: string; file: string; one: Case }): Promise<Side> {
    const id = `${word}-${this.#run}`;
    const hookPath = `/${peer.name}/${id}`;
    const webhookUrl = `${this.#webhooks.url}${hookPath}`;
    const variables: Variables = new Map<string, unknown>([
      ...(this.#ofFile.get(`${peer.name} ${file}`) ?? []),
      ['id', id],
      ['ns', id],
      ['core', `/api/v1/namespaces/${id}`],
      ['group', `${file}-${this.#run}.example.com`],
      ['own', `${id}.example.com`],
      ['webhooks', webhookUrl],
      ['authority', Buffer.from(this.#webhooks.authorityPem).toString('base64')],
    ]);
    for (const [name, behaviour] of Object.entries(one.webhooks ?? {})) {
      this.#webhooks.behave(`${hookPath}/${name}`, behaviour as Behaviour);
    }
    using player = new Player({ peer, webhooks: this.#webhooks, hookPath, variables });
    await prepare(player, one);
    const answers = await player.play(one.steps);
    if (word.startsWith('setup-')) this.#ofFile.set(`${peer.name} ${file}`, variables);
    return { answers, place: { url: peer.url, webhookUrl, nowMs: Date.now() } };
  }
}

async function prepare(player: Player, { namespace = 'bare' }: Case): Promise<void> {
  if (namespace === 'none') return;
  const waits = namespace === 'ready' ? [WAIT_FOR_ACCOUNT, WAIT_FOR_AUTHORITY] : [];
  const answers = await player.play([MAKE_NAMESPACE, ...waits]);
  const failed = answers.find(({ status }) => status < 200 || status > 299);
  if (failed !== undefined) throw new Error(`no namespace: ${failed.failure ?? JSON.stringify(failed.body)}`);
}
