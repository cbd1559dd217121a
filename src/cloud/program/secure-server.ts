import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { JsonObject } from '../../api/json.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf, userError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Writer } from '../../kube/client/kube-client.ts';
import { type HealthChecks, serveHealth } from '../../kube/manager/health-checks.ts';
import { ServedPart } from '../../kube/manager/served-part.ts';
import type { Metrics } from '../../kube/metrics/metrics.ts';
import { serveMetrics } from '../../kube/metrics/metrics-endpoint.ts';
import { reviewGate } from '../../kube/metrics/scrape-gate.ts';
import {
  type CertificateSource,
  certificateDirectory,
  selfSignedCertificate,
} from '../../kube/serving/certificate-source.ts';
import type { ListenerTls, Serve, ServedRequest, ServedResponse } from '../../kube/serving/https-listener.ts';
import type { ClientAuthority } from './client-authority.ts';
import { PROFILES_PATH, serveProfiles } from './profiles.ts';
import type { SecureSettings } from './settings.ts';
import type { NamedCertificateFiles } from './tls-settings.ts';

/** What the ports of the program tell about it. */
export interface ServedFacts {
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
  readonly metrics: Metrics;
  readonly config: JsonObject;
  readonly clock: Clock;
  readonly log: Log;
}

/** Who is asked about those who come in. */
export interface SecureGuards {
  readonly authenticator: Pick<Writer, 'create'>;
  readonly authorizer: Pick<Writer, 'create'>;
  readonly authority: Pick<ClientAuthority, 'userOf'>;
}

/** Upstream remembers answers of the API server for so long, granted or not (P11). */
const KEEP_MS = 10_000;
const PAIR_NAME = 'cloud-controller-manager';
const MASTERS = 'system:masters';
const REFUSALS: Readonly<Record<401 | 403 | 500, string>> = {
  401: 'Unauthorized\n',
  403: 'Forbidden\n',
  500: 'Authorization failed\n',
};

/** The secure port as a part of a manager. Rejects when a certificate cannot be read. */
export async function secureServer(
  settings: SecureSettings,
  facts: ServedFacts,
  guards: SecureGuards,
): Promise<ServedPart> {
  const { port, host, tls } = settings;
  const options: ListenerTls = {
    certificates: certificatesOf(settings, facts),
    asksForCertificate: true,
    minVersion: tls.minVersion,
    ...(tls.ciphers !== undefined && { ciphers: tls.ciphers }),
    named: await Promise.all(tls.named.map(namedCertificate)),
  };
  const { clock, log } = facts;
  const serve = guarded(serveFacts(facts, settings.profiling), settings, { ...guards, clock, log });
  const bind = { host, port };
  return new ServedPart({ name: 'secure', bind, setting: '--secure-port', tls: options, clock, log, serve });
}

/** Deprecated: health and nothing else, for probes without TLS (P6). */
export function plainServer(
  { port, host }: { readonly port: number; readonly host: string },
  { healthz, clock, log }: Pick<ServedFacts, 'healthz' | 'clock' | 'log'>,
): ServedPart {
  const serve = serveHealth(new Map([['healthz', healthz]]), log);
  return new ServedPart({ name: 'plain health', bind: { host, port }, clock, log, serve });
}

function serveFacts(facts: ServedFacts, hasProfiles: boolean): Serve {
  const { healthz, readyz, metrics, config, clock, log } = facts;
  const health = serveHealth(
    new Map([
      ['healthz', healthz],
      ['livez', healthz],
      ['readyz', readyz],
    ]),
    log,
  );
  const counted = serveMetrics(metrics);
  const profiles = serveProfiles(clock);
  return (request) => {
    const { path } = request;
    if (path === '/metrics') return counted(request);
    if (path === '/configz') return Promise.resolve(configAnswer(config));
    if (hasProfiles && `${path}/`.startsWith(PROFILES_PATH)) return profiles(request);
    return health(request);
  };
}

const configAnswer = (config: JsonObject): ServedResponse => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(config),
});

interface Gate extends SecureGuards {
  readonly clock: Clock;
  readonly log: Log;
}

/** Only what is said to be for everybody is answered without knowing who asks and whether he may (P11). */
function guarded(
  serve: Serve,
  { alwaysAllowPaths }: Pick<SecureSettings, 'alwaysAllowPaths'>,
  { authenticator, authorizer, authority, clock, log }: Gate,
): Serve {
  const gate = reviewGate({
    client: authenticator,
    authorizer,
    trustedGroups: [MASTERS],
    keepMs: KEEP_MS,
    clock,
    log,
  });
  return async (request) => {
    const { path, method, headers } = request;
    if (alwaysAllowPaths.some((pattern) => isCovered(path, pattern))) return serve(request);
    const user = knownBy(request, authority);
    const status = await gate({ authorization: headers.authorization, path, method, ...user });
    return status === 200 ? serve(request) : { status, body: REFUSALS[status] };
  };
}

function knownBy({ certificate }: ServedRequest, authority: Gate['authority']) {
  const user = certificate === undefined ? undefined : authority.userOf(certificate);
  return user === undefined ? {} : { user };
}

const isCovered = (path: string, pattern: string): boolean =>
  pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;

/** Of the files that were named, of the folder, or one that nobody else has (P11). */
function certificatesOf(settings: SecureSettings, { clock, log }: ServedFacts): CertificateSource {
  const { certFile, keyFile, certDir } = settings;
  if (certFile !== '') {
    const [cert, key] = [resolve(certFile), resolve(keyFile)];
    // Joined with the root, an absolute path stays what it is; one folder is watched, two are looked at.
    const directory = dirname(cert) === dirname(key) ? dirname(cert) : '/';
    const relative = (file: string) => (directory === '/' ? file : file.slice(directory.length + 1));
    return certificateDirectory({
      directory,
      certificateFile: relative(cert),
      keyFile: relative(key),
      clock,
      log,
    });
  }
  const pair = { certificateFile: `${PAIR_NAME}.crt`, keyFile: `${PAIR_NAME}.key` };
  const isThere = Object.values(pair).every((file) => existsSync(resolve(certDir, file)));
  if (certDir === '' || !isThere) return selfSignedCertificate({ clock });
  return certificateDirectory({ directory: resolve(certDir), ...pair, clock, log });
}

async function namedCertificate({ certFile, keyFile, names }: NamedCertificateFiles) {
  try {
    const [certificatePem, keyPem] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
    return { certificatePem, keyPem, names: names.length > 0 ? names : namesIn(certificatePem) };
  } catch (cause) {
    throw userError('CertificateUnreadable', `--tls-sni-cert-key: ${messageOf(cause)}`, { cause });
  }
}

const namesIn = (pem: string): readonly string[] =>
  [...(new X509Certificate(pem).subjectAltName ?? '').matchAll(/DNS:([^,\s]+)/g)].flatMap(
    ([, name]) => name ?? [],
  );
