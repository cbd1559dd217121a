import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import type { ObjectKey } from '../../../api/object.ts';
import { messageOf, terminalError } from '../../../base/errors.ts';
import { whenMissing } from '../../node/volumes/missing-file.ts';
import type { WorkloadNode, WorkloadWish } from './workload-clusters.ts';

const node = z.object({
  index: z.int().min(1).max(253).optional(),
  name: z.string(),
  role: z.enum(['control-plane', 'worker']),
  labels: z.record(z.string(), z.string()),
  providerId: z.string().optional(),
  hostId: z.string(),
  architecture: z.string(),
});

const wish = z.object({
  version: z.string(),
  releaseImage: z.string().optional(),
  platform: z.enum(['None', 'BareMetal', 'External']),
  platformName: z.string().optional(),
  hasExternalCloudProvider: z.boolean(),
  isSingleNode: z.boolean().optional(),
  baseDomain: z.string(),
  clusterName: z.string(),
  infraId: z.string(),
});

const record = z.object({
  key: z.object({ namespace: z.string().optional(), name: z.string() }),
  name: z.string(),
  index: z.int().min(1).max(31),
  wish,
  nodes: z.array(node),
});
const records = z.object({ clusters: z.array(record) });

/** One node of an installed cluster, as it is found again at the next start. */
export interface NodeRecord extends WorkloadNode {
  /** 1–253: the last part of its address; none of a machine with an address of its own. */
  readonly index?: number;
}

/** One installed cluster, alike. */
export interface ClusterRecord {
  readonly key: ObjectKey;
  /** In the lab. */
  readonly name: string;
  /** 1–31: the second part of its addresses. */
  readonly index: number;
  readonly wish: WorkloadWish;
  readonly nodes: readonly NodeRecord[];
}

/** What a lab remembers of the clusters that were installed in it. Rejects when its file is broken. */
export async function readRecords(file: string): Promise<readonly ClusterRecord[]> {
  const text = await readFile(file, 'utf8').catch(whenMissing);
  if (text === undefined) return [];
  try {
    // What is absent in JSON is absent, never undefined.
    return records.parse(JSON.parse(text)).clusters as readonly ClusterRecord[];
  } catch (error) {
    throw terminalError(
      'BrokenLabData',
      `${file} is not what the lab wrote: ${messageOf(error)}. Restore it, or choose another --data`,
      { cause: error },
    );
  }
}

/** All or nothing. */
export async function writeRecords(file: string, clusters: readonly ClusterRecord[]): Promise<void> {
  await writeFile(`${file}.next`, `${JSON.stringify({ clusters }, undefined, 2)}\n`);
  await rename(`${file}.next`, file);
}
