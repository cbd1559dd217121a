import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { Listener, type ListenerOptions } from '../../src/apiserver/http/listener.ts';
import type { Handle } from '../../src/apiserver/request.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { CertificateAuthority, type Credential } from '../../src/pki/certificate-authority.ts';
import { recordedLog } from './store.ts';

const validity = { now: new Date(), validityMs: 3_600_000 };

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly credential?: Credential;
}

/** Listeners with the certificates of one authority, and clients that believe it. */
export class TlsWorld {
  readonly log = recordedLog();
  readonly #authority: CertificateAuthority;
  readonly #serving: Credential;

  private constructor(authority: CertificateAuthority, serving: Credential) {
    this.#authority = authority;
    this.#serving = serving;
  }

  static async create(): Promise<TlsWorld> {
    const authority = await CertificateAuthority.create({ commonName: 'ca', ...validity });
    const names = { commonName: 's', dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] };
    return new TlsWorld(authority, await authority.issue({ kind: 'serving', ...names, ...validity }));
  }

  issue(commonName: string, organizations: readonly string[]): Promise<Credential> {
    return this.#authority.issue({ kind: 'client', commonName, organizations, ...validity });
  }

  start(handle: Handle, more: Partial<ListenerOptions> = {}): Promise<Listener> {
    return Listener.start({
      host: '127.0.0.1',
      port: 0,
      certificatePem: this.#serving.certificatePem,
      keyPem: this.#serving.keys.privateKeyPem,
      authorityPem: this.#authority.certificatePem,
      handle,
      clock: new SystemClock(),
      log: this.log.log,
      ...more,
    });
  }

  /** One request over HTTP/1.1 on a connection of its own. */
  async call(port: number, { method = 'GET', path = '/', headers = {}, body, credential }: Call = {}) {
    const agent = new Agent(this.#trust(credential));
    const sent = httpsRequest({ host: '127.0.0.1', port, method, path, headers, agent });
    sent.end(body);
    const [response] = await once(sent, 'response');
    const bytes = await buffer(response);
    agent.destroy();
    return { status: response.statusCode, headers: response.headers, bytes, text: bytes.toString('utf8') };
  }

  /** For requests over HTTP/2, see `callOver`. */
  session(port: number, credential?: Credential): ClientHttp2Session {
    return connectHttp2(`https://127.0.0.1:${port}`, this.#trust(credential));
  }

  socket(port: number): TLSSocket {
    return connectTls({ host: '127.0.0.1', port, ...this.#trust() });
  }

  #trust(credential?: Credential) {
    return {
      ca: this.#authority.certificatePem,
      ...(credential && { cert: credential.certificatePem, key: credential.keys.privateKeyPem }),
    };
  }
}

export async function callOver(session: ClientHttp2Session, headers: Readonly<Record<string, string>>, body = '') {
  const stream = session.request(headers, { endStream: body === '' });
  if (body !== '') stream.end(body);
  const [got] = await once(stream, 'response');
  return { status: got[':status'], headers: got, text: (await buffer(stream)).toString('utf8') };
}
