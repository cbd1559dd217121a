import type { PemPart } from './certificate-files.ts';
import { unreadableText } from './file-text.ts';
import type { Fields } from './kubeconfig-fields.ts';
import type { Surroundings } from './surroundings.ts';

/** PEM text that stands in the file or in a file beside it. */
export interface PemField {
  /** The key it came from, for problems. */
  readonly key: string;
  readonly text: string;
  readonly part: PemPart;
}

/** Reads `<key>-data` or the file named by `<key>`; both together are a problem, because one would silently lose. */
export async function pemField(fields: Fields, key: string, around: Surroundings): Promise<PemField | undefined> {
  const dataKey = `${key}-data`;
  const path = fields.text(key);
  const isBoth = path !== undefined && fields.text(dataKey) !== undefined;
  if (isBoth) fields.problem(dataKey, `${key} is there too; keep one of them`);
  const text = fields.base64Text(dataKey);
  if (text !== undefined) return { key: dataKey, text, part: { text } };
  if (path === undefined || isBoth) return undefined;
  const file = fields.file.resolvePath(path);
  try {
    return { key, text: await around.readFile(file), part: { path: file } };
  } catch (error) {
    fields.problem(
      key,
      `the file ${file} cannot be read: ${unreadableText(error)}; put it there or write its content as ${dataKey}`,
    );
    return undefined;
  }
}

/** Whether either of the two keys is set, right or wrong. */
export const hasPemField = (fields: Fields, key: string): boolean =>
  fields.text(key) !== undefined || fields.text(`${key}-data`) !== undefined;
