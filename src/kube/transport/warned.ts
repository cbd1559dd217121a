import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** N7: the same text about the same resource is logged again after this. */
const QUIET_MS = 3_600_000;
/** Warnings that are remembered; beyond, the oldest is forgotten and might be logged twice. */
const MAX_REMEMBERED = 1000;

/** Gets each warning as it comes, and what it was about: `apps/v1 deployments`, or a path. */
export type WarningHook = (text: string, about: string) => void;

interface WarnOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly onWarning?: WarningHook;
}

/** Logs what the server warns of, once per text and resource in an hour (N7). Changes nothing about the answers. */
export function warned(transport: Transport, { clock, log, onWarning }: WarnOptions): Transport {
  const remembered = new Map<string, number>();
  const isNews = (key: string): boolean => {
    const now = clock.monotonicMs();
    const loggedMs = remembered.get(key);
    if (loggedMs !== undefined && now - loggedMs < QUIET_MS) return false;
    remembered.delete(key);
    remembered.set(key, now);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    return true;
  };
  return async (request) => {
    const answer = await transport(request);
    for (const text of warningsOf(answer.headers['warning'])) {
      const about = resourceOf(request);
      if (isNews(`${about}\n${text}`)) log.warn({ warning: text, resource: about }, 'The API server warns');
      try {
        onWarning?.(text, about);
      } catch (err) {
        // The request has its answer, and a write has happened.
        log.error({ err, resource: about }, 'A hook for warnings failed');
      }
    }
    return answer;
  };
}

/** `299 - "text"`, perhaps several, perhaps with a date (RFC 9111 as Kubernetes uses it). */
const WARNING = /(\d{3}) [^\s",]+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;
const MISCELLANEOUS = '299';

/** The texts of a `Warning` header; what is no warning of this form is skipped. */
export function warningsOf(header: TransportResponse['headers'][string]): readonly string[] {
  if (header === undefined) return [];
  const lines = typeof header === 'string' ? [header] : header;
  return lines
    .flatMap((line) => [...line.matchAll(WARNING)])
    .filter(([, code, text]) => code === MISCELLANEOUS && text !== '')
    .map(([, , text = '']) => text.replace(/\\(.)/g, '$1'));
}

/** `apps/v1 deployments` of `/apis/apps/v1/namespaces/a/deployments/b?x=y`; the path of anything else. */
export function resourceOf({ target }: Pick<TransportRequest, 'target'>): string {
  const path = target.split('?', 1)[0] ?? '';
  const [, version, rest] = /^\/(?:api|apis\/[^/]+)\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (version === undefined || rest === undefined) return path;
  const group = path.startsWith('/apis/') ? `${path.split('/')[2]}/` : '';
  const parts = rest.split('/');
  const plural = parts[0] === 'namespaces' && parts.length > 2 ? parts[2] : parts[0];
  return `${group}${version} ${plural}`;
}
