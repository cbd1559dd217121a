/** How the secure port speaks TLS, as flags say it. */
export interface TlsSettings {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** For OpenSSL; absent: those of Node. */
  readonly ciphers?: string;
  readonly named: readonly NamedCertificateFiles[];
}

/** One value of `--tls-sni-cert-key`. */
export interface NamedCertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Empty: those of the certificate. */
  readonly names: readonly string[];
}

/** Suites of TLS 1.3 cannot be chosen in Go: they are always on. */
const ALWAYS = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** What Go calls a suite up to TLS 1.2, and what OpenSSL does. Those that neither still offers are left out. */
const SUITES: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256', 'ECDHE-ECDSA-AES128-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256', 'ECDHE-RSA-AES128-SHA256'],
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'],
  ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'],
  ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA256', 'AES128-SHA256'],
]);

export interface TlsFlags {
  readonly minVersion: string;
  readonly suites: readonly string[];
  readonly named: readonly string[];
}

/** Pure; what is wrong goes to `problems`. */
export function tlsSettings({ minVersion, suites, named }: TlsFlags, problems: string[]): TlsSettings {
  const unknown = suites.filter((suite) => !SUITES.has(suite) && !ALWAYS.includes(suite));
  problems.push(...unknown.map((suite) => `Cipher suite ${suite} not supported or doesn't exist`));
  const chosen = suites.flatMap((suite) => SUITES.get(suite) ?? []);
  return {
    minVersion: minVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
    ...(suites.length > 0 && { ciphers: [...ALWAYS, ...chosen].join(':') }),
    named: named.flatMap((value) => namedFiles(value, problems)),
  };
}

/** `cert,key` or `cert,key:name,name`. */
function namedFiles(value: string, problems: string[]): readonly NamedCertificateFiles[] {
  const [, certFile, keyFile, names = ''] = /^([^,:]+),([^,:]+)(?::(.*))?$/.exec(value) ?? [];
  if (certFile === undefined || keyFile === undefined) {
    problems.push(`--tls-sni-cert-key: "${value}" is not CERT,KEY or CERT,KEY:NAME,NAME`);
    return [];
  }
  return [{ certFile, keyFile, names: names.split(',').flatMap((name) => name.trim() || []) }];
}
