import type { Clock } from '../../base/clock.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { parseServerUrl } from './cluster-section.ts';
import {
  type AuthorizationSource,
  credentialsOf,
  fixedCertificate,
  tokenAuthorization,
  tokenFunctionAuthorization,
  tokenProblem,
} from './credential-parts.ts';
import { authorityProblem, clientCertificateProblems } from './pem.ts';
import { ProblemList } from './problem-list.ts';

/** An API server as a program names it itself. PEM as text or bytes. */
export interface ExplicitAccess {
  readonly url: string;
  readonly ca?: string | Uint8Array;
  /** A function is asked before every request. */
  readonly token?: string | (() => Promise<string>);
  readonly cert?: string | Uint8Array;
  readonly key?: string | Uint8Array;
  /** Take any certificate of the server; never together with `ca`. */
  readonly insecure?: boolean;
}

const textOf = (pem: string | Uint8Array | undefined): string | undefined =>
  pem === undefined || typeof pem === 'string' ? pem : Buffer.from(pem).toString('utf8');

/** What is wrong with an explicit access, field by field. */
export function explicitAccessProblems(access: ExplicitAccess, clock: Clock, problems: ProblemList): void {
  const { url, ca, token, insecure = false } = access;
  const server = parseServerUrl(url);
  if (typeof server === 'string') problems.add(`url: ${server}`);
  const authority = ca === undefined ? undefined : authorityProblem(textOf(ca) ?? '', clock.now());
  if (authority !== undefined) problems.add(`ca: ${authority}`);
  if (insecure && ca !== undefined) problems.add('insecure: found true together with ca; remove one of them');
  const wrongToken = typeof token === 'string' ? tokenProblem(token) : undefined;
  if (wrongToken !== undefined) problems.add(`token: ${wrongToken}`);
  addPairProblems(access, clock, problems);
}

function addPairProblems({ cert, key }: ExplicitAccess, clock: Clock, problems: ProblemList): void {
  const certPem = textOf(cert);
  const keyPem = textOf(key);
  if (certPem === undefined && keyPem === undefined) return;
  if (certPem === undefined || keyPem === undefined) {
    problems.add('cert and key: only one is there; both are needed');
    return;
  }
  for (const { part, problem } of clientCertificateProblems({ certPem, keyPem }, clock.now())) {
    problems.add(`${part === 'key' ? 'key' : 'cert'}: ${problem}`);
  }
}

/** Throws `InvalidKubeconfig` with all problems when it cannot be used (C8). */
export function accessFromObject(access: ExplicitAccess, clock: Clock): ClusterAccess {
  const problems = new ProblemList();
  explicitAccessProblems(access, clock, problems);
  const server = parseServerUrl(access.url);
  if (typeof server === 'string' || !problems.isEmpty) {
    throw problems.error('InvalidKubeconfig', 'the access to the API server');
  }
  const ca = textOf(access.ca);
  const certPem = textOf(access.cert);
  const keyPem = textOf(access.key);
  const authorization = authorizationOf(access.token);
  return {
    server,
    ...(ca !== undefined && { ca: () => Promise.resolve(ca) }),
    insecureSkipTlsVerify: access.insecure ?? false,
    disableCompression: false,
    credentials: credentialsOf({
      ...(authorization !== undefined && { authorization }),
      ...(certPem !== undefined && keyPem !== undefined && { certificate: fixedCertificate({ certPem, keyPem }) }),
    }),
    source: `the access given for ${server.host}`,
  };
}

function authorizationOf(token: ExplicitAccess['token']): AuthorizationSource | undefined {
  if (token === undefined) return undefined;
  return typeof token === 'string' ? tokenAuthorization(token) : tokenFunctionAuthorization(token);
}
