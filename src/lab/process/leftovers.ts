import { existsSync } from 'node:fs';
import { marks } from './child-environment.ts';
import { LinuxProcessTable } from './linux-process-table.ts';
import { membersOf, type ProcessTable } from './process-table.ts';
import { PsProcessTable } from './ps-process-table.ts';

/** The table of this machine. */
export const openProcessTable = async (): Promise<ProcessTable> =>
  process.platform === 'linux' ? new LinuxProcessTable() : PsProcessTable.open();

export interface LeftoverOptions {
  /** Of the lab. */
  readonly identity: string;
  /** Must be gone. */
  readonly directory?: string;
  readonly table?: ProcessTable;
}

/** What is left of a lab that should be gone: processes and its directory, each as one sentence (P16). */
export async function leftovers({ identity, directory, table }: LeftoverOptions): Promise<readonly string[]> {
  const found = await membersOf(table ?? (await openProcessTable()), { variables: marks({ identity }) });
  const isDirectoryLeft = directory !== undefined && existsSync(directory);
  return [
    ...found.map(({ pid }) => `process ${pid} of the lab still runs`),
    ...(isDirectoryLeft ? [`directory ${directory} still exists`] : []),
  ];
}
