import { createHash, X509Certificate } from 'node:crypto';
import {
  CertificateSigningRequest,
  type CertificateSigningRequestCondition,
  type CertificateSigningRequestSpec,
} from '../../../api/generated/certificates-v1.ts';
import { SlipwayError, terminalError } from '../../../base/errors.ts';
import { until } from '../../../kube/apply/until.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import type { Credential } from '../../../pki/certificate-authority.ts';
import { generateKeyPair, type KeyPair } from '../../../pki/key-pair.ts';
import { type SigningWish, signingRequest } from '../../../pki/signing-request.ts';
import { type PatienceOptions, untilAnswered } from './patience.ts';

/** How long one look at a request lasts before it is made sure that the request is still there. */
const PATIENCE_MS = 60 * 60_000;

type Usages = NonNullable<CertificateSigningRequestSpec['usages']>;

/** What a node asks the cluster to sign. */
export interface CertificateWish extends SigningWish {
  readonly signerName: string;
  readonly usages: Usages;
}

const identity = (node: string) => ({ commonName: `system:node:${node}`, organizations: ['system:nodes'] });

/** Pure: by which the node proves to the API server who it is (N1). */
export const clientWish = (node: string): CertificateWish => ({
  ...identity(node),
  dnsNames: [],
  ipAddresses: [],
  signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
  usages: ['digital signature', 'client auth'],
});

/** Pure: by which the node's own server proves who it is, under each of its names and addresses (N1). */
export const servingWish = (
  node: string,
  { dnsNames, ipAddresses }: Pick<SigningWish, 'dnsNames' | 'ipAddresses'>,
): CertificateWish => ({
  ...identity(node),
  dnsNames,
  ipAddresses,
  signerName: 'kubernetes.io/kubelet-serving',
  usages: ['digital signature', 'server auth'],
});

export interface CertificateOptions extends PatienceOptions {
  readonly client: KubeClient;
  /** Lab time stands still until it is disposed: making a key takes a moment that nobody else would see. */
  readonly hold?: (reason: string) => Disposable;
}

/**
 * Asks for a certificate and waits until somebody approves and somebody signs it, as long as it takes. A request that is
 * taken away is made again. Rejects with `CertificateDenied`, `CertificateFailed` or `CertificateUnusable` when there
 * will be none, and with the signal's reason.
 */
export async function obtainCertificate(wish: CertificateWish, options: CertificateOptions): Promise<Credential> {
  const { client, clock, log, signal } = options;
  const keys = await heldKeys(options);
  const name = requestName(wish, keys);
  const what = 'to be approved and signed';
  log.info({ certificateSigningRequest: name, signerName: wish.signerName }, 'Waiting for a certificate');
  for (;;) {
    await untilAnswered(options, () => ensureRequest(options, name, wish, keys));
    const target = { client, kind: CertificateSigningRequest, key: { name } };
    const wait = { clock, signal, timeoutMs: PATIENCE_MS, what };
    const found = await until(target, isDecided, wait).catch((error: unknown) => {
      // Nobody has decided yet: people may take a day.
      if (!(error instanceof SlipwayError) || error.reason !== 'WaitTimeout') throw error;
      return undefined;
    });
    if (found !== undefined) return { certificatePem: certificateOf(found, keys), keys };
  }
}

async function heldKeys({ hold }: CertificateOptions): Promise<KeyPair> {
  using _held = hold?.('the key of a node');
  return await generateKeyPair();
}

/** The same for the same key and wish: whoever asks twice, because the answer got lost, has asked once. */
function requestName(wish: CertificateWish, { publicKeyPem }: KeyPair): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([publicKeyPem, wish]))
    .digest('hex');
  return `node-csr-${digest.slice(0, 43)}`;
}

async function ensureRequest(
  { client, signal }: CertificateOptions,
  name: string,
  wish: CertificateWish,
  keys: KeyPair,
): Promise<void> {
  const { signerName, usages } = wish;
  const request = Buffer.from(signingRequest(wish, keys)).toString('base64');
  try {
    const object = { metadata: { name }, spec: { request, signerName, usages } };
    await client.create(CertificateSigningRequest, object, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

const conditionOf = ({ status }: CertificateSigningRequest, type: string) =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');

/** Also when it is gone: then there is nothing to wait for. */
const isDecided = (request: CertificateSigningRequest | undefined): boolean =>
  request === undefined ||
  (request.status?.certificate ?? '') !== '' ||
  conditionOf(request, 'Denied') !== undefined ||
  conditionOf(request, 'Failed') !== undefined;

function certificateOf(request: CertificateSigningRequest, { privateKey }: KeyPair): string {
  const denied = conditionOf(request, 'Denied');
  if (denied !== undefined) throw terminalError('CertificateDenied', refusal(request, denied));
  const failed = conditionOf(request, 'Failed');
  if (failed !== undefined) throw terminalError('CertificateFailed', refusal(request, failed));
  const { name } = request.metadata;
  const pem = Buffer.from(request.status?.certificate ?? '', 'base64').toString('utf8');
  if (isFor(pem, privateKey)) return pem;
  const about = `the certificate in CertificateSigningRequest ${name} does not belong to the key it was asked for with`;
  throw terminalError('CertificateUnusable', `${about}; look at who signs ${request.spec.signerName}`);
}

function refusal({ metadata }: CertificateSigningRequest, condition: CertificateSigningRequestCondition): string {
  const why = [condition.reason, condition.message].filter((text) => text !== undefined && text !== '').join(': ');
  const about = `CertificateSigningRequest ${metadata.name} is ${condition.type}${why === '' ? '' : ` (${why})`}`;
  return `${about}; delete it and start the node again`;
}

function isFor(pem: string, privateKey: KeyPair['privateKey']): boolean {
  try {
    return new X509Certificate(pem).checkPrivateKey(privateKey);
  } catch {
    return false;
  }
}
