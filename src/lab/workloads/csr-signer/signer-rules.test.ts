import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CertificateSigningRequestSpec } from '../../../api/generated/certificates-v1-types.ts';
import { generateKeyPair } from '../../../pki/key-pair.ts';
import { type ParsedRequest, parseSigningRequest } from '../../../pki/parsed-request.ts';
import { signingRequest } from '../../../pki/signing-request.ts';
import { isKnownSigner, signerProblem } from './signer-rules.ts';

const CLIENT = 'kubernetes.io/kube-apiserver-client';
const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const KUBELET_SERVING = 'kubernetes.io/kubelet-serving';

type Usages = NonNullable<CertificateSigningRequestSpec['usages']>;
interface Case {
  readonly signer: string;
  readonly asked?: Partial<ParsedRequest>;
  readonly usages: Usages;
  /** Absent: it is signed. */
  readonly problem?: RegExp;
}

const keys = await generateKeyPair();
const NODE = parseSigningRequest(
  signingRequest(
    { commonName: 'system:node:w-1', organizations: ['system:nodes'], dnsNames: [], ipAddresses: [] },
    keys,
  ),
);
const AS_CLIENT: Usages = ['digital signature', 'client auth'];
const AS_SERVER: Usages = ['digital signature', 'server auth'];
const named = { dnsNames: ['w-1'], ipAddresses: ['10.16.1.1'] };

const CASES: readonly Case[] = [
  { signer: KUBELET_CLIENT, usages: AS_CLIENT },
  { signer: KUBELET_CLIENT, usages: [...AS_CLIENT, 'key encipherment'] },
  {
    signer: KUBELET_CLIENT,
    usages: ['client auth'],
    problem: /usages must be "digital signature", "client auth"/,
  },
  { signer: KUBELET_CLIENT, usages: [...AS_CLIENT, 'server auth'], problem: /usages must be/ },
  { signer: KUBELET_CLIENT, usages: [], problem: /and are nothing/ },
  { signer: KUBELET_CLIENT, usages: AS_CLIENT, asked: named, problem: /no subject alternative names.*"w-1", "10/ },
  { signer: KUBELET_CLIENT, usages: AS_CLIENT, asked: { uris: ['x:y'] }, problem: /no subject alternative names/ },
  { signer: KUBELET_CLIENT, usages: AS_CLIENT, asked: { emailAddresses: ['a@b'] }, problem: /no subject alt/ },
  { signer: KUBELET_CLIENT, usages: AS_CLIENT, asked: { organizations: [] }, problem: /alone, and is nothing/ },
  {
    signer: KUBELET_CLIENT,
    usages: AS_CLIENT,
    asked: { organizations: ['system:nodes', 'system:masters'] },
    problem: /alone, and is "system:nodes", "system:masters"/,
  },
  { signer: KUBELET_CLIENT, usages: AS_CLIENT, asked: { commonName: 'w-1' }, problem: /begin with system:node:/ },
  { signer: KUBELET_SERVING, usages: AS_SERVER, asked: named },
  { signer: KUBELET_SERVING, usages: [...AS_SERVER, 'key encipherment'], asked: { dnsNames: ['w-1'] } },
  { signer: KUBELET_SERVING, usages: AS_SERVER, problem: /at least one DNS name or address/ },
  { signer: KUBELET_SERVING, usages: AS_CLIENT, asked: named, problem: /usages must be .*"server auth"/ },
  { signer: KUBELET_SERVING, usages: AS_SERVER, asked: { ...named, uris: ['x:y'] }, problem: /only, not "x:y"/ },
  { signer: KUBELET_SERVING, usages: AS_SERVER, asked: { ...named, organizations: ['x'] }, problem: /alone/ },
  { signer: KUBELET_SERVING, usages: AS_SERVER, asked: { ...named, commonName: 'x' }, problem: /begin with/ },
  { signer: CLIENT, usages: ['client auth'], asked: { commonName: 'jane', organizations: ['dev'] } },
  { signer: CLIENT, usages: [...AS_CLIENT, 'key encipherment'], asked: { ...named } },
  { signer: CLIENT, usages: ['digital signature'], problem: /usages must be "client auth"/ },
  { signer: CLIENT, usages: [...AS_CLIENT, 'server auth'], problem: /usages must be "client auth"/ },
  {
    signer: CLIENT,
    usages: AS_CLIENT,
    asked: { organizations: ['dev', 'system:masters'] },
    problem: /nobody gets .* system:masters/,
  },
];

describe('signerProblem', () => {
  for (const { signer, asked = {}, usages, problem } of CASES) {
    const what = `${signer} ${JSON.stringify({ usages, ...asked })}`;
    it(`lab/W40: ${problem === undefined ? 'signs' : 'refuses'} ${what}`, () => {
      const found = signerProblem(signer, { ...NODE, ...asked }, usages);
      if (problem === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', problem);
    });
  }

  it('lab/W40: knows three signers and no other', () => {
    const others = ['kubernetes.io/legacy-unknown', 'example.com/mine', 'toString'];
    assert.deepEqual([CLIENT, KUBELET_CLIENT, KUBELET_SERVING, ...others].filter(isKnownSigner).length, 3);
    assert.deepEqual(others.filter(isKnownSigner), []);
  });
});
