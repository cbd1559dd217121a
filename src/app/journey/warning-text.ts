import { isRecord } from '../../object/record.ts';

const MACHINERY = new Set(['level', 'time', 'message', 'problem', 'err', 'reason']);

/** A line of a log as people read it: the sentence, the problem, and what it is about in brackets. */
export function warningText(line: string): string {
  const entry = parsed(line);
  if (entry === undefined) return line.trimEnd();
  const { message, problem, err } = entry;
  const thrown = isRecord(err) ? err['message'] : err;
  const sentence = [message, problem ?? thrown]
    .filter((text) => typeof text === 'string' && text !== '')
    .join(': ');
  const about = Object.entries(entry)
    .filter(([name, value]) => !MACHINERY.has(name) && ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name} ${String(value)}`);
  return about.length === 0 ? sentence : `${sentence} (${about.join(', ')})`;
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value['message'] === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
