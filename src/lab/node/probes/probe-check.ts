import type { Pod, Probe } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import type { RunningContainer } from '../runtime/container-runtime.ts';
import { httpCheck } from './http-check.ts';
import { dialOf, type ProbeNetwork } from './probe-network.ts';
import { containerPort, httpRequest, ProbeProblem, probeCommand } from './probe-request.ts';
import type { ProbeOutcome, ProbeRule } from './probe-track.ts';
import type { Probed } from './prober.ts';
import { tcpCheck } from './tcp-check.ts';

const MOST_OUTPUT_CHARACTERS = 10 * 1024;

/** What `grpc.health.v1.Health/Check` answered. */
export interface GrpcHealth {
  readonly status: 'UNKNOWN' | 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN';
}

/**
 * Asks for the health of a service, without TLS, at a place of this machine. Rejects with a sentence when there is no
 * answer within the time, which is real time.
 */
export type GrpcCheck = (endpoint: Endpoint, service: string, timeoutMs: number) => Promise<GrpcHealth>;

export interface CheckOptions extends ProbeNetwork {
  readonly real: Clock;
  /** `1.36`, for the `User-Agent`. */
  readonly version: string;
  /** Without it a gRPC probe is a probe error. */
  readonly grpcCheck?: GrpcCheck;
}

/** Makes one probe. Rejects when it cannot be made: that is no failure of the container (N22). */
export async function probeCheck(
  { probe, timeoutMs }: ProbeRule,
  probed: Probed,
  options: CheckOptions & { readonly signal: AbortSignal },
): Promise<ProbeOutcome> {
  const { pod, container } = probed;
  const { exec, httpGet, tcpSocket, grpc }: Probe = probe;
  const limits = { ...options, timeoutMs };
  if (exec !== undefined) {
    return execCheck(probed.run, probeCommand(exec.command ?? [], container.env ?? []), timeoutMs);
  }
  if (httpGet !== undefined) {
    const userAgent = `kube-probe/${options.version}`;
    const request = httpRequest(httpGet, container, { host: hostOf(httpGet.host, probed), userAgent });
    return httpCheck(request, { ...limits, dial: (endpoint) => dialOf(options, endpoint) });
  }
  if (tcpSocket !== undefined) {
    const shown = { host: hostOf(tcpSocket.host, probed), port: containerPort(tcpSocket.port, container) };
    return tcpCheck(dialOf(options, shown), shown, limits);
  }
  if (grpc !== undefined) {
    return healthCheck({ host: hostOf(undefined, probed), port: grpc.port }, grpc.service ?? '', limits);
  }
  throw new ProbeProblem(`missing probe handler for ${podText(pod)}:${container.name}`);
}

/** As the cluster knows the pod, so that messages and redirects name it as everybody does. */
const hostOf = (host: string | undefined, { pod, wire }: Probed): string =>
  host === undefined || host === '' ? (pod.status?.podIP ?? wire) : host;

const podText = ({ metadata: { name, namespace = '', uid = '' } }: Pod): string => `${name}_${namespace}(${uid})`;

async function execCheck(
  run: RunningContainer,
  argv: readonly string[],
  timeoutMs: number,
): Promise<ProbeOutcome> {
  const { exitCode, output, isTimedOut } = await run.execute(argv, timeoutMs);
  if (isTimedOut) {
    const message = `command timed out: ${JSON.stringify(argv.join(' '))} timed out after ${timeoutMs / 1000}s`;
    return { result: 'failure', message };
  }
  return { result: exitCode === 0 ? 'success' : 'failure', message: output.slice(0, MOST_OUTPUT_CHARACTERS) };
}

async function healthCheck(
  shown: Endpoint,
  service: string,
  options: CheckOptions & { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<ProbeOutcome> {
  const { grpcCheck, real, timeoutMs, signal } = options;
  if (grpcCheck === undefined) {
    throw new ProbeProblem(
      `this lab cannot make gRPC probes: nobody gave it a health client; probe port ${shown.port} by tcpSocket or exec`,
    );
  }
  const { host, port } = dialOf(options, shown);
  const within = `${timeoutMs / 1000}s`;
  const onTimeout = () => new ProbeProblem(`timeout: health rpc did not complete within ${within}`);
  try {
    const check = () => grpcCheck({ host, port }, service, timeoutMs);
    const { status } = await withDeadline({ clock: real, timeoutMs, signal, onTimeout }, check);
    if (status === 'SERVING') return { result: 'success', message: 'service healthy' };
    return { result: 'failure', message: `service unhealthy (responded with "${status}")` };
  } catch (error) {
    signal.throwIfAborted();
    const isLate = error instanceof ProbeProblem;
    return {
      result: 'failure',
      message: isLate ? error.message : `error: health rpc probe failed: ${messageOf(error)}`,
    };
  }
}
