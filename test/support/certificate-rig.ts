import { randomBytes, sign } from 'node:crypto';
import { CertificateSigningRequest } from '../../src/api/generated/certificates-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { distinguishedName } from '../../src/pki/certificate-names.ts';
import { bitString, explicit, integer, objectIdentifier, octetString, sequence, time } from '../../src/pki/der.ts';

const ECDSA = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
const VERSION_3 = explicit(0, integer(Buffer.from([2])));
const USAGES: Readonly<Record<string, string>> = {
  'client auth': '1.3.6.1.5.5.7.3.2',
  'server auth': '1.3.6.1.5.5.7.3.1',
};

export interface Signer {
  readonly authority: CertificateAuthority;
  /** Of the authority. */
  readonly commonName: string;
  readonly now: Date;
}

/** Approves and signs what nodes ask for, in tests: whatever it is, for an hour. */
export class CertificateRig {
  readonly #client: KubeClient;
  readonly #signer: Signer;

  constructor(client: KubeClient, signer: Signer) {
    this.#client = client;
    this.#signer = signer;
  }

  /** The requests that are there, oldest first. */
  async requests(): Promise<readonly CertificateSigningRequest[]> {
    return (await this.#client.list(CertificateSigningRequest)).items;
  }

  /** Decides every request that nobody decided. */
  async decide(type: 'Approved' | 'Denied', message = 'because'): Promise<void> {
    for (const request of await this.requests()) {
      if ((request.status?.conditions ?? []).length > 0) continue;
      const conditions = [{ type, status: 'True', reason: 'Test', message }];
      await this.#patch(request, 'approval', { conditions });
    }
  }

  /** Signs every request that is approved and not signed. */
  async sign(): Promise<void> {
    for (const request of await this.requests()) {
      const isApproved = request.status?.conditions?.some(({ type }) => type === 'Approved') === true;
      if (!isApproved || request.status?.certificate !== undefined) continue;
      const certificate = Buffer.from(certificateFor(request, this.#signer)).toString('base64');
      await this.#patch(request, 'status', { certificate });
    }
  }

  async #patch(
    { metadata: { name } }: CertificateSigningRequest,
    subresource: string,
    status: Status,
  ): Promise<void> {
    const patch = { type: 'merge', body: { status } } as const;
    await this.#client.patch(CertificateSigningRequest, { name }, patch, { subresource });
  }
}

type Status =
  | { readonly certificate: string }
  | { readonly conditions: { type: string; status: string; reason: string; message: string }[] };

/** The certificate of one request, by hand: subject, key and names are copied as they stand there. */
function certificateFor({ spec }: CertificateSigningRequest, { authority, commonName, now }: Signer): string {
  const pem = Buffer.from(spec.request, 'base64').toString();
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  const [content = der] = itemsIn(der);
  const [, subject = der, key = der, attributes] = itemsIn(content);
  const usages = (spec.usages ?? []).flatMap((usage) => USAGES[usage] ?? []).map(objectIdentifier);
  const extensions = [
    sequence(objectIdentifier('2.5.29.37'), octetString(sequence(...usages))),
    ...(attributes === undefined ? [] : extensionsIn(attributes)),
  ];
  const signed = sequence(
    VERSION_3,
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA,
    distinguishedName([], commonName),
    sequence(time(new Date(now.getTime() - 3_600_000)), time(new Date(now.getTime() + 3_600_000))),
    subject,
    key,
    explicit(3, sequence(...extensions)),
  );
  const signature = bitString(sign('sha256', signed, authority.keys.privateKey));
  const lines =
    sequence(signed, ECDSA, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** Of the one attribute: its name, and a set with the sequence of extensions. */
function extensionsIn(attributes: Buffer): readonly Buffer[] {
  const [attribute] = itemsIn(attributes);
  const [, set] = attribute === undefined ? [] : itemsIn(attribute);
  const [extensions] = set === undefined ? [] : itemsIn(set);
  return extensions === undefined ? [] : itemsIn(extensions);
}

/** The parts of a constructed value, each with its head. */
function itemsIn(der: Buffer): readonly Buffer[] {
  const { start, end } = bounds(der, 0);
  const items: Buffer[] = [];
  for (let at = start; at < end; ) {
    const next = bounds(der, at).end;
    items.push(der.subarray(at, next));
    at = next;
  }
  return items;
}

function bounds(der: Buffer, at: number): { readonly start: number; readonly end: number } {
  const first = der.readUInt8(at + 1);
  const more = first < 0x80 ? 0 : first & 0x7f;
  const length = more === 0 ? first : der.readUIntBE(at + 2, more);
  const start = at + 2 + more;
  return { start, end: start + length };
}
