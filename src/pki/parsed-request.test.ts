import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SlipwayError } from '../base/errors.ts';
import { distinguishedName } from './certificate-names.ts';
import { bitString, explicit, integer, objectIdentifier, octetString, sequence, set } from './der.ts';
import { dottedIdentifier } from './der-reader.ts';
import { generateKeyPair } from './key-pair.ts';
import { parseSigningRequest } from './parsed-request.ts';
import { type SigningWish, signingRequest } from './signing-request.ts';

const OPENSSL = 'openssl';
const WISH: SigningWish = {
  commonName: 'system:node:wörker-1',
  organizations: ['system:nodes', 'more'],
  dnsNames: ['w-1', 'w-1.lab'],
  ipAddresses: ['10.16.1.1', 'fd00:0:0:0:0:0:0:1'],
};

const bytesOf = (pem: string): Buffer => Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64');
const pemOf = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
const isRefusal = (error: unknown): boolean =>
  error instanceof SlipwayError && error.disposition === 'user' && error.reason === 'InvalidSigningRequest';

const skip = !hasOpenssl() && 'there is no openssl here';

/** A request that another program made. */
const foreign = (key: readonly string[], ...options: readonly string[]): string =>
  execFileSync(
    OPENSSL,
    ['req', '-new', '-nodes', ...key, '-keyout', '/dev/null', '-subj', '/O=a/O=b/CN=c', '-batch', ...options],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );

/** A request with any content, signed by its key. */
function handMade(attributes: Buffer, subject = distinguishedName([], 'c')): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const content = sequence(integer(Buffer.from([0])), subject, key, explicit(0, attributes));
  const algorithm = sequence(objectIdentifier('1.2.840.10045.4.3.2'));
  return pemOf(sequence(content, algorithm, bitString(sign('sha256', content, privateKey))));
}

const askingFor = (names: Buffer): Buffer => {
  const extension = sequence(objectIdentifier('2.5.29.17'), octetString(names));
  return sequence(objectIdentifier('1.2.840.113549.1.9.14'), set(sequence(extension)));
};

describe('parseSigningRequest', () => {
  it('lab/W40: reads what signingRequest writes', async () => {
    const keys = await generateKeyPair();
    const { commonName, organizations, dnsNames, ipAddresses, publicKey, ...rest } = parseSigningRequest(
      signingRequest(WISH, keys),
    );
    assert.deepEqual({ commonName, organizations, dnsNames, ipAddresses }, WISH);
    assert.equal(publicKey.export({ type: 'spki', format: 'pem' }), keys.publicKeyPem);
    assert.deepEqual([rest.emailAddresses, rest.uris], [[], []]);
    assert.deepEqual(rest.subject, distinguishedName(WISH.organizations, WISH.commonName));
  });

  it('lab/W40: has no names when none are asked for', async () => {
    const bare = { ...WISH, dnsNames: [], ipAddresses: [] };
    const request = parseSigningRequest(signingRequest(bare, await generateKeyPair()));
    assert.equal('names' in request, false);
  });

  for (const key of [
    ['-newkey', 'rsa:2048'],
    ['-newkey', 'rsa:2048', '-sha512'],
    ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1', '-sha384'],
    ['-newkey', 'ed25519'],
  ]) {
    it(`lab/W40: reads requests of openssl: ${key.join(' ')}`, { skip }, () => {
      const names = 'subjectAltName=DNS:x.example,IP:10.0.0.1,IP:fd00::2,email:a@x.example,URI:https://x/y';
      const request = parseSigningRequest(foreign(key, '-addext', names, '-addext', 'keyUsage=digitalSignature'));
      const { commonName, organizations, dnsNames, ipAddresses, emailAddresses, uris } = request;
      assert.deepEqual([commonName, organizations], ['c', ['a', 'b']]);
      assert.deepEqual([dnsNames, ipAddresses], [['x.example'], ['10.0.0.1', 'fd00:0:0:0:0:0:0:2']]);
      assert.deepEqual([emailAddresses, uris], [['a@x.example'], ['https://x/y']]);
    });
  }

  for (const [what, pem, why] of [
    ['no PEM', 'hello', /no PEM block CERTIFICATE REQUEST/],
    ['another block', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /no PEM block/],
    ['no DER', pemOf(Buffer.from('hello')), /cut off/],
    ['nothing', pemOf(sequence()), /its content is nothing/],
    ['two values', pemOf(Buffer.concat([sequence(), sequence()])), /exactly one value/],
    ['a tag of several bytes', pemOf(Buffer.from([0x1f, 0x01, 0x00])), /tag of several bytes/],
    ['an endless value', pemOf(Buffer.from([0x30, 0x80, 0x00, 0x00])), /length that DER does not know/],
    ['a number as its subject', handMade(Buffer.alloc(0), integer(Buffer.from([1]))), /its subject is tag 0x02/],
    ['an odd address', handMade(askingFor(sequence(Buffer.from([0x87, 1, 10])))), /address of 1 bytes/],
    ['a name that is not ASCII', handMade(askingFor(sequence(Buffer.from([0x82, 1, 0xe4])))), /not ASCII/],
    ['attributes that are none', handMade(integer(Buffer.from([1]))), /its attribute is tag 0x02/],
  ] as const) {
    it(`lab/W40: says what is wrong: ${what}`, () => {
      assert.throws(() => parseSigningRequest(pem), why);
      assert.throws(() => parseSigningRequest(pem), isRefusal);
    });
  }

  it('lab/W40: passes no names on of kinds that it does not know', () => {
    const other = Buffer.from([0x88, 3, 0x2a, 0x03, 0x04]);
    const dns = Buffer.from([0x82, 1, 0x61]);
    const { dnsNames, names } = parseSigningRequest(handMade(askingFor(sequence(other, dns))));
    assert.deepEqual(dnsNames, ['a']);
    assert.deepEqual(names, sequence(dns));
  });

  it('lab/W40: believes nobody who does not have the key', async () => {
    const [one, two] = [await generateKeyPair(), await generateKeyPair()];
    const mixed = signingRequest(WISH, { ...one, privateKey: two.privateKey });
    assert.throws(() => parseSigningRequest(mixed), /signature is not by its own key/);
  });

  it('lab/W40: refuses what was changed anywhere, and never fails otherwise', async () => {
    const der = bytesOf(signingRequest(WISH, await generateKeyPair()));
    for (let at = 0; at < der.length; at++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const bytes = Buffer.from(der);
        bytes.writeUInt8(bytes.readUInt8(at) ^ mask, at);
        assert.throws(() => parseSigningRequest(pemOf(bytes)), isRefusal, `byte ${at}, mask ${mask}`);
      }
    }
  });

  it('lab/W40: refuses what is cut off anywhere, and arbitrary bytes', async () => {
    const der = bytesOf(signingRequest(WISH, await generateKeyPair()));
    for (let length = 1; length < der.length; length++)
      assert.throws(() => parseSigningRequest(pemOf(der.subarray(0, length))), isRefusal);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
        assert.throws(() => parseSigningRequest(pemOf(Buffer.from(bytes))), isRefusal);
      }),
    );
  });
});

describe('dottedIdentifier', () => {
  for (const dotted of ['1.2.840.10045.4.3.2', '2.5.29.17', '1.3.101.112']) {
    it(`reads what objectIdentifier writes: ${dotted}`, () => {
      assert.equal(dottedIdentifier(objectIdentifier(dotted).subarray(2)), dotted);
    });
  }

  it('knows numbers under the third root', () => {
    assert.equal(dottedIdentifier(Buffer.from([0x88, 0x37, 0x03])), '2.999.3');
  });
});

function hasOpenssl(): boolean {
  try {
    execFileSync(OPENSSL, ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
