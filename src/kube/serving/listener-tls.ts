import { getCiphers } from 'node:tls';
import { cipherSuite } from './cipher-suites.ts';
import type { ListenerTls } from './https-listener.ts';
import type { TlsSettings } from './tls-profile.ts';

/** By the names of IANA, for Node. What it cannot negotiate is left out; nothing below TLS 1.2 is offered. Pure. */
export function listenerTls({
  minVersion,
  cipherSuites,
}: TlsSettings): Pick<ListenerTls, 'minVersion' | 'ciphers'> {
  const names = new Map(getCiphers().map((name) => [cipherSuite(name.toUpperCase()), name.toUpperCase()]));
  const wanted = cipherSuites.split(',').flatMap((name) => names.get(name) ?? []);
  return {
    minVersion: minVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
    ...(wanted.length > 0 && { ciphers: wanted.join(':') }),
  };
}
