import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Kind, KubeObject } from '../api/object.ts';
import { applyYamlText } from '../kube/apply/apply-yaml.ts';
import type { Json } from '../object/json.ts';
import { printYaml } from '../object/yaml.ts';
import type { TestEnv } from './test-env.ts';
import { maskedObjects } from './world.ts';

/** Applies every document of a YAML text as the administrator, in order; rejects at the first that is refused (T5). */
export const applyYaml = ({ client, clock }: TestEnv, text: string): Promise<void> =>
  applyYamlText(client, clock, text);

/** The objects of these kinds in order of kind and name, without what differs from run to run, as YAML (T5). */
export async function dumpYaml(env: TestEnv, kinds: readonly Kind[]): Promise<string> {
  const found: KubeObject[] = [];
  for (const kind of kinds) {
    for await (const object of env.client.live.listAll(kind)) {
      if (object.metadata.name !== 'kube-root-ca.crt') found.push(object);
    }
  }
  return maskedObjects(found as unknown as readonly Json[])
    .map((object) => printYaml(object))
    .join('---\n');
}

/** Compares text with a file, or writes the file. The first line that differs is named. */
export async function expectGolden(path: string, text: string, { isUpdate = false } = {}): Promise<void> {
  if (isUpdate) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return;
  }
  const [got, want] = [text.split('\n'), (await goldenText(path)).split('\n')];
  const lines = Array.from({ length: Math.max(got.length, want.length) }, (_, at) => at);
  const at = lines.find((line) => got[line] !== want[line]);
  if (at === undefined) return;
  const said = (line: string | undefined) => (line === undefined ? 'the end' : `"${line}"`);
  throw new Error(`${path}:${at + 1} says ${said(want[at])}, but there is ${said(got[at])}`);
}

async function goldenText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing) throw error;
    throw new Error(`${path} is not there; expectGolden with { isUpdate: true } writes it`, { cause: error });
  }
}
