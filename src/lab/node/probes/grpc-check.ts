import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { dialRpc } from '../../../rpc/dial-rpc.ts';
import { Health } from '../../../rpc/health.ts';
import { RpcError } from '../../../rpc/rpc-error.ts';
import type { GrpcCheck, GrpcHealth } from './probe-check.ts';
import { ProbeProblem } from './probe-request.ts';

const CONNECT_SHARE = 0.95;
const KNOWN: ReadonlySet<unknown> = new Set(['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']);

/** Asks by `grpc.health.v1.Health/Check`, over a connection of its own (N21). Messages are those of upstream. */
export const grpcCheck =
  (real: Clock): GrpcCheck =>
  async ({ host, port }, service, timeoutMs) => {
    const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const within = `${timeoutMs / 1000}s`;
    const startedMs = real.monotonicMs();
    using connection = dialRpc({ address: { host, port }, clock: real });
    // Not all of the time, so that whoever waits outside hears what is wrong and not only that it took too long.
    await connection.ready({ timeoutMs: timeoutMs * CONNECT_SHARE }).catch(() => {
      throw new ProbeProblem(`timeout: failed to connect service "${at}" within ${within}`);
    });
    const leftMs = Math.max(1, timeoutMs - (real.monotonicMs() - startedMs));
    try {
      const { status } = await connection.client(Health).check({ service }, { timeoutMs: leftMs });
      return { status: statusOf(status) };
    } catch (error) {
      throw new ProbeProblem(explained(error, within));
    }
  };

/** A number that nobody defined says nothing good. */
const statusOf = (status: string | number): GrpcHealth['status'] => (isKnown(status) ? status : 'UNKNOWN');

const isKnown = (status: string | number): status is GrpcHealth['status'] => KNOWN.has(status);

function explained(error: unknown, within: string): string {
  const code = error instanceof RpcError ? error.code : undefined;
  if (code === 'DEADLINE_EXCEEDED') return `timeout: health rpc did not complete within ${within}`;
  if (error instanceof RpcError && code === 'UNIMPLEMENTED') {
    return `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`;
  }
  return `error: health rpc probe failed: ${messageOf(error)}`;
}
