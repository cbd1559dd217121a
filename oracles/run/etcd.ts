import { join } from 'node:path';
import { httpStatus } from './http-status.ts';
import { type ProcessOptions, type RunningProcess, startProcess } from './process.ts';

const UNSAFE = '--unsafe-no-fsync';
const SOCKET = 'etcd.sock';
/** What the shorter of the kernels takes (macOS; Linux 107). */
const LONGEST_SOCKET_PATH_BYTES = 103;

/**
 * Relative to the working directory, which the programs of an instance share: in a full path a comma would start another
 * address and a percent sign an escape.
 */
export const ETCD_URL = `unix://${SOCKET}`;

/** `functional`: data may be lost with the machine, so writes need not wait for the disk. `bench`: they must. */
export type Purpose = 'functional' | 'bench';

export interface EtcdOptions extends ProcessOptions {
  readonly file: string;
  readonly directory: string;
  readonly purpose: Purpose;
  readonly extraArguments?: readonly string[] | undefined;
}

/**
 * An etcd that serves clients on a socket in its directory, where nobody else can answer in its place (oracles/E2).
 * Ready when `/health` answers 200 (oracles/E1).
 */
export async function startEtcd(options: EtcdOptions): Promise<RunningProcess> {
  const socketPath = join(options.directory, SOCKET);
  if (Buffer.byteLength(socketPath) > LONGEST_SOCKET_PATH_BYTES) {
    throw new Error(
      `${socketPath} is longer than the ${LONGEST_SOCKET_PATH_BYTES} bytes a socket may have; set TMPDIR to a shorter path`,
    );
  }
  const program = {
    name: 'etcd',
    file: options.file,
    arguments: etcdArguments(options),
    directory: options.directory,
    isReady: async (signal: AbortSignal) =>
      (await httpStatus('http://localhost/health', signal, { socketPath })) === 200,
  };
  return startProcess(program, options);
}

function etcdArguments({ directory, purpose, extraArguments = [] }: EtcdOptions): string[] {
  if (purpose === 'bench' && extraArguments.some((argument) => argument.startsWith(UNSAFE))) {
    throw new Error(
      `${UNSAFE} is refused in a bench: numbers of a store that does not wait for the disk mean nothing`,
    );
  }
  return [
    `--data-dir=${directory}/etcd`,
    `--listen-client-urls=${ETCD_URL}`,
    // Has to be an address, and nobody asks for it.
    '--advertise-client-urls=http://127.0.0.111:0',
    '--listen-peer-urls=http://127.0.0.1:0',
    '--log-level=error',
    '--quota-backend-bytes=8589934592',
    ...(purpose === 'functional' ? [UNSAFE] : []),
    ...extraArguments,
  ];
}
