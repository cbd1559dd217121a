import type { History, Violation } from './history.ts';

const SHOWN = 5;

/** One line of figures, as every programme of the torture suite prints (C0.2). */
export function summaryOf(history: History, violations: readonly Violation[]): string {
  const events = history.watches.reduce((sum, { frames }) => sum + frames.length, 0);
  const changes = [...history.truth.values()].reduce((sum, frames) => sum + frames.length, 0);
  const figures = {
    operations: history.operations.length,
    changes,
    watches: history.watches.length,
    events,
    compactions: history.compactions.length,
    violations: violations.length,
  };
  const lines = violations.slice(0, SHOWN).map(({ rule, message }) => `${rule}: ${message}`);
  return [JSON.stringify(figures), ...lines].join('\n');
}
