/** A fenced block; `info` is everything after the fence, `language` its first word. */
export interface FencedBlock {
  readonly info: string;
  readonly language: string;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

export interface Link {
  readonly target: string;
  readonly line: number;
}

/** The fenced blocks of a page, in order. A block that is never closed reaches to the end. */
export function fencedBlocks(markdown: string): readonly FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { readonly fence: string; readonly info: string; readonly line: number } | undefined;
  let body: string[] = [];
  const close = () => {
    if (open !== undefined) blocks.push(blockOf(open.info, body, open.line));
    open = undefined;
    body = [];
  };
  for (const [at, line] of markdown.split('\n').entries()) {
    const fence = /^ {0,3}(`{3,})(.*)$/.exec(line);
    if (open === undefined && fence !== null)
      open = { fence: fence[1] ?? '', info: (fence[2] ?? '').trim(), line: at + 1 };
    else if (open !== undefined && line.trim() === open.fence) close();
    else if (open !== undefined) body.push(line);
  }
  close();
  return blocks;
}

const blockOf = (info: string, body: readonly string[], line: number): FencedBlock => ({
  info,
  language: info.split(/\s+/)[0] ?? '',
  text: body.map((text) => `${text}\n`).join(''),
  line,
});

/** The page without fenced blocks, comments and code spans; lines keep their numbers. */
export function proseOf(markdown: string): string {
  return withoutFences(markdown)
    .replace(/<!--[\s\S]*?-->/g, onlyLineBreaks)
    .replace(/(?<!`)(`+)(?!`)(?:(?!\n\n)[\s\S])*?(?<!`)\1(?!`)/g, onlyLineBreaks);
}

function withoutFences(markdown: string): string {
  const lines = markdown.split('\n');
  for (const { text, line } of fencedBlocks(markdown)) {
    const height = text.split('\n').length + 1;
    lines.fill('', line - 1, line - 1 + height);
  }
  return lines.join('\n');
}

const onlyLineBreaks = (text: string): string => text.replace(/[^\n]/g, ' ');

/** Targets of inline links and pictures. */
export const linksOf = (markdown: string): readonly Link[] =>
  [...withoutFences(markdown).matchAll(/\]\(([^()\s]+)\)/g)].map((match) => ({
    target: match[1] ?? '',
    line: lineAt(markdown, match.index),
  }));

/** The names under which other pages can link to a heading, made as GitHub makes them. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, title = ''] of withoutFences(markdown).matchAll(/^#{1,6} +(.+?) *$/gm)) {
    const plain = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    let anchor = slug;
    for (let copy = 1; anchors.has(anchor); copy++) anchor = `${slug}-${copy}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The line, from 1, of a position in a text. */
export const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length;

/** Text that cannot break out of its table cell. */
export const cell = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|');

/** Text quoted as code, with a fence longer than any it holds. */
export function codeSpan(text: string): string {
  if (!text.includes('`')) return `\`${text}\``;
  const longest = Math.max(...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence} ${text} ${fence}`;
}

/** A table; the cells are escaped here and nowhere else. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}
