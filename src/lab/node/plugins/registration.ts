import type { Clock } from '../../../base/clock.ts';
import { messageOf, retryError } from '../../../base/errors.ts';
import { dialRpc } from '../../../rpc/dial-rpc.ts';
import { PluginRegistration } from '../../../rpc/kubelet/plugin-registration.ts';
import { locatePath } from './node-sockets.ts';
import type { Plugin, PluginHandler } from './plugin-handler.ts';

const DIAL_MS = 10_000;
const INFO_MS = 1000;
const NOTIFY_MS = 5000;

export interface RegistrationOptions {
  readonly root: string;
  /** By plugin type. */
  readonly handlers: Readonly<Record<string, PluginHandler>>;
  /** Real time: sockets know no other. */
  readonly real: Clock;
}

export interface RegisteredPlugin {
  readonly plugin: Plugin;
  readonly handler: PluginHandler;
}

/**
 * Asks the plugin at a socket who it is, hands it to the handler of its type, and tells it what became of it (N33).
 * Rejects with a sentence; the plugin was told the same then, if it could be, and nothing of it stays registered.
 */
export async function registerPlugin(
  socket: string,
  { root, handlers, real }: RegistrationOptions,
  signal: AbortSignal,
): Promise<RegisteredPlugin> {
  using connection = dialRpc({ address: { socket }, clock: real });
  const client = connection.client(PluginRegistration);
  await connection.ready({ timeoutMs: DIAL_MS, signal }).catch(failed(`dial failed at socket ${socket}`));
  const info = await client
    .getInfo({}, { timeoutMs: INFO_MS, signal })
    .catch(failed(`failed to get plugin info using RPC GetInfo at socket ${socket}`));
  const { type, name, supportedVersions: versions } = info;
  const tell = (error: string) =>
    client.notifyRegistrationStatus({ pluginRegistered: error === '', error }, { timeoutMs: NOTIFY_MS, signal });
  const refuse = async (why: string): Promise<never> => {
    const problem = `RegisterPlugin error -- ${why}`;
    await tell(problem).catch(failed(`failed to send error at socket ${socket}`));
    throw retryError('PluginRefused', problem);
  };
  const handler = Object.hasOwn(handlers, type) ? handlers[type] : undefined;
  if (handler === undefined) {
    return await refuse(`no handler registered for plugin type: ${type} at socket ${socket}`);
  }
  const endpoint = info.endpoint === '' ? socket : await locatePath(root, info.endpoint);
  const plugin: Plugin = { type, name, endpoint, versions };
  const problem = handler.problem(plugin);
  if (problem !== undefined) return await refuse(`plugin validation failed with err: ${problem}`);
  try {
    await handler.register(plugin, signal);
  } catch (error) {
    return await refuse(`plugin registration failed with err: ${messageOf(error)}`);
  }
  try {
    await tell('');
  } catch (error) {
    await handler.deregister(plugin);
    return failed(`failed to send registration status at socket ${socket}`)(error);
  }
  return { plugin, handler };
}

const failed =
  (what: string) =>
  (cause: unknown): never => {
    throw retryError('PluginUnreachable', `RegisterPlugin error -- ${what}, err: ${messageOf(cause)}`, { cause });
  };
