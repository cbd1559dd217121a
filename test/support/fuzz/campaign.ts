import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Access, ApiClient } from '../api-client.ts';
import { Attacker } from './attacker.ts';
import {
  COLLECTIONS,
  FUZZED,
  type FuzzRequest,
  JSON_TYPE,
  KEPT,
  KINDS,
  objectNamed,
  TARGET_DEFINITION,
} from './request.ts';
import { problemOf } from './verdict.ts';

const BATCH = 400;
const AT_ONCE = 24;
const LONGEST_REPORT = 25;

export interface CampaignReport {
  readonly sent: number;
  /** How many answers had which code; 0 is a closed connection. */
  readonly codes: Readonly<Record<number, number>>;
  readonly problems: readonly string[];
  readonly slowest: readonly string[];
  readonly loopDelayP99Ms: number;
}

/** Namespaces, the objects that are attacked and those that must stay as they are. */
export async function prepareTargets(client: ApiClient): Promise<void> {
  await post(client, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', TARGET_DEFINITION);
  await served(client, COLLECTIONS.Target);
  for (const name of [FUZZED, KEPT]) {
    await post(client, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await served(client, `/api/v1/namespaces/${name}/serviceaccounts/default`);
  }
  for (const kind of KINDS) {
    await post(client, COLLECTIONS[kind], objectNamed(kind, 'target'));
    await post(client, kept(COLLECTIONS[kind]), { ...objectNamed(kind, 'canary'), metadata: { name: 'canary' } });
  }
}

const kept = (collection: string): string => collection.replace(`/${FUZZED}/`, `/${KEPT}/`);

async function post(client: ApiClient, path: string, object: unknown): Promise<void> {
  const { status, body } = await client.send({
    method: 'POST',
    path,
    headers: JSON_TYPE,
    body: JSON.stringify(object),
  });
  assert.equal(status, 201, `${path}: ${body.toString('utf8')}`);
}

/** Upstream needs a moment until a definition is served and a namespace has its account. */
async function served(client: ApiClient, path: string): Promise<void> {
  for (const startedMs = performance.now(); ; ) {
    const { status } = await client.send({ method: 'GET', path });
    if (status === 200) return;
    assert.ok(performance.now() - startedMs < 30_000, `${path} answers ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Everything that no attack may change: the canaries, and what JavaScript objects inherit. */
async function untouched(client: ApiClient): Promise<string> {
  const bodies = await Promise.all(
    KINDS.map(async (kind) => {
      const { status, body } = await client.send({ method: 'GET', path: `${kept(COLLECTIONS[kind])}/canary` });
      return `${status} ${body.toString('utf8')}`;
    }),
  );
  return [...bodies, ...inherited()].join('\n');
}

const inherited = (): readonly string[] =>
  [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype, Map.prototype].map(
    (prototype) => Reflect.ownKeys(prototype).map(String).sort().join(','),
  );

/** Sends all of them, a batch at a time, and looks after each batch whether everything is still as it was. */
export async function runCampaign(access: Access, requests: readonly FuzzRequest[]): Promise<CampaignReport> {
  using client = new ApiClient(access);
  using attacker = new Attacker(access);
  const before = await untouched(client);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const codes: Record<number, number> = {};
  const problems: string[] = [];
  const times: { readonly request: FuzzRequest; readonly ms: number }[] = [];
  for (let start = 0; start < requests.length; start += BATCH) {
    const batch = requests.slice(start, start + BATCH).values();
    const work = async (): Promise<void> => {
      for (const request of batch) {
        const outcome = await attacker.send(request);
        codes[outcome.status] = (codes[outcome.status] ?? 0) + 1;
        times.push({ request, ms: outcome.tookMs });
        const problem = problemOf(request, outcome);
        if (problem !== undefined) problems.push(`${textOf(request)}\n  ${problem}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if ((await untouched(client)) !== before) {
      problems.push(`requests ${start} to ${start + BATCH} changed what they must not change`);
      break;
    }
  }
  delay.disable();
  const slowest = times.sort((a, b) => b.ms - a.ms).slice(0, 8);
  return {
    sent: times.length,
    codes,
    problems: problems.slice(0, LONGEST_REPORT),
    slowest: slowest.map(({ request, ms }) => `${Math.round(ms)} ms: ${textOf(request).slice(0, 160)}`),
    loopDelayP99Ms: delay.percentile(99) / 1e6,
  };
}

/** Enough of a request to send it again. */
export function textOf({ attack, method, path, headers, body, raw }: FuzzRequest): string {
  if (raw !== undefined) return `${attack}: ${JSON.stringify(raw.toString('latin1').slice(0, 300))}`;
  const shown =
    body === undefined ? '' : ` ${JSON.stringify(body.toString('latin1').slice(0, 400))} (${body.length} bytes)`;
  return `${attack}: ${method} ${path.slice(0, 300)} ${JSON.stringify(headers ?? {}).slice(0, 300)}${shown}`;
}
