import { SystemClock } from '../../base/clock.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../object/names.ts';
import { isRecord } from '../../object/record.ts';
import { explicitAccessProblems } from './explicit-access.ts';
import { ProblemList } from './problem-list.ts';
import type { RuntimeConfig } from './runtime-config.ts';

/** What Kubernetes' own components use. */
const LEASE_MS = 15_000;
const RENEW_MS = 10_000;
const RETRY_MS = 2000;
/** A retry may come this much later than asked for. */
const RETRY_JITTER = 1.2;

/** As `--graceful-shutdown-timeout=-1s` is read, and as controller-runtime has it. */
const FOR_EVER = -1;

/** Says what is wrong with a value: what is allowed instead; undefined when nothing is. */
type Check = (value: unknown) => string | undefined;
type Section = { readonly [key: string]: Check | Section };

const when =
  (isRight: (value: unknown) => boolean, allowed: string): Check =>
  (value) =>
    value === undefined || isRight(value) ? undefined : allowed;

const required =
  (check: Check, allowed: string): Check =>
  (value) =>
    value === undefined ? allowed : check(value);
const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const flag = when((value) => typeof value === 'boolean', 'true or false');
const duration = when((value) => isNumber(value) && value >= 0, 'a number of milliseconds, 0 or more');
const grace = when(
  (value) => isNumber(value) && (value >= 0 || value === FOR_EVER),
  `a number of milliseconds, 0 or more, or ${FOR_EVER} to wait for ever`,
);
const positiveMs = when((value) => isNumber(value) && value > 0, 'a number of milliseconds above 0');
const count = when((value) => Number.isSafeInteger(value) && Number(value) >= 1, 'a whole number from 1');
const port = when(
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  'a port from 0 to 65535',
);
const text = when((value) => isText(value) && value !== '', 'text that is not empty');
const label = when(
  (value) => isText(value) && dnsLabelProblems(value).length === 0,
  'a name of a-z, 0-9 and "-", 63 characters at most',
);
const subdomain = when(
  (value) => isText(value) && dnsSubdomainProblems(value).length === 0,
  'a name of a-z, 0-9, "-" and ".", 253 characters at most',
);
const manager = when(
  (value) => isText(value) && /^[\x20-\x7e]{1,128}$/.test(value),
  '1 to 128 printable characters',
);
const bind = when((value) => isText(value) && isBind(value), '"host:port", ":port", or "0" for none');
const consistency = when((value) => value === 'own-writes' || value === 'eventual', '"own-writes" or "eventual"');
const anything: Check = () => undefined;
const record = (values: Check, allowed: string): Check =>
  when((value) => isRecord(value) && Object.values(value).every((item) => values(item) === undefined), allowed);
const labels: Check = when(
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    new Set(value).size === value.length &&
    value.every((item) => label(item) === undefined),
  'a list of different namespaces, at least one (leave it out for all)',
);

function isBind(value: string): boolean {
  const [, host, digits] = /^(|\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):(\d{1,5})$/.exec(value) ?? [];
  return value === '0' || (host !== undefined && Number(digits) <= 65_535);
}

const SECTIONS: Section = {
  kube: anything,
  fieldManager: manager,
  namespaces: labels,
  leaderElection: {
    id: required(subdomain, 'the name of a Lease'),
    namespace: label,
    leaseMs: positiveMs,
    renewMs: positiveMs,
    retryMs: positiveMs,
    release: flag,
  },
  health: { bind: required(bind, '"host:port"') },
  metrics: {
    bind: required(bind, '"host:port"'),
    secure: flag,
    auth: flag,
    certDir: text,
    tls: { minVersion: text, ciphers: text },
  },
  webhook: {
    port,
    host: text,
    certDir: text,
    clientCA: text,
    selfSigned: {
      secretName: required(subdomain, 'the name of a Secret'),
      service: required(label, 'the name of a Service'),
    },
  },
  gracefulShutdownMs: grace,
  cache: {
    resyncMs: duration,
    keepManagedFields: flag,
    byKind: record(when(isRecord, 'options'), 'options by resource, such as { "deployments.apps": { … } }'),
    consistency,
  },
  controllers: {
    maxConcurrent: count,
    byGroupKind: record(count, 'whole numbers from 1 by kind, such as { "Deployment.apps": 4 }'),
    cacheSyncTimeoutMs: positiveMs,
  },
  log: anything,
  clock: anything,
  signal: when((value) => value instanceof AbortSignal, 'an AbortSignal'),
};

/** Throws one `InvalidConfiguration` that lists every problem (C8); so nothing of it fails at first use. */
export function validateRuntimeConfig(config: RuntimeConfig): void {
  const problems = new ProblemList();
  checkSection(config, SECTIONS, '', problems);
  checkKube(config, problems);
  checkElection(config, problems);
  checkCertificates(config, problems);
  if (!problems.isEmpty) throw problems.error('InvalidConfiguration', 'the configuration');
}

function checkSection(value: object, section: Section, path: string, problems: ProblemList): void {
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(section, key)) {
      problems.add(`${path}${key}: is not known; allowed are ${Object.keys(section).join(', ')}`);
    }
  }
  const fields = Object.entries(value);
  for (const [key, check] of Object.entries(section)) {
    const found: unknown = fields.find(([name]) => name === key)?.[1];
    checkField(found, check, `${path}${key}`, problems);
  }
}

function checkField(found: unknown, check: Check | Section, path: string, problems: ProblemList): void {
  if (typeof check === 'function') {
    const allowed = check(found);
    if (allowed !== undefined) problems.add(`${path}: found ${shown(found)}, but it must be ${allowed}`);
    return;
  }
  if (found === undefined || (found === false && path === 'leaderElection')) return;
  if (isRecord(found)) return checkSection(found, check, `${path}.`, problems);
  problems.add(`${path}: found ${shown(found)}, but it must be an object with ${Object.keys(check).join(', ')}`);
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  return (
    JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item)) ?? 'nothing'
  ).slice(0, 80);
}

function checkKube({ kube, clock = new SystemClock() }: RuntimeConfig, problems: ProblemList): void {
  if (kube === undefined || typeof kube === 'function') return;
  const isObject = typeof kube === 'object' && kube !== null;
  if (isObject && 'credentials' in kube) return;
  if (!isObject || !isText(kube.url)) {
    problems.add('kube: must be a transport, what loadKubeconfig gave, or an object with url');
    return;
  }
  const own = new ProblemList();
  explicitAccessProblems(kube, clock, own);
  for (const problem of own.all) problems.add(`kube.${problem}`);
}

/** The order that makes two leaders impossible: who cannot renew gives up before the lease ends for others. */
function checkElection({ leaderElection }: RuntimeConfig, problems: ProblemList): void {
  if (typeof leaderElection !== 'object' || leaderElection === null) return;
  const { leaseMs = LEASE_MS, renewMs = RENEW_MS, retryMs = RETRY_MS } = leaderElection;
  const slowestRetryMs = retryMs * RETRY_JITTER;
  if (leaseMs <= renewMs) {
    problems.add(`leaderElection.leaseMs: found ${leaseMs}, but it must be above renewMs (${renewMs})`);
  }
  if (renewMs <= slowestRetryMs) {
    const least = `${RETRY_JITTER} × retryMs (${slowestRetryMs})`;
    problems.add(`leaderElection.renewMs: found ${renewMs}, but it must be above ${least}`);
  }
}

function checkCertificates({ webhook }: RuntimeConfig, problems: ProblemList): void {
  if (webhook?.certDir !== undefined && webhook.selfSigned !== undefined) {
    problems.add('webhook.selfSigned: certDir is there too; the certificate comes from one of them');
  }
}
