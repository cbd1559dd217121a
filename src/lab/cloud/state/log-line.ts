import { crc32 } from 'node:zlib';
import { isJsonObject, type JsonObject } from '../../../object/json.ts';

/** One transaction: what each table gets and loses. */
export interface Changeset {
  readonly put: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly del: Readonly<Record<string, readonly string[]>>;
}

/** What a log holds, and how much of it can be trusted. */
export interface ScannedLog {
  readonly format: number | undefined;
  readonly changesets: readonly Changeset[];
  /** Up to here everything is whole; what follows was never acknowledged and can be cut. */
  readonly goodBytes: number;
  /** A line before the end that is not what was written: nothing can be cut there. */
  readonly damage?: { readonly line: number; readonly offset: number };
}

export const LOG_FORMAT = 1;

const PREFIX = '{"crc":"';
const MIDDLE = '","tx":';
const CRC_LENGTH = 8;
const START = PREFIX.length + CRC_LENGTH + MIDDLE.length;
const NEWLINE = 0x0a;

/** Every line is JSON by itself, so that people can look at it with their tools. */
const line = (transaction: object): string => {
  const text = JSON.stringify(transaction);
  return `${PREFIX}${checksum(text)}${MIDDLE}${text}}\n`;
};

export const headerLine = (): string => line({ format: LOG_FORMAT });

export const changesetLine = ({ put, del }: Changeset): string =>
  line({
    ...(Object.keys(put).length > 0 && { put }),
    ...(Object.keys(del).length > 0 && { del }),
  });

const checksum = (text: string): string => crc32(text).toString(16).padStart(CRC_LENGTH, '0');

/** Reads a log. A bad line is a torn tail only when no good one follows it (reliability P4). */
export function scanLog(bytes: Buffer): ScannedLog {
  const changesets: Changeset[] = [];
  let format: number | undefined;
  let goodBytes = 0;
  let bad: { readonly line: number; readonly offset: number } | undefined;
  let number = 0;
  for (let offset = 0; offset < bytes.length; number++) {
    const end = bytes.indexOf(NEWLINE, offset);
    const transaction = end < 0 ? undefined : transactionOf(bytes.toString('utf8', offset, end));
    const next = end < 0 ? bytes.length : end + 1;
    if (transaction === undefined) bad ??= { line: number + 1, offset };
    else if (bad !== undefined) return { format, changesets, goodBytes, damage: bad };
    else {
      goodBytes = next;
      if (number === 0) format = typeof transaction['format'] === 'number' ? transaction['format'] : undefined;
      else changesets.push(changesetOf(transaction));
    }
    offset = next;
  }
  return { format, changesets, goodBytes };
}

function transactionOf(text: string): JsonObject | undefined {
  const isFramed = text.startsWith(PREFIX) && text.startsWith(MIDDLE, START - MIDDLE.length) && text.endsWith('}');
  if (!isFramed) return undefined;
  const body = text.slice(START, -1);
  if (checksum(body) !== text.slice(PREFIX.length, PREFIX.length + CRC_LENGTH)) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The checksum says that we wrote it, so it has the form that we write. */
const changesetOf = ({ put = {}, del = {} }: JsonObject): Changeset => ({ put, del }) as Changeset;
