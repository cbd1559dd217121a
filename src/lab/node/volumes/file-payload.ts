import { posix } from 'node:path';
import { byteLength } from '../../../object/names.ts';
import { VolumeProblem } from './pod-volumes.ts';

export interface PayloadFile {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** The files of one volume, by their clean path below it. */
export type FilePayload = ReadonlyMap<string, PayloadFile>;

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

/**
 * A path as a volume keeps it: relative, without doubled slashes. Throws a VolumeProblem for one that could leave the
 * volume, and for names that begin with two dots: those belong to the writer.
 */
export function payloadPath(path: string): string {
  const problem = pathProblem(path);
  if (problem !== undefined) throw new VolumeProblem('FailedMount', `invalid path: ${problem}: ${path}`);
  return posix.normalize(path);
}

function pathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (path.startsWith('/')) return 'must be relative path';
  if (byteLength(path) > LONGEST_PATH) return `must be less than or equal to ${LONGEST_PATH} characters`;
  const names = path.split('/');
  if (names.includes('..')) return "must not contain '..'";
  if (names.some((name) => byteLength(name) > LONGEST_NAME)) {
    return `filenames must be less than or equal to ${LONGEST_NAME} characters`;
  }
  return names[0]?.startsWith('..') === true ? "must not start with '..'" : undefined;
}
