import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { redactedText } from '../../base/redaction.ts';
import type { Serve, ServedResponse } from '../serving/https-listener.ts';

/** Throws, or rejects, when what it looks at is not well; the message is shown at the path of this check only. */
export type HealthCheck = () => void | Promise<void>;

/** Named checks of one endpoint. Sources are asked at each request: what there is to check changes while caches fill. */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #sources: (() => ReadonlyMap<string, HealthCheck>)[] = [];

  /** Throws when the name is taken: the second check would hide the first. */
  add(name: string, check: HealthCheck): void {
    if (this.#checks.has(name)) throw new Error(`there is a health check "${name}" already`);
    this.#checks.set(name, check);
  }

  addSource(checks: () => ReadonlyMap<string, HealthCheck>): void {
    this.#sources.push(checks);
  }

  get all(): ReadonlyMap<string, HealthCheck> {
    return new Map([...this.#sources.flatMap((source) => [...source()]), ...this.#checks]);
  }
}

const OK: HealthCheck = () => {};

interface CheckResult {
  readonly name: string;
  readonly state: 'ok' | 'failed' | 'excluded';
}

/** Answers `/healthz`, `/readyz` and one path per check below them (M6). Anybody may ask, so reasons stay inside. */
export function serveHealth(endpoints: ReadonlyMap<string, HealthChecks>, log: Log): Serve {
  const told = new Map<string, string>();
  return async ({ method, path, query }) => {
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' }, body: '' };
    const [, endpoint = '', ...rest] = path.replace(/\/+$/, '').split('/');
    const checks = endpoints.get(endpoint)?.all;
    if (checks === undefined) return NOT_FOUND;
    const named = checks.size === 0 ? new Map([['ping', OK]]) : checks;
    if (rest.length > 0) return single(named.get(rest.join('/')));
    const excluded = new Set(query.getAll('exclude'));
    const results = await Promise.all(
      [...named].map((entry) => resultOf(entry, excluded, { endpoint, told, log })),
    );
    const unknown = [...excluded].filter((name) => !named.has(name));
    return summary(endpoint, results, { unknown, isVerbose: query.has('verbose') });
  };
}

const NOT_FOUND: ServedResponse = { status: 404, body: '404 page not found\n' };

async function single(check: HealthCheck | undefined): Promise<ServedResponse> {
  if (check === undefined) return NOT_FOUND;
  try {
    await check();
    return { status: 200, body: 'ok' };
  } catch (thrown) {
    return { status: 500, body: `internal server error: ${redactedText(messageOf(thrown))}\n` };
  }
}

interface Told {
  readonly endpoint: string;
  /** The last failure of each check, so that a probe every second is no line every second. */
  readonly told: Map<string, string>;
  readonly log: Log;
}

async function resultOf(
  [name, check]: readonly [string, HealthCheck],
  excluded: ReadonlySet<string>,
  { endpoint, told, log }: Told,
): Promise<CheckResult> {
  if (excluded.has(name)) return { name, state: 'excluded' };
  const key = `${endpoint}/${name}`;
  try {
    await check();
    told.delete(key);
    return { name, state: 'ok' };
  } catch (thrown) {
    const reason = messageOf(thrown);
    if (told.get(key) !== reason) log.warn({ check: key, reason }, 'Health check failed');
    told.set(key, reason);
    return { name, state: 'failed' };
  }
}

const LINES: Readonly<Record<CheckResult['state'], (name: string) => string>> = {
  ok: (name) => `[+]${name} ok\n`,
  excluded: (name) => `[+]${name} excluded: ok\n`,
  failed: (name) => `[-]${name} failed: reason withheld\n`,
};

/** The text that Kubernetes components answer with; people and scripts read it. */
function summary(
  endpoint: string,
  results: readonly CheckResult[],
  { unknown, isVerbose }: { readonly unknown: readonly string[]; readonly isVerbose: boolean },
): ServedResponse {
  const hasFailed = results.some(({ state }) => state === 'failed');
  if (!hasFailed && !isVerbose) return { status: 200, body: 'ok' };
  const sorted = results.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const lines = sorted.map(({ name, state }) => LINES[state](name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}\n`);
  }
  lines.push(`${endpoint} check ${hasFailed ? 'failed' : 'passed'}\n`);
  return { status: hasFailed ? 500 : 200, body: lines.join('') };
}
