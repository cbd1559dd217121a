import type { JsonObject } from '../../object/json.ts';
import { CertificateFiles } from './certificate-files.ts';
import type { Credentials } from './cluster-access.ts';
import {
  type AuthorizationSource,
  basicAuthorization,
  type CertificateSource,
  type CredentialParts,
  credentialsOf,
  tokenAuthorization,
  tokenProblem,
} from './credential-parts.ts';
import { execSection } from './exec-section.ts';
import { unreadableText } from './file-text.ts';
import { headerProblem, type Impersonation, impersonationHeaders } from './impersonation.ts';
import type { Fields } from './kubeconfig-fields.ts';
import { oidcSection } from './oidc-section.ts';
import { clientCertificateProblems } from './pem.ts';
import { hasPemField, pemField } from './pem-field.ts';
import type { Surroundings } from './surroundings.ts';
import { tokenFileAuthorization, tokenOf } from './token-file.ts';

/**
 * Reads a user entry (C2). Of several ways to say who one is, kubectl's order holds: token file, token, password, then
 * plugin or OIDC; a client certificate goes with any of them but keeps a plugin from running.
 */
export async function userCredentials(
  fields: Fields,
  around: Surroundings,
  clusterInfo: () => Promise<JsonObject>,
): Promise<Credentials> {
  const certificate = await certificateSource(fields, around);
  const token = await tokenSource(fields, around);
  const password = passwordSource(fields);
  const fixed = token ?? password;
  const isCertificate = hasPemField(fields, 'client-certificate');
  const plugin = await pluginParts(fields, around, clusterInfo);
  const impersonation = impersonationOf(fields);
  const own: CredentialParts = {
    ...(certificate !== undefined && { certificate }),
    ...(fixed !== undefined && { authorization: fixed }),
  };
  const isExec = plugin.certificate !== undefined;
  const used = fixed !== undefined || (isExec && isCertificate) ? own : { ...own, ...plugin };
  return credentialsOf({
    ...used,
    ...(impersonation !== undefined && { impersonation: impersonationHeaders(impersonation) }),
  });
}

async function certificateSource(fields: Fields, around: Surroundings): Promise<CertificateSource | undefined> {
  const isCertificate = hasPemField(fields, 'client-certificate');
  if (isCertificate !== hasPemField(fields, 'client-key')) {
    const [there, missing] = isCertificate
      ? ['client-certificate', 'client-key']
      : ['client-key', 'client-certificate'];
    fields.problem('', `has a ${there} but no ${missing}; add ${missing} or ${missing}-data, both are needed`);
  }
  const certificate = await pemField(fields, 'client-certificate', around);
  const key = await pemField(fields, 'client-key', around);
  if (certificate === undefined || key === undefined) return undefined;
  for (const { part, problem } of clientCertificateProblems(
    { certPem: certificate.text, keyPem: key.text },
    around.clock.now(),
  )) {
    const field = part === 'key' ? key : certificate;
    fields.problem(field.key, 'path' in field.part ? `${field.part.path}: ${problem}` : problem);
  }
  return new CertificateFiles({
    certificate: certificate.part,
    key: key.part,
    readFile: around.readFile,
    clock: around.clock,
  });
}

async function tokenSource(fields: Fields, around: Surroundings): Promise<AuthorizationSource | undefined> {
  const file = fields.text('tokenFile');
  const token = fields.text('token');
  if (file === undefined) {
    const problem = token === undefined ? undefined : tokenProblem(token);
    if (problem !== undefined) fields.problem('token', problem);
    return token === undefined ? undefined : tokenAuthorization(token);
  }
  const path = fields.file.resolvePath(file);
  try {
    tokenOf(await around.readFile(path));
  } catch (error) {
    fields.problem('tokenFile', `the file ${path} cannot be used: ${unreadableText(error)}`);
  }
  return tokenFileAuthorization({ path, readFile: around.readFile, clock: around.clock });
}

function passwordSource(fields: Fields): AuthorizationSource | undefined {
  const username = fields.text('username');
  const password = fields.text('password');
  if (username === undefined && password === undefined) return undefined;
  if (username === undefined) fields.problem('username', 'is missing, but there is a password; both are needed');
  if (fields.text('token') !== undefined || fields.text('tokenFile') !== undefined) {
    fields.problem('', 'has both a token and a password; keep one of them');
  }
  return basicAuthorization(username ?? '', password ?? '');
}

async function pluginParts(
  fields: Fields,
  around: Surroundings,
  clusterInfo: () => Promise<JsonObject>,
): Promise<CredentialParts> {
  const exec = fields.section('exec');
  const provider = fields.section('auth-provider');
  if (exec !== undefined && provider !== undefined) {
    fields.problem('auth-provider', 'there is an exec plugin too; keep one of them');
  }
  const plugin = exec === undefined ? undefined : await execSection(exec, around, clusterInfo);
  if (plugin !== undefined) return { authorization: plugin, certificate: plugin };
  const oidc = provider === undefined ? undefined : await oidcSection(provider, around);
  return oidc === undefined ? {} : { authorization: oidc };
}

function impersonationOf(fields: Fields): Impersonation | undefined {
  const user = fields.text('as');
  const uid = fields.text('as-uid');
  const groups = fields.texts('as-groups');
  const extraFields = fields.section('as-user-extra');
  const extra = new Map((extraFields?.keys() ?? []).map((key) => [key, extraFields?.texts(key) ?? []]));
  const values = {
    as: [user ?? ''],
    'as-uid': [uid ?? ''],
    'as-groups': groups,
    'as-user-extra': [...extra.values()].flat(),
  };
  for (const [key, texts] of Object.entries(values)) {
    const problem = texts.map(headerProblem).find((text) => text !== undefined);
    if (problem !== undefined) fields.problem(key, problem);
  }
  if (user !== undefined) return { user, groups, extra, ...(uid !== undefined && { uid }) };
  if (uid !== undefined || groups.length > 0 || extra.size > 0) {
    fields.problem('as', 'is missing, but as-uid, as-groups or as-user-extra is there; name the user to act as');
  }
  return undefined;
}
