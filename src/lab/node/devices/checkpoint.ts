import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { terminalError } from '../../../base/errors.ts';
import { codecOf } from '../../../rpc/codec.ts';
import { ContainerAllocateResponse } from '../../../rpc/kubelet/device-plugin.ts';
import { whenMissing } from '../volumes/missing-file.ts';
import type { Allocation } from './allocations.ts';

/** What a node remembers of its devices when it is started again (D11). */
export interface Checkpoint {
  readonly allocations: readonly Allocation[];
  /** Healthy devices of the plugins that were there, by resource. */
  readonly registered: Readonly<Record<string, readonly string[]>>;
}

const NO_NUMA_NODE = '-1';

/** Upstream's names and places, so that tools which read the file find what they know. */
const FILE = z.object({
  Data: z.object({
    PodDeviceEntries: z
      .array(
        z.object({
          PodUID: z.string(),
          ContainerName: z.string(),
          ResourceName: z.string(),
          DeviceIDs: z.record(z.string().regex(/^-?\d{1,18}$/), z.array(z.string())),
          AllocResp: z.string(),
        }),
      )
      .nullable(),
    RegisteredDevices: z.record(z.string(), z.array(z.string())),
  }),
  Checksum: z.number(),
});
type File = z.infer<typeof FILE>;
type Entry = NonNullable<File['Data']['PodDeviceEntries']>[number];

const codec = () => codecOf(ContainerAllocateResponse);

/** Pure: the text of the file. */
export function checkpointText({ allocations, registered }: Checkpoint): string {
  const RegisteredDevices = Object.fromEntries(
    Object.entries(registered).map(([resource, devices]) => [resource, [...devices]]),
  );
  const data: File['Data'] = { PodDeviceEntries: allocations.map(entryOf), RegisteredDevices };
  return JSON.stringify({ Data: data, Checksum: sum(data) } satisfies File);
}

/** Pure: what the file says. Throws a terminal error when it is damaged. */
export function parseCheckpoint(text: string): Checkpoint {
  const { data: file, error } = FILE.safeParse(jsonOf(text));
  if (file === undefined) throw damaged(z.prettifyError(error));
  if (file.Checksum !== sum(file.Data)) throw damaged('its checksum is another one');
  const entries = file.Data.PodDeviceEntries ?? [];
  return { allocations: entries.map(allocationOf), registered: file.Data.RegisteredDevices };
}

/** Ours: upstream sums up a dump of Go structures, which cannot be made here. */
const sum = (data: File['Data']): number => crc32(JSON.stringify(data));

const damaged = (why: string) =>
  terminalError('DamagedCheckpoint', `the checkpoint of devices is damaged: ${why}`);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw damaged('it is no JSON');
  }
}

function entryOf({ uid, container, resource, devices, numaNodes, response }: Allocation): Entry {
  const byNode = new Map<string, string[]>();
  for (const device of devices) {
    const nodes = numaNodes.get(device) ?? [];
    for (const node of nodes.length > 0 ? nodes.map(String) : [NO_NUMA_NODE]) {
      byNode.set(node, [...(byNode.get(node) ?? []), device]);
    }
  }
  return {
    PodUID: uid,
    ContainerName: container,
    ResourceName: resource,
    DeviceIDs: Object.fromEntries(byNode),
    AllocResp: Buffer.from(codec().encode(response)).toString('base64'),
  };
}

function allocationOf({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: Entry): Allocation {
  const numaNodes = new Map<string, bigint[]>();
  for (const [node, devices] of Object.entries(DeviceIDs)) {
    const nodes = node === NO_NUMA_NODE ? [] : [BigInt(node)];
    for (const device of devices) numaNodes.set(device, [...(numaNodes.get(device) ?? []), ...nodes]);
  }
  return {
    uid: PodUID,
    container: ContainerName,
    resource: ResourceName,
    devices: [...numaNodes.keys()],
    numaNodes,
    response: codec().decode(Buffer.from(AllocResp, 'base64')),
  };
}

/** Undefined when there is none. Rejects with a terminal error when it is damaged. */
export async function readCheckpoint(path: string): Promise<Checkpoint | undefined> {
  const text = await readFile(path, 'utf8').catch(whenMissing);
  return text === undefined ? undefined : parseCheckpoint(text);
}

/** The old one or the new one is there, whatever happens meanwhile. Not to be called twice at once. */
export async function writeCheckpoint(path: string, checkpoint: Checkpoint): Promise<void> {
  const fresh = join(dirname(path), '.kubelet_internal_checkpoint.new');
  {
    await using file = await open(fresh, 'w', 0o600);
    await file.writeFile(checkpointText(checkpoint));
    await file.sync();
  }
  await rename(fresh, path);
}
