import { httpStatus } from './http-status.ts';
import { type PickPort, withFreePort } from './port.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

const UNSAFE = '--unsafe-no-fsync';

/** `functional`: data may be lost with the machine, so writes need not wait for the disk. `bench`: they must. */
export type Purpose = 'functional' | 'bench';

export interface EtcdOptions extends ProcessOptions {
  readonly file: string;
  readonly directory: string;
  readonly purpose: Purpose;
  readonly pickPort: PickPort;
  readonly extraArguments?: readonly string[] | undefined;
}

export interface RunningEtcd {
  readonly process: RunningProcess;
  readonly clientUrl: string;
}

/** An etcd on loopback without TLS, ready when `/health` answers 200 (oracles/E1). */
export function startEtcd(options: EtcdOptions): Promise<RunningEtcd> {
  return withFreePort(options.pickPort, async (port) => {
    const clientUrl = `http://127.0.0.1:${port}`;
    const program = {
      name: 'etcd',
      file: options.file,
      arguments: etcdArguments(clientUrl, options),
      directory: options.directory,
      isReady: async (signal: AbortSignal) => (await httpStatus(`${clientUrl}/health`, signal)) === 200,
    };
    return { process: await startProcess(program, options), clientUrl };
  });
}

function etcdArguments(clientUrl: string, { directory, purpose, extraArguments = [] }: EtcdOptions): string[] {
  if (purpose === 'bench' && extraArguments.some((argument) => argument.startsWith(UNSAFE))) {
    throw new Error(
      `${UNSAFE} is refused in a bench: numbers of a store that does not wait for the disk mean nothing`,
    );
  }
  return [
    `--data-dir=${directory}/etcd`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--log-level=error',
    '--quota-backend-bytes=8589934592',
    ...(purpose === 'functional' ? [UNSAFE] : []),
    ...extraArguments,
  ];
}
