import assert from 'node:assert/strict';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { ClusterRole, ClusterRoleBinding } from '../../src/api/generated/rbac-v1.ts';
import type { CcmLab } from './ccm-lab.ts';

/** One line of metrics. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SCRAPER = { namespace: 'default', name: 'scraper' };
const PORT = 10_258;
const WAIT_MS = 10_000;

/** What all pods of the program count under a name, asked for as somebody who may see just that (ccm P11). */
export async function metricsOf(world: CcmLab, name: string): Promise<readonly Sample[]> {
  const token = await scraperToken(world);
  const samples = (await world.pods()).map(async ({ status }) => {
    const url = new URL(world.lab.urlOf(status?.hostIP ?? '', PORT));
    return parsed(await fetched(url, token), name);
  });
  return (await Promise.all(samples)).flat();
}

async function scraperToken({ cluster: { client } }: CcmLab): Promise<string> {
  const metadata = { name: 'scraper' };
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'scraper' };
  await client.apply(ServiceAccount, { metadata: SCRAPER });
  await client.apply(ClusterRole, { metadata, rules });
  await client.apply(ClusterRoleBinding, {
    metadata,
    roleRef,
    subjects: [{ kind: 'ServiceAccount', ...SCRAPER }],
  });
  return (await client.createToken(SCRAPER)).token;
}

/** Its certificate is its own. */
function fetched({ hostname: host, port }: URL, token: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = {
    host,
    port,
    path: '/metrics',
    headers: { authorization: `Bearer ${token}` },
    rejectUnauthorized: false,
    signal: AbortSignal.timeout(WAIT_MS),
  };
  const asked = request(options, (answer) => {
    const body = text(answer);
    if (answer.statusCode === 200) body.then(resolve, reject);
    else body.then((said) => reject(new Error(`${answer.statusCode} ${said}`)), reject);
  });
  asked.on('error', reject);
  asked.end();
  return promise;
}

const parsed = (lines: string, name: string): readonly Sample[] =>
  lines
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => {
      const [, inside = '', value = ''] = /^[^{]*\{(.*)\} (\S+)$/.exec(line) ?? assert.fail(line);
      const pairs = [...inside.matchAll(/(\w+)="([^"]*)"/g)].map(
        ([, key = '', text = '']) => [key, text] as const,
      );
      return { labels: Object.fromEntries(pairs), value: Number(value) };
    });
