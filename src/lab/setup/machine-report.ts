import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { startAddressPlan } from '../address/start-address-plan.ts';
import { chooseIsolation } from '../process/isolation.ts';

/** What a lab would find on this machine. */
export interface MachineReport {
  /** Which network mode would be on and why; or why there would be none. */
  readonly network: { readonly isUsable: boolean; readonly text: string };
  /** Where ports below 1024 are found: that number further up, 0 for where they are. */
  readonly lowPortOffset: number;
  /** How containers would see their volumes, and why. */
  readonly isolation: { readonly isExact: boolean; readonly text: string };
}

/** Tries what a lab tries when it starts (X10, P10), and leaves nothing. */
export async function inspectMachine(): Promise<MachineReport> {
  const directory = await mkdtemp(join(tmpdir(), 'sw-'));
  try {
    const [network, chosen] = await Promise.all([networkOf(directory), isolationOf(directory)]);
    return { ...network, isolation: chosen };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function networkOf(directory: string): Promise<Pick<MachineReport, 'network' | 'lowPortOffset'>> {
  try {
    await using plan = await startAddressPlan({ directory });
    return { network: { isUsable: true, text: plan.summary }, lowPortOffset: plan.lowPortOffset };
  } catch (error) {
    return { network: { isUsable: false, text: messageOf(error) }, lowPortOffset: 0 };
  }
}

async function isolationOf(directory: string): Promise<MachineReport['isolation']> {
  const { isolation, text } = await chooseIsolation({
    isolation: 'auto',
    directory,
    keep: [directory, process.execPath],
    clock: new SystemClock(),
  });
  return { isExact: isolation === 'namespace', text };
}
