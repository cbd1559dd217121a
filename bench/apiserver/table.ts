export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly upstream: number;
  readonly ours: number;
  readonly ratio: number;
  readonly target: string;
  readonly isMet: boolean;
  /** p50 / p99 in ms: upstream, ours. */
  readonly delays: readonly [string, string];
}

const HEADER = ['what', 'upstream', 'slipway', 'ratio', 'target', '', 'p50/p99 ms upstream', 'slipway'];

export const table = (rows: readonly Row[]): string => columns([HEADER, ...rows.map(cellsOf)]);

/** Columns as wide as their longest cell. */
export function columns(cells: readonly (readonly string[])[]): string {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const cellsOf = ({ name, unit, upstream, ours, ratio, target, isMet, delays }: Row): readonly string[] => [
  name,
  `${figure(upstream)} ${unit}`,
  `${figure(ours)} ${unit}`,
  ratio.toFixed(ratio < 0.1 ? 3 : 2),
  target,
  isMet ? 'met' : 'MISSED',
  ...delays,
];

const figure = (value: number): string =>
  value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
