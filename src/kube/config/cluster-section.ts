import { userError } from '../../base/errors.ts';
import type { JsonObject } from '../../object/json.ts';
import { isJsonObject } from '../../object/json.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { FileText } from './file-text.ts';
import type { Fields } from './kubeconfig-fields.ts';
import { authorityProblem } from './pem.ts';
import { hasPemField, pemField } from './pem-field.ts';
import type { Surroundings } from './surroundings.ts';

/** What a cluster entry says: where the server is and how it is recognised. */
export type ClusterPart = Omit<ClusterAccess, 'credentials' | 'namespace' | 'source'>;

const PROXY_PROTOCOLS = ['http:', 'https:', 'socks5:'];
/** The extension whose content a plugin gets as `spec.cluster.config`. */
const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

/** Reads a cluster entry (C2); undefined when it has problems, which are in the list then. */
export async function clusterPart(fields: Fields, around: Surroundings): Promise<ClusterPart | undefined> {
  const server = serverUrl(fields);
  const ca = await authority(fields, around);
  const insecureSkipTlsVerify = fields.flag('insecure-skip-tls-verify');
  if (insecureSkipTlsVerify && hasPemField(fields, 'certificate-authority')) {
    fields.problem(
      'insecure-skip-tls-verify',
      'found true together with a certificate-authority, which would then check nothing; remove one of them',
    );
  }
  const proxyUrl = proxy(fields);
  const tlsServerName = fields.text('tls-server-name');
  const disableCompression = fields.flag('disable-compression');
  if (server === undefined) return undefined;
  return {
    server,
    insecureSkipTlsVerify,
    disableCompression,
    ...(ca !== undefined && { ca }),
    ...(proxyUrl !== undefined && { proxyUrl }),
    ...(tlsServerName !== undefined && { tlsServerName }),
  };
}

function serverUrl(fields: Fields): URL | undefined {
  const text = fields.text('server');
  if (text === undefined) {
    fields.problem('server', 'is missing; write the address of the API server, such as https://10.0.0.1:6443');
    return undefined;
  }
  const url = parseServerUrl(text);
  if (url instanceof URL) return url;
  fields.problem('server', url);
  return undefined;
}

/** The address of an API server, without a slash at its end; a text says what is wrong with it. */
export function parseServerUrl(text: string): URL | string {
  if (!/^https?:\/\//i.test(text)) {
    return `found "${shownUrl(text)}", but it must begin with https:// (or http://); write ${`https://${shownUrl(text).replace(/^\w*:\/\//, '')}`}`;
  }
  if (!URL.canParse(text)) return `found "${shownUrl(text)}", which is no URL; write https://<host>:<port>`;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    return `found "${shownUrl(text)}" with a user in it; write that as username and password of the user`;
  }
  if (url.search !== '' || url.hash !== '') {
    return `found "${shownUrl(text)}", but only scheme, host, port and path are allowed; remove what follows "?" or "#"`;
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** Without user and password. */
const shownUrl = (text: string): string => text.replace(/\/\/[^/@]*@/, '//…@');

function proxy(fields: Fields): URL | undefined {
  const text = fields.text('proxy-url');
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && PROXY_PROTOCOLS.includes(url.protocol) && url.hostname !== '') return url;
  fields.problem('proxy-url', `found "${shownUrl(text)}", but it must be an http://, https:// or socks5:// URL`);
  return undefined;
}

async function authority(fields: Fields, around: Surroundings): Promise<(() => Promise<string>) | undefined> {
  const field = await pemField(fields, 'certificate-authority', around);
  if (field === undefined) return undefined;
  const problem = authorityProblem(field.text, around.clock.now());
  if (problem !== undefined) {
    fields.problem(field.key, 'path' in field.part ? `${field.part.path}: ${problem}` : problem);
    return undefined;
  }
  return 'path' in field.part ? authorityFile(field.part.path, around) : () => Promise.resolve(field.text);
}

/** Authorities in a file that others replace, when a cluster gets a new one. */
export function authorityFile(path: string, { readFile, clock }: Pick<Surroundings, 'readFile' | 'clock'>) {
  const useful = (text: string): string => {
    const problem = authorityProblem(text, clock.now());
    if (problem === undefined) return text;
    throw userError('InvalidAuthority', problem);
  };
  const file = new FileText({ path, readFile, clock, what: 'certificate authority', useful });
  return () => file.get();
}

/** The cluster as a credential plugin is told about it (C4): everything it needs to reach the server itself. */
export async function execClusterInfo(fields: Fields, cluster: ClusterPart): Promise<JsonObject> {
  const { ca, tlsServerName, insecureSkipTlsVerify, proxyUrl, disableCompression } = cluster;
  const config = fields
    .items('extensions', 'name')
    .find((item) => item.text('name') === EXEC_EXTENSION)
    ?.raw('extension');
  return {
    server: fields.text('server') ?? '',
    ...(tlsServerName !== undefined && { 'tls-server-name': tlsServerName }),
    ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(await ca()).toString('base64') }),
    ...(proxyUrl !== undefined && { 'proxy-url': fields.text('proxy-url') ?? '' }),
    ...(disableCompression && { 'disable-compression': true }),
    ...(isJsonObject(config) && { config }),
  };
}
