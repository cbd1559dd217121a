import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Kubeconfig } from '../../pki/kubeconfig.ts';
import { ensureFolder } from '../folder.ts';

/** Readable by its owner only, because it holds a key; never half written. */
export async function writeKubeconfig(file: string, config: Kubeconfig): Promise<void> {
  // Loaded when the server is already up: a cold start does not wait for it.
  const { printYaml } = await import('../../object/yaml.ts');
  ensureFolder(dirname(file), 0o700);
  const temporary = `${file}.new`;
  writeFileSync(temporary, printYaml(config), { mode: 0o600 });
  renameSync(temporary, file);
}
