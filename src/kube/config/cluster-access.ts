/** A certificate and its key for mutual TLS, as PEM text. */
export interface ClientCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * Lower-case header names. A list is sent as one header line per item (`impersonate-group`), never joined by commas.
 * Values are ready for the wire: text beyond ASCII is UTF-8 held as one character per byte, as Node writes headers.
 */
export type AuthHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * Who this process is towards one API server. Nothing runs in the background except while somebody listens for a change
 * of the certificate, so there is nothing to close.
 */
export interface Credentials {
  /**
   * The headers for one request (`authorization`, `impersonate-*`); asked before each, cheap while what is known is
   * still good. Rejects with a `SlipwayError` that says what to do when the credential cannot be had; the next call
   * tries again.
   */
  headers(signal?: AbortSignal): Promise<AuthHeaders>;
  /** Asked before each new TLS session; undefined when none is to be sent. Rejects as `headers` does. */
  clientCertificate(signal?: AbortSignal): Promise<ClientCertificate | undefined>;
  /**
   * The server answered 401: what is cached is thrown away and the next call reads, runs or asks again. With the headers
   * that were refused it does nothing when newer ones are known already, so that a hundred requests refused together
   * cause one renewal.
   */
  refresh(refused?: AuthHeaders): void;
  /**
   * Calls back after the client certificate has changed: sessions made with the old one are to be closed within 10 s
   * (C3). Certificate files are looked at every 5 s while anybody listens; dispose to stop.
   */
  onCertificateChange(listener: () => void): Disposable;
}

/** Everything a connection to one API server needs. */
export interface ClusterAccess {
  /** `http:` or `https:`; the path is a prefix of every request (a proxy, Rancher) and never ends in `/`, except when it is only that. */
  readonly server: URL;
  /**
   * PEM of every certificate that is trusted, asked before each new TLS session: the file behind it is read again when
   * the last look is older than 60 s. Absent: the system's own.
   */
  readonly ca?: () => Promise<string>;
  /** The name the server's certificate must have, and SNI, instead of the host of `server`. */
  readonly tlsServerName?: string;
  /** Any certificate of the server is taken; never together with `ca`. */
  readonly insecureSkipTlsVerify: boolean;
  /** `http:`, `https:` or `socks5:`, perhaps with user and password. */
  readonly proxyUrl?: URL;
  /** Do not ask for compressed answers. */
  readonly disableCompression: boolean;
  readonly credentials: Credentials;
  /** Where objects go when nothing else is said: of the context, or of the pod. */
  readonly namespace?: string;
  /** For messages: `context "dev" of /home/me/.kube/config`. */
  readonly source: string;
}
