import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Container, HTTPGetAction, LifecycleHandler } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Endpoint } from '../../address/address-plan.ts';
import type { RunningContainer } from '../runtime/container-runtime.ts';

export interface HookFacts {
  readonly container: Container;
  readonly run: Pick<RunningContainer, 'isSimulated' | 'execute'>;
  /** Where the container listens on this machine. */
  readonly wire: string;
  readonly target: (to: Endpoint) => Endpoint;
  /** Whose time the hook takes: real for processes, of the lab for simulated containers. */
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Runs `postStart` or `preStop` to its end; what went wrong, or undefined. Never rejects. */
export async function hookProblem(handler: LifecycleHandler, facts: HookFacts): Promise<string | undefined> {
  try {
    return await run(handler, facts);
  } catch (error) {
    return messageOf(error);
  }
}

async function run(handler: LifecycleHandler, facts: HookFacts): Promise<string | undefined> {
  const { exec, httpGet, sleep } = handler;
  const { clock, timeoutMs, run: container } = facts;
  if (sleep !== undefined) {
    await clock.sleep(Math.min(sleep.seconds * 1000, timeoutMs));
    return undefined;
  }
  // Nobody is there to be asked.
  if (container.isSimulated) return undefined;
  if (exec !== undefined) return await execute(exec.command ?? [], facts);
  if (httpGet === undefined) return 'the hook has neither exec, httpGet nor sleep; the lab runs no others';
  await get(httpGet, facts);
  return undefined;
}

async function execute(
  command: readonly string[],
  { run: container, timeoutMs }: HookFacts,
): Promise<string | undefined> {
  const { exitCode, output, isTimedOut } = await container.execute(command, timeoutMs);
  if (isTimedOut) return `command ${command.join(' ')} took longer than ${timeoutMs / 1000} s`;
  return exitCode === 0 ? undefined : `command ${command.join(' ')} exited with ${exitCode}: ${output.trim()}`;
}

/** Any answer is good, as upstream has it: a hook tells, it does not ask. */
async function get(
  action: HTTPGetAction,
  { container, wire, target, clock, timeoutMs }: HookFacts,
): Promise<void> {
  const { host, port } = target({ host: action.host || wire, port: portOf(action, container) });
  const deadline = new AbortController();
  using _timer = clock.timer(timeoutMs, () => deadline.abort(new Error(`no answer within ${timeoutMs / 1000} s`)));
  const headers = Object.fromEntries((action.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const options = { host, port, path: action.path ?? '/', headers, agent: false, signal: deadline.signal };
  await new Promise<void>((resolve, reject) => {
    const asked =
      action.scheme === 'HTTPS' ? requestSecure({ ...options, rejectUnauthorized: false }) : requestPlain(options);
    asked.once('response', (response) => {
      response.destroy();
      resolve();
    });
    asked.once('error', (error) => reject(deadline.signal.aborted ? deadline.signal.reason : error));
    asked.end();
  });
}

function portOf({ port }: HTTPGetAction, { name, ports = [] }: Container): number {
  const found = typeof port === 'number' ? port : ports.find((one) => one.name === port)?.containerPort;
  const number = found ?? Number(port);
  if (Number.isInteger(number) && number > 0 && number < 65_536) return number;
  throw new Error(`container ${name} has no port "${port}"`);
}
