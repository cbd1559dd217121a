import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { arch, platform, release } from 'node:os';
import type { SystemFacts } from './node-facts.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** Go's name for each of Node's that differs. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' };
const SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows' };

/**
 * This machine as a node (N3): real kernel, architecture and boot. Nodes of one lab are machines of their own, so each
 * has identifiers made from `seed`, the same ones at every start.
 */
export async function hostSystem(seed: string): Promise<SystemFacts> {
  const digest = createHash('sha256').update(seed).digest('hex');
  return {
    architecture: ARCHITECTURES[arch()] ?? arch(),
    operatingSystem: SYSTEMS[platform()] ?? platform(),
    kernelVersion: release(),
    bootID: await bootId(),
    machineID: digest.slice(0, 32),
    systemUUID: digest.slice(32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  };
}

/** Empty where the system does not tell, as on macOS. */
const bootId = async (): Promise<string> => (await readFile(BOOT_ID, 'utf8').catch(() => '')).trim();
