import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';

/** A file that a machine has when it starts. */
export interface MachineFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

/** What user data makes of a machine before anything runs on it. */
export interface Ignition {
  readonly files: readonly MachineFile[];
  /** What systemd units say, by name. */
  readonly units: ReadonlyMap<string, string>;
}

const FILE_MODE = 0o644;
/** A file of more would be no configuration. */
const MOST_BYTES = 1 << 20;

const fileSchema = z.object({
  path: z.string().regex(/^\/(?!.*(^|\/)\.\.(\/|$))/, 'must be an absolute path without ..'),
  mode: z.int().min(0).max(0o7777).nullish(),
  contents: z.object({ source: z.string().nullish(), compression: z.enum(['', 'gzip']).nullish() }).nullish(),
});

/** A machine of the lab has no network before it is a node. */
const nothing = z.array(z.never()).max(0, 'a config that is fetched is not supported: put everything into one');

const configSchema = z.object({
  ignition: z.object({
    version: z.string().regex(/^3\.\d+\.\d+/, 'must be a version 3'),
    config: z.object({ merge: nothing.optional(), replace: nothing.optional() }).optional(),
  }),
  storage: z.object({ files: z.array(fileSchema).optional() }).optional(),
  systemd: z
    .object({ units: z.array(z.object({ name: z.string(), contents: z.string().nullish() })).optional() })
    .optional(),
});

/** Reads an Ignition config of specification 3. Throws with one sentence that names what is wrong and where. */
export function parseIgnition(text: string): Ignition {
  const result = configSchema.safeParse(jsonOf(text));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new Error(`user data: ${issue?.path.join('.') || 'the config'}: ${issue?.message ?? 'is wrong'}`);
  }
  const { storage, systemd } = result.data;
  const files = (storage?.files ?? []).map(({ path, mode, contents }): MachineFile => {
    const { source, compression } = contents ?? {};
    return {
      path,
      mode: mode ?? FILE_MODE,
      content: fileContent(path, source ?? 'data:,', compression === 'gzip'),
    };
  });
  const units = (systemd?.units ?? []).map(({ name, contents }) => [name, contents ?? ''] as const);
  return { files, units: new Map(units) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`user data is no Ignition config: ${messageOf(error)}`, { cause: error });
  }
}

const DATA_URL = /^data:[^,]*?(;base64)?,(.*)$/s;

function fileContent(path: string, source: string, isPacked: boolean): Buffer {
  const [, base64, data] = DATA_URL.exec(source) ?? [];
  if (data === undefined)
    throw new Error(`user data: file ${path}: ${scheme(source)} is not supported as a source: use a data: URL`);
  try {
    const plain = decodeURIComponent(data);
    const content = Buffer.from(plain, base64 === undefined ? 'utf8' : 'base64');
    return isPacked ? gunzipSync(content, { maxOutputLength: MOST_BYTES }) : content;
  } catch (error) {
    throw new Error(`user data: file ${path}: its content cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

const scheme = (source: string): string => JSON.stringify(source.split(':')[0] ?? '');
