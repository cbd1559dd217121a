import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it, with these rights less the umask. Not `mkdirSync` with `recursive`: below a place where nothing can be made, such as
 * /proc, that one tries for ever (Node 24.21). Throws the system's error.
 */
export function ensureFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let folder = resolve(path); !exists(folder); folder = dirname(folder)) missing.push(folder);
  for (const folder of missing.reverse()) makeFolder(folder, mode);
}

function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Somebody else made it meanwhile.
    if (!exists(folder)) throw error;
  }
}

const exists = (folder: string): boolean => statSync(folder, { throwIfNoEntry: false }) !== undefined;
