import { isRecord } from '../../object/record.ts';

const OWN = new Set(['time', 'level', 'message', 'err']);

/**
 * A line of the log for people: time, level, message, then the rest as `key=value`, and below an error the way to it.
 * Anything else stays as it is.
 */
export function logText(line: string): string {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (!isRecord(entry)) return line;
  const { time, level, message, err } = entry;
  const fields = Object.entries(entry).filter(([key]) => !OWN.has(key));
  const pairs = fields.map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const reason =
    isRecord(err) && typeof err['message'] === 'string' ? [`error=${JSON.stringify(err['message'])}`] : [];
  const shown = String(level).toUpperCase().padEnd(5);
  return `${[String(time), shown, String(message), ...pairs, ...reason].join(' ')}\n${level === 'error' ? wayTo(err) : ''}`;
}

/** The frames of a stack: whoever reads of a bug wants to know where it is. An error with a reason is none. */
function wayTo(err: unknown): string {
  if (!isRecord(err) || typeof err['reason'] === 'string') return '';
  const stack = typeof err['stack'] === 'string' ? err['stack'] : '';
  const frames = stack.split('\n').filter((line) => line.trimStart().startsWith('at '));
  return frames.map((frame) => `  ${frame.trim()}\n`).join('');
}
