import type { ApiRequest, ApiResponse } from './request.ts';
import { textAnswer } from './rest/answers.ts';

/** One thing that must be well; a text says what is wrong. */
export interface HealthCheck {
  readonly name: string;
  problem(): string | undefined;
}

const ROOTS = new Set(['healthz', 'livez', 'readyz']);

/** `/healthz`, `/livez`, `/readyz` and their single checks (D9). */
export class Health {
  readonly #checks: Readonly<Record<string, readonly HealthCheck[]>>;

  constructor(live: readonly HealthCheck[], ready: readonly HealthCheck[]) {
    this.#checks = { healthz: live, livez: live, readyz: [...live, ...ready] };
  }

  answer({ query }: ApiRequest, path: string): ApiResponse | undefined {
    const [root = '', name, ...more] = path.split('/').filter((segment) => segment !== '');
    if (!ROOTS.has(root) || more.length > 0) return undefined;
    const checks = this.#checks[root] ?? [];
    if (name !== undefined) {
      const check = checks.find((candidate) => candidate.name === name);
      return check === undefined ? undefined : single(check);
    }
    const excluded = new Set(query.getAll('exclude'));
    return report(root, checks, { excluded, isVerbose: query.has('verbose') });
  }
}

function single(check: HealthCheck): ApiResponse {
  const problem = check.problem();
  return problem === undefined ? SINGLE_OK : textAnswer(500, `internal server error: ${problem}\n`);
}

/** A single check says `ok` without the header that every other text has. */
const SINGLE_OK: ApiResponse = {
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache, private' },
  body: [Buffer.from('ok')],
};

interface Asked {
  readonly excluded: ReadonlySet<string>;
  readonly isVerbose: boolean;
}

function report(root: string, checks: readonly HealthCheck[], { excluded, isVerbose }: Asked): ApiResponse {
  const results = checks.map((check) => {
    if (excluded.has(check.name)) return { isWell: true, line: `[+]${check.name} excluded: ok` };
    const problem = check.problem();
    return problem === undefined
      ? { isWell: true, line: `[+]${check.name} ok` }
      : { isWell: false, line: `[-]${check.name} failed: ${problem}` };
  });
  const isWell = results.every((result) => result.isWell);
  if (isWell && !isVerbose) return textAnswer(200, 'ok');
  const lines = results.map(({ line }) => line).join('\n');
  return textAnswer(isWell ? 200 : 500, `${lines}\n${root} check ${isWell ? 'passed' : 'failed'}\n`);
}
