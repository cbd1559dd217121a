import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { freePort } from '../../oracles/run/port.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { cloudControllerManager } from '../../src/cloud/index.ts';
import { credentialsOf } from '../../src/kube/config/credential-parts.ts';
import { loadKubeconfig } from '../../src/kube/config/kubeconfig.ts';
import type { ExitCode } from '../../src/kube/manager/exit-code.ts';
import { connect } from '../../src/kube/transport/connection.ts';
import type { Transport, TransportResponse } from '../../src/kube/transport/transport.ts';
import type { ProviderDefinition } from '../../src/sdk/provider/provider-definition.ts';

/** A kubeconfig that knows nothing but a token. */
export async function tokenKubeconfig(
  { url, authorityPem, directory }: Pick<ControlPlane, 'url' | 'authorityPem' | 'directory'>,
  name: string,
  token: string,
): Promise<string> {
  const ca = Buffer.from(authorityPem).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority-data': ca } }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const file = join(directory, `${name}.kubeconfig`);
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

/**
 * The way of a kubeconfig to a server that seems to be too old to stream lists; ends with `parts`. Whoever says who he is
 * in a request is that one, else the user of the kubeconfig.
 */
export async function withoutStreamedLists(
  parts: AsyncDisposableStack,
  kubeconfigFlag: string,
): Promise<Transport> {
  const { credentials, ...access } = await loadKubeconfig({ env: {}, homeDir: homedir(), kubeconfigFlag });
  const options = { clock: new SystemClock(), log: SILENT_LOG };
  const { transport } = parts.use(connect({ ...access, credentials: credentialsOf({}) }, options));
  return async (request) => {
    if (request.target.includes('sendInitialEvents=true')) return NO_STREAM;
    const { authorization } = await credentials.headers();
    return transport({ ...request, headers: { authorization: String(authorization), ...request.headers } });
  };
}

const REFUSAL = Buffer.from(
  '{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}',
);
const NO_STREAM: TransportResponse = {
  status: 422,
  headers: { 'content-type': 'application/json' },
  bytes: () => Promise.resolve(REFUSAL),
  async *stream() {
    yield REFUSAL;
  },
};

export interface ProgramOptions {
  /** Of the rendered container, without the words that choose the program. */
  readonly flags: readonly string[];
  readonly kubeconfig: string;
  readonly definition: ProviderDefinition;
  readonly hostname: string;
  /** Instead of what the kubeconfig leads to. */
  readonly kube?: Transport;
}

export interface Credentials {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface PortAnswer {
  readonly status: number;
  readonly body: string;
}

/** A cloud controller manager in this process, as its Deployment would start it; only port and times are the test's. */
export class OracleProgram implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #port: number;
  #log = '';
  #ended: Promise<ExitCode> | undefined;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start({ flags, kubeconfig, definition, ...rest }: ProgramOptions): Promise<OracleProgram> {
    const program = new OracleProgram(await freePort());
    program.#ended = cloudControllerManager.run({
      // The last of two flags wins.
      argv: [...flags, `--kubeconfig=${kubeconfig}`, `--secure-port=${program.#port}`, '--bind-address=127.0.0.1'],
      env: {},
      homeDir: homedir(),
      version: '0.0.0',
      clock: new SystemClock(),
      signal: program.#stop.signal,
      stdout: () => {},
      stderr: (line) => {
        program.#log += line;
      },
      findProvider: () => Promise.resolve(definition),
      ...rest,
    });
    return program;
  }

  /** Everything that it has logged. */
  get log(): string {
    return this.#log;
  }

  /** Of the secure port, whose certificate is the program's own. */
  async get(path: string, { token, cert, key }: Credentials = {}): Promise<PortAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<PortAnswer>();
    const asked = request(
      {
        host: '127.0.0.1',
        port: this.#port,
        path,
        agent: false,
        rejectUnauthorized: false,
        ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
        ...(cert !== undefined && { cert, key }),
      },
      (response) => {
        text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
      },
    );
    asked.on('error', reject);
    asked.end();
    return promise;
  }

  /** In order; gives the code with which the process would end. */
  async stop(): Promise<ExitCode | undefined> {
    this.#stop.abort();
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
