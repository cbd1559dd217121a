import type { CertificateSigningRequestSpec } from '../../../api/generated/certificates-v1-types.ts';
import type { ParsedRequest } from '../../../pki/parsed-request.ts';

type Usages = readonly NonNullable<CertificateSigningRequestSpec['usages']>[number][];

/** What a signer checks before it signs; the sentence says what it found and what it wants. */
type Rule = (request: ParsedRequest, usages: Usages) => string | undefined;

const NODES = 'system:nodes';
const NODE_PREFIX = 'system:node:';
const MASTERS = 'system:masters';

const quoted = (texts: readonly string[]): string =>
  texts.length === 0 ? 'nothing' : texts.map((text) => JSON.stringify(text)).join(', ');

const isOfNode: Rule = ({ commonName, organizations }) => {
  if (organizations.length !== 1 || organizations[0] !== NODES)
    return `the organization must be ${NODES} alone, and is ${quoted(organizations)}`;
  if (!commonName.startsWith(NODE_PREFIX))
    return `the common name must begin with ${NODE_PREFIX}, and is ${JSON.stringify(commonName)}`;
  return undefined;
};

const hasNoNames: Rule = ({ dnsNames, ipAddresses, emailAddresses, uris }) => {
  const names = [...dnsNames, ...ipAddresses, ...emailAddresses, ...uris];
  return names.length === 0
    ? undefined
    : `a client has no subject alternative names, and these are asked for: ${quoted(names)}`;
};

const hasServerNames: Rule = ({ dnsNames, ipAddresses, emailAddresses, uris }) => {
  const others = [...emailAddresses, ...uris];
  if (others.length > 0) return `a kubelet has DNS names and addresses only, not ${quoted(others)}`;
  if (dnsNames.length + ipAddresses.length === 0) return 'at least one DNS name or address must be asked for';
  return undefined;
};

/** Everybody who asks for exactly these may also ask to encipher keys, as owners of RSA keys do. */
const usesExactly =
  (...wanted: Usages): Rule =>
  (_request, usages) => {
    const asked = new Set(usages);
    asked.delete('key encipherment');
    const isExact = asked.size === wanted.length && wanted.every((usage) => asked.has(usage));
    return isExact ? undefined : `the usages must be ${quoted(wanted)}, and are ${quoted(usages)}`;
  };

const usesAsClient: Rule = (_request, usages) => {
  const allowed: Usages = ['client auth', 'digital signature', 'key encipherment'];
  const isRight = usages.includes('client auth') && usages.every((usage) => allowed.includes(usage));
  return isRight
    ? undefined
    : `the usages must be "client auth" and of ${quoted(allowed)}, and are ${quoted(usages)}`;
};

/** Whoever is in this group is above all rules, and a certificate cannot be taken back. */
const isNoMaster: Rule = ({ organizations }) =>
  organizations.includes(MASTERS) ? `nobody gets a certificate with the organization ${MASTERS} here` : undefined;

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  'kubernetes.io/kube-apiserver-client': [usesAsClient, isNoMaster],
  'kubernetes.io/kube-apiserver-client-kubelet': [
    isOfNode,
    hasNoNames,
    usesExactly('digital signature', 'client auth'),
  ],
  'kubernetes.io/kubelet-serving': [isOfNode, hasServerNames, usesExactly('digital signature', 'server auth')],
};

/** Whether the lab signs for a signer of this name (W40). */
export const isKnownSigner = (signerName: string): boolean => Object.hasOwn(RULES, signerName);

/** Pure: why a request is not one that the signer signs; undefined when it is. */
export function signerProblem(signerName: string, request: ParsedRequest, usages: Usages): string | undefined {
  for (const rule of RULES[signerName] ?? []) {
    const problem = rule(request, usages);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
