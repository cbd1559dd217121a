import type { Health } from '../../api/journey.ts';
import { printable } from '../journey/plain-text.ts';
import type { ClusterPicture, PictureRow } from './picture.ts';

const COLOURS: Readonly<Record<Health, string>> = {
  done: 'fill:#e6f4ea,stroke:#1e7e34',
  working: 'fill:#e0f3f8,stroke:#006d83',
  waiting: 'fill:#f5f5f5,stroke:#707070,stroke-dasharray:4',
  attention: 'fill:#fff4e0,stroke:#b06000',
  failed: 'fill:#fde7e9,stroke:#b3001b',
  skipped: 'fill:#f5f5f5,stroke:#a0a0a0',
};

/** The picture as a flowchart in the language of Mermaid. The state is written in each box: colours only repeat it. */
export function mermaidText({ report, root }: ClusterPicture): string {
  const lines: string[] = [];
  const add = (row: PictureRow, parent: string | undefined): void => {
    const id = `n${lines.length}`;
    const parts = [row.label, row.word, row.why ?? ''].filter((text) => text !== '').map(escaped);
    const edge = parent === undefined ? '' : `${parent} --> `;
    lines.push(`  ${edge}${id}["${parts.join('<br/>')}"]:::${row.health}`);
    for (const child of row.children) add(child, id);
  };
  add(root, undefined);
  return [
    '---',
    `title: ${JSON.stringify(`${report.namespace}/${report.name}, problems: ${report.problems}, ${report.at}`)}`,
    '---',
    'flowchart LR',
    ...lines,
    ...Object.entries(COLOURS).map(([health, style]) => `  classDef ${health} ${style}`),
  ].join('\n');
}

/** Text from clusters is only ever text: quotes and markup get the codes that Mermaid has for them. */
const escaped = (text: string): string =>
  printable(text).replace(/[#"<>&`\\[\]{}|]/g, (character) => `#${character.charCodeAt(0)};`);
