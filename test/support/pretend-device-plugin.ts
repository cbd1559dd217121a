import { mkdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SystemClock } from '../../src/base/clock.ts';
import { dialRpc } from '../../src/rpc/dial-rpc.ts';
import { DevicePlugin, DeviceRegistration } from '../../src/rpc/kubelet/device-plugin.ts';
import type { Handlers } from '../../src/rpc/rpc-service.ts';
import { served, serveRpc } from '../../src/rpc/serve-rpc.ts';

/** `a` is healthy, `a!` is not, `a@1` is near to NUMA node 1. */
export type DeviceText = string;

export interface PretendPluginOptions {
  readonly resource?: string;
  /** Base name of its socket. */
  readonly name?: string;
  readonly devices: readonly DeviceText[];
  readonly preStart?: boolean;
  /** What `GetPreferredAllocation` answers with; it is not offered without. */
  readonly preferred?: (
    available: readonly string[],
    mustInclude: readonly string[],
    size: number,
  ) => readonly string[];
  readonly handlers?: Handlers<typeof DevicePlugin>;
}

const clock = new SystemClock();

function deviceOf(text: DeviceText) {
  const [, ID = '', sick, node] = /^([^!@]+)(!)?(?:@(-?\d+))?$/.exec(text) ?? [];
  return {
    ID,
    health: sick === undefined ? 'Healthy' : 'Unhealthy',
    ...(node !== undefined && { topology: { nodes: [{ ID: BigInt(node) }] } }),
  };
}

/** A device plugin on a real socket of a node; registers when it is told to. */
export async function pretendDevicePlugin(root: string, options: PretendPluginOptions) {
  const { resource = 'acme.example/npu', name = 'npu.sock', preStart = false, preferred } = options;
  const socket = join(root, 'var/lib/kubelet/device-plugins', name);
  await mkdir(dirname(socket), { recursive: true });
  const calls: string[] = [];
  let devices = options.devices;
  let changed = Promise.withResolvers<void>();
  const handlers: Handlers<typeof DevicePlugin> = {
    getDevicePluginOptions: () => ({
      preStartRequired: preStart,
      getPreferredAllocationAvailable: preferred !== undefined,
    }),
    listAndWatch: async function* (_request, { signal }) {
      const gone = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      );
      while (!signal.aborted) {
        const next = changed.promise;
        yield { devices: devices.map(deviceOf) };
        await Promise.race([next, gone]);
      }
    },
    getPreferredAllocation: ({ containerRequests: [request] }) => {
      const { availableDeviceIDs = [], mustIncludeDeviceIDs = [], allocationSize = 0 } = request ?? {};
      calls.push(`prefer ${availableDeviceIDs.join()} with ${mustIncludeDeviceIDs.join()} of ${allocationSize}`);
      const deviceIDs = preferred?.(availableDeviceIDs, mustIncludeDeviceIDs, allocationSize) ?? [];
      return { containerResponses: [{ deviceIDs }] };
    },
    allocate: ({ containerRequests }) => {
      calls.push(`allocate ${containerRequests.map(({ devicesIds }) => devicesIds.join()).join(';')}`);
      return {
        containerResponses: containerRequests.map(({ devicesIds }) => ({ envs: { NPUS: devicesIds.join() } })),
      };
    },
    preStartContainer: ({ devicesIds }) => {
      calls.push(`prestart ${devicesIds.join()}`);
      return {};
    },
    ...options.handlers,
  };
  const server = await serveRpc({
    address: { socket },
    services: [served(DevicePlugin, handlers)],
    clock,
    graceMs: 50,
  });
  return {
    socket,
    calls,
    register: () => registerDevices(root, { resource, endpoint: basename(socket) }),
    report: (now: readonly DeviceText[]) => {
      devices = now;
      const before = changed;
      changed = Promise.withResolvers();
      before.resolve();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export interface Announcement {
  readonly resource: string;
  readonly endpoint: string;
  readonly version?: string;
}

/** What a plugin says to the kubelet of a node. */
export async function registerDevices(root: string, { resource, endpoint, version = 'v1beta1' }: Announcement) {
  const socket = join(root, 'var/lib/kubelet/device-plugins/kubelet.sock');
  using connection = dialRpc({ address: { socket }, clock });
  await connection
    .client(DeviceRegistration)
    .register({ version, endpoint, resourceName: resource }, { timeoutMs: 20_000 });
}
