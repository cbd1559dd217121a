import type { Finding, Place } from './find.ts';
import type { Oracle } from './registry.ts';

export interface Row {
  readonly oracle: Oracle;
  readonly finding: Finding;
}

const PLACE_NAMES: Readonly<Record<Place, string>> = {
  TEST_ASSET: 'TEST_ASSET variable',
  KUBEBUILDER_ASSETS: 'KUBEBUILDER_ASSETS',
  cache: 'cache',
  kubebuilder: 'kubebuilder directory',
  PATH: 'PATH',
};

/** The list as people read it: name, version, state, where; then a line for everything that cannot be used, with why. */
export function listing(rows: readonly Row[]): string {
  const cells = rows.map(({ oracle, finding }) => [
    oracle.name,
    versionText(finding),
    finding.state,
    whereText(finding),
  ]);
  const table = [['NAME', 'VERSION', 'STATE', 'WHERE'], ...cells];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [...table.map(line), ...rows.flatMap(remark), ''].join('\n');
}

const versionText = (finding: Finding): string =>
  finding.state === 'missing' ? '-' : (finding.version ?? 'unknown');

const whereText = (finding: Finding): string =>
  finding.state === 'missing' ? '-' : `${finding.path} (${PLACE_NAMES[finding.place]})`;

function remark({ oracle, finding }: Row): string[] {
  switch (finding.state) {
    case 'supported':
      return [];
    case 'unsupported':
      return [`${oracle.name} is unsupported: ${finding.reason}`];
    case 'missing':
      return [`${oracle.name} is missing: looked in ${finding.lookedIn.join(', ')}`];
  }
}
