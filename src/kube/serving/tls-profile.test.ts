import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiServerConfig, TlsSecurityProfile } from '../../api/openshift/config-v1.ts';
import { cipherSuite, isCipherSuite } from './cipher-suites.ts';
import { hasTlsFlags, tlsFromCluster, tlsFromFlags } from './tls-profile.ts';

const MODERN = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const INTERMEDIATE = [
  ...MODERN,
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
];
const OLD = [
  ...INTERMEDIATE,
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
  'TLS_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_RSA_WITH_AES_128_CBC_SHA256',
  'TLS_RSA_WITH_AES_128_CBC_SHA',
  'TLS_RSA_WITH_AES_256_CBC_SHA',
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
];
const USUAL = { minVersion: 'VersionTLS12', cipherSuites: INTERMEDIATE.join() };

const STRICT = 'StrictAllComponents';
const apiServer = (profile?: TlsSecurityProfile | null, tlsAdherence?: string): ApiServerConfig => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'APIServer',
  metadata: { name: 'cluster' },
  spec: {
    ...(profile !== undefined && { tlsSecurityProfile: profile }),
    ...(tlsAdherence !== undefined && { tlsAdherence }),
  },
});

describe('tlsFromFlags', () => {
  const cases = [
    { min: 'VersionTLS12', ciphers: [], want: { minVersion: 'VersionTLS12', cipherSuites: '' } },
    { min: 'VersionTLS10', ciphers: [], want: { minVersion: 'VersionTLS10', cipherSuites: '' } },
    {
      min: '',
      ciphers: ['TLS_RSA_WITH_RC4_128_SHA', 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305'],
      want: {
        minVersion: 'VersionTLS12',
        cipherSuites: 'TLS_RSA_WITH_RC4_128_SHA,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
      },
    },
    { min: 'VersionTLS13', ciphers: MODERN, want: { minVersion: 'VersionTLS13', cipherSuites: '' } },
  ];
  for (const { min, ciphers, want } of cases) {
    it(`operator/R5: takes ${min || 'no version'} with ${ciphers.length} ciphers`, () => {
      assert.deepEqual(tlsFromFlags({ minVersion: min, cipherSuites: ciphers }), want);
    });
  }

  const wrong = [
    {
      min: 'VersionTLS14',
      ciphers: [],
      want: /^invalid --tls-min-version value: unknown tls version "VersionTLS14"/,
    },
    { min: 'TLSv1.2', ciphers: ['no'], want: /^invalid --tls-min-version / },
    { min: '', ciphers: [...MODERN, 'no'], want: /^invalid --tls-cipher-suites value: cipher suite no / },
    { min: 'VersionTLS13', ciphers: ['no'], want: /^invalid --tls-cipher-suites / },
    { min: '', ciphers: ['ECDHE-RSA-AES128-GCM-SHA256'], want: /^invalid --tls-cipher-suites / },
    { min: '', ciphers: [''], want: /^invalid --tls-cipher-suites / },
  ];
  for (const { min, ciphers, want } of wrong) {
    it(`operator/R5: refuses ${JSON.stringify({ min, ciphers: ciphers.slice(-1) })}`, () => {
      assert.throws(() => tlsFromFlags({ minVersion: min, cipherSuites: ciphers }), {
        disposition: 'user',
        message: want,
      });
    });
  }

  it('operator/R5: is asked where either flag is there', () => {
    assert.equal(hasTlsFlags({ minVersion: '', cipherSuites: [] }), false);
    assert.equal(hasTlsFlags({ minVersion: 'x', cipherSuites: [] }), true);
    assert.equal(hasTlsFlags({ minVersion: '', cipherSuites: ['x'] }), true);
  });
});

describe('tlsFromCluster', () => {
  const dropped = ['ECDHE-ECDSA-AES256-SHA384', 'ECDHE-RSA-AES256-SHA384', 'AES256-SHA256'];
  const profiles: readonly { type: string; minVersion: string; ciphers: readonly string[]; dropped?: string[] }[] =
    [
      { type: 'Old', minVersion: 'VersionTLS10', ciphers: OLD, dropped },
      { type: 'Intermediate', minVersion: 'VersionTLS12', ciphers: INTERMEDIATE },
      { type: 'Modern', minVersion: 'VersionTLS13', ciphers: [] },
      { type: '', minVersion: 'VersionTLS12', ciphers: INTERMEDIATE },
      { type: 'Later', minVersion: 'VersionTLS12', ciphers: INTERMEDIATE },
    ];
  for (const { type, minVersion, ciphers, dropped: left = [] } of profiles) {
    it(`operator/R7: renders the profile ${type || 'without a type'}`, () => {
      const got = tlsFromCluster(apiServer({ type }, STRICT));
      assert.deepEqual(got.settings, { minVersion, cipherSuites: ciphers.join() });
      assert.deepEqual([got.dropped, got.problem], [left, undefined]);
    });
  }

  const adherences: readonly (readonly [adherence: string | undefined, version: string])[] = [
    [undefined, 'VersionTLS12'],
    ['', 'VersionTLS12'],
    ['LegacyAdheringComponentsOnly', 'VersionTLS12'],
    [STRICT, 'VersionTLS13'],
    ['AWordOfLater', 'VersionTLS13'],
  ];
  for (const [adherence, want] of adherences) {
    it(`operator/R6: ${want === 'VersionTLS13' ? 'follows' : 'does not follow'} the profile with ${adherence ?? 'none'}`, () => {
      assert.equal(tlsFromCluster(apiServer({ type: 'Modern' }, adherence)).settings.minVersion, want);
    });
  }

  for (const [name, given] of [
    ['no APIServer', undefined],
    ['no spec', { ...apiServer(), spec: {} }],
    ['no profile', apiServer(undefined, STRICT)],
    ['null for a profile', apiServer(null, STRICT)],
  ] as const) {
    it(`operator/R6: is Intermediate with ${name}`, () => {
      assert.deepEqual(tlsFromCluster(given).settings, USUAL);
      assert.equal(tlsFromCluster(given).problem, undefined);
    });
  }
});

describe('tlsFromCluster with a profile of its own', () => {
  it('operator/R6: takes a profile of its own as it stands, in its order and with names of both kinds', () => {
    const ciphers = ['AES128-SHA', 'TLS_RSA_WITH_RC4_128_SHA', 'AES256-SHA256', 'nothing', 'AES128-SHA'];
    const got = tlsFromCluster(
      apiServer({ type: 'Custom', custom: { ciphers, minTLSVersion: 'VersionTLS11' } }, STRICT),
    );
    assert.deepEqual(got.settings, {
      minVersion: 'VersionTLS11',
      cipherSuites: 'TLS_RSA_WITH_AES_128_CBC_SHA,TLS_RSA_WITH_RC4_128_SHA,TLS_RSA_WITH_AES_128_CBC_SHA',
    });
    assert.deepEqual(got.dropped, ['AES256-SHA256', 'nothing']);
    const empty = tlsFromCluster(apiServer({ type: 'Custom', custom: {} }, STRICT));
    assert.deepEqual(empty.settings, { minVersion: 'VersionTLS12', cipherSuites: '' });
  });

  const broken: readonly (readonly [name: string, profile: TlsSecurityProfile, problem: RegExp])[] = [
    ['nothing in it', { type: 'Custom' }, /custom must be there, since type is Custom; the profile Intermediate/],
    ['null in it', { type: 'Custom', custom: null }, /custom must be there/],
    [
      'a version that nobody knows',
      { type: 'Custom', custom: { minTLSVersion: 'x' } },
      /must be one of .*, not "x"/,
    ],
  ];
  for (const [name, profile, problem] of broken) {
    it(`operator/R6: says what is wrong with a profile of its own with ${name}, and uses Intermediate`, () => {
      const got = tlsFromCluster(apiServer(profile, STRICT));
      assert.match(got.problem ?? '', problem);
      assert.deepEqual(got.settings, USUAL);
    });
  }

  it('operator/R8: tells what the cluster said, also where it is not followed', () => {
    const { policy } = tlsFromCluster(apiServer({ type: 'Modern' }));
    assert.deepEqual(policy, { adherence: '', profile: { minTLSVersion: 'VersionTLS13', ciphers: MODERN } });
    const other = tlsFromCluster(apiServer({ type: 'Modern' }, STRICT));
    assert.notDeepEqual(other.policy, policy);
    assert.deepEqual(tlsFromCluster(apiServer({ type: 'Odd' }, '')).policy, tlsFromCluster(undefined).policy);
  });
});

describe('cipherSuite', () => {
  it('operator/R7: leads every name of OpenSSL to one that flags may have', () => {
    const names = ['ECDHE-RSA-DES-CBC3-SHA', 'DES-CBC3-SHA', 'AES256-GCM-SHA384', 'ECDHE-ECDSA-AES256-SHA'];
    for (const name of names) assert.ok(isCipherSuite(cipherSuite(name) ?? ''), name);
    for (const name of OLD) assert.equal(cipherSuite(name), name);
    assert.equal(isCipherSuite('DES-CBC3-SHA'), false);
    assert.equal(cipherSuite('TLS_RSA_WITH_AES_256_CBC_SHA256'), undefined);
  });
});
